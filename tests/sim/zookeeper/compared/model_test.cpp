// The model of ZooKeeper, compared with the real server reply by reply.
#include <gtest/gtest.h>

#include <memory>

#include "tests/sim/zookeeper/compared/model_client.hpp"
#include "tests/sim/zookeeper/compared/random_requests.hpp"
#include "tests/sim/zookeeper/compared/two_servers.hpp"

namespace holdfast::sim::zk {
namespace {

using zookeeper::jute_writer;

struct zookeeper_model : testing::Test {
  void SetUp() override {
    if (!testkit::zookeeper_server::installed())
      GTEST_SKIP() << testkit::zookeeper_server::not_installed;
    servers = std::make_unique<two_servers>();
  }
  std::unique_ptr<two_servers> servers;
};

request asked(op type, std::string body = {}) {
  request q;
  q.type = type;
  q.body = std::move(body);
  return q;
}

std::string identified(std::string_view scheme) {
  std::string out;
  jute_writer(out).write_int(0).write_text(scheme).write_text("user:password");
  return out;
}

std::string text_of(const std::vector<request>& all) {
  std::string out;
  for (const request& q : all)
    out += std::to_string(static_cast<int>(q.type)) + ' ' + testing::PrintToString(q.body) + '\n';
  return out;
}

// Two sessions, one of which ends and begins anew between lists; what the other watched is told.
void compare_lists(two_servers& servers, int lists) {
  two_servers::client stays(servers, "the first");
  ASSERT_EQ(stays.connects(), "");
  ASSERT_EQ(stays.differs({asked(op::create, creation("/t", 0))}), "");
  for (int list = 1; list <= lists; ++list) {
    random_requests drawn(static_cast<std::uint64_t>(list));
    two_servers::client comes(servers, "session " + std::to_string(list));
    ASSERT_EQ(comes.connects(), "");
    if (drawn.chance(20)) {
      ASSERT_EQ(comes.differs({asked(op::auth, identified("digest"))}), "");
    }
    for (int n = drawn.below(12) + 1; n > 0; --n) {
      const bool is_first = drawn.chance(50);
      two_servers::client& one = is_first ? stays : comes;
      const auto batch = drawn.batch(one.last_zxid());
      ASSERT_EQ(one.differs(batch), "") << "list " << list << '\n' << text_of(batch);
      ASSERT_EQ((is_first ? comes : stays).catches_up(), "") << "list " << list << ", events of\n"
                                                             << text_of(batch);
    }
    ASSERT_EQ(comes.ends_with({asked(op::close_session)}), "") << "list " << list;
    ASSERT_EQ(stays.catches_up(true), "") << "list " << list << ", events of the end";
  }
}

TEST_F(zookeeper_model, answers_random_lists_as_the_real_server_does) {
  compare_lists(*servers, 400);
}

TEST_F(zookeeper_model, closes_when_the_real_server_does) {
  const auto ends = [&](const std::vector<request>& with) {
    two_servers::client c(*servers, "one");
    EXPECT_EQ(c.connects(), "");
    EXPECT_EQ(c.ends_with(with), "") << text_of(with);
  };
  ends({asked(static_cast<op>(77))});
  ends({asked(op::auth, identified("nonsense"))});
  ends({asked(op::create, creation("/e", 1)), asked(op::close_session)});
  for (const std::string_view bytes :
       {std::string_view("\0\0\0\0", 4), std::string_view("\xff\xff\xff\xff", 4),
        std::string_view("\0\x10\0\0", 4)}) {
    two_servers::client c(*servers, "one");
    EXPECT_EQ(c.connects(), "");
    EXPECT_EQ(c.ends_with(bytes), "");
  }
}

TEST_F(zookeeper_model, moves_a_session_to_a_new_connection_as_the_real_server_does) {
  two_servers::client first(*servers, "one");
  ASSERT_EQ(first.connects(), "");
  ASSERT_EQ(first.differs(
                {asked(op::create, creation("/own", 1)), asked(op::exists, watched("/own"))}),
            "");
  two_servers::client second(*servers, "one");
  EXPECT_EQ(second.connects_as(first), "");
  EXPECT_EQ(first.ends_with(""), "");
  EXPECT_EQ(second.differs({asked(op::exists, watched("/own")), asked(op::close_session)}), "");
  two_servers::client late(*servers, "one");
  EXPECT_EQ(late.connects_as(second), "") << "its session is gone";
}

TEST_F(zookeeper_model, says_that_it_is_alone) {
  two_servers::client c(*servers, "one");
  EXPECT_EQ(c.answers_word("srvr"), "");
}

TEST_F(zookeeper_model, a_comparison_notices_what_differs) {
  two_servers::client c(*servers, "one");
  ASSERT_EQ(c.connects(), "");
  constexpr op get_acl{6};  // the model has none
  EXPECT_NE(c.differs({asked(get_acl, watched("/"))}), "");
}

}  // namespace
}  // namespace holdfast::sim::zk
