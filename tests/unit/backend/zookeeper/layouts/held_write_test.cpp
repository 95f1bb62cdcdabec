// A write under a lease: one transaction, which checks the node of the holder first.
#include "backend/zookeeper/layouts/held_write.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using zookeeper::error;

struct version_of_write final : zookeeper::version_handler {
  void on_result(std::int32_t v) override { version = v; }
  void on_failed(base::failure f) override { why = std::move(f); }

  std::optional<std::int32_t> version;
  base::failure why;
};

class zookeeper_held_write : public testing::Test {
 protected:
  std::string write(version_of_write& to, std::string_view value = "v") {
    auto* const nodes = t.layout().find<zookeeper::held_nodes>();
    EXPECT_TRUE(nodes);
    if (nodes) nodes->write({"job", "_c_a-lock-0000000001", "/r", value, 3}, to);
    return t.requests();
  }
  // The check and the write have these codes.
  base::failure refused_with(error check, error set) {
    version_of_write to;
    EXPECT_EQ(write(to), "multi");
    std::string body;
    zookeeper::jute_writer w(body);
    for (const error code : {check, set}) {
      const auto number = static_cast<std::int32_t>(code);
      w.write_int(-1).write_bool(false).write_int(number).write_int(number);
    }
    w.write_int(-1).write_bool(true).write_int(-1);
    t.answer(9, body);
    EXPECT_FALSE(to.version);
    return to.why;
  }

  layout_fixture t;
};

TEST_F(zookeeper_held_write, returns_the_new_version_of_the_node) {
  version_of_write to;
  EXPECT_EQ(write(to), "multi");
  EXPECT_LT(t.last_request.find("/job/_c_a-lock-0000000001"), t.last_request.find("/r"));
  std::string body;
  zookeeper::jute_writer(body).write_int(13).write_bool(false).write_int(0);
  zookeeper::jute_writer(body).write_int(5).write_bool(false).write_int(0);
  body += stat_bytes({.version = 4});
  zookeeper::jute_writer(body).write_int(-1).write_bool(true).write_int(-1);
  t.answer(9, body);
  EXPECT_EQ(to.version, 4);
}

TEST_F(zookeeper_held_write, of_a_holder_without_its_node_is_lost) {
  EXPECT_EQ(refused_with(error::no_node, error::runtime_inconsistency).code, errc::lost);
}

TEST_F(zookeeper_held_write, that_is_refused_names_the_node_and_the_reason) {
  const struct {
    error code;
    errc means;
    const char* text;
  } cases[] = {{error::no_node, errc::refused, "there is no node /r; create it"},
               {error::bad_version, errc::mismatch, "/r has changed since it was read"},
               {error::bad_arguments, errc::refused, "/r is not a path"},
               {error::no_auth, errc::refused, "the ACL of /r refuses this user; it needs w there"},
               {error::quota_exceeded, errc::refused, "the quota of the path above /r is used up"}};
  for (const auto& c : cases) {
    const base::failure why = refused_with(error::ok, c.code);
    EXPECT_EQ(why.code, c.means) << c.text;
    EXPECT_EQ(why.text, c.text);
  }
}

TEST_F(zookeeper_held_write, without_a_readable_answer_is_unavailable) {
  version_of_write malformed, refused;
  EXPECT_EQ(write(malformed), "multi");
  t.answer(9, "x");
  EXPECT_EQ(malformed.why.code, errc::unavailable);
  EXPECT_EQ(write(refused), "multi");
  t.answer(9, error::marshalling);
  EXPECT_EQ(refused.why.code, errc::unavailable);
  EXPECT_FALSE(malformed.version || refused.version);
}

TEST_F(zookeeper_held_write, is_no_longer_than_one_transaction) {
  const std::string node = "/job/_c_a-lock-0000000001";
  const std::size_t others =
      zookeeper::held_write_body({&node, 1}, {"job", "_c_a-lock-0000000001", "/r", "", 3}).size();
  std::string value(zookeeper::request_bytes_max - others, 'v');
  version_of_write longest, longer;
  EXPECT_EQ(write(longest, value), "multi");
  EXPECT_EQ(write(longer, value += 'v'), "");
  EXPECT_EQ(longer.why.code, errc::refused);
  EXPECT_NE(longer.why.text.find("nothing was written"), std::string::npos) << longer.why.text;
  t.answer(9, error::marshalling);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
