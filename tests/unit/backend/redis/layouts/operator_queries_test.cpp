// An operator's queries to several servers, and to the servers of a cluster whose keys move.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "testkit/thrown_by.hpp"
#include "tests/unit/backend/redis/layouts/two_nodes.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using found_holders = std::vector<holder>;

struct awaited_holders final : seam::holders_handler {
  void on_result(found_holders f) override { found = std::move(f); }
  void on_failed(base::failure f) override { why = std::move(f); }
  std::string text() const {
    std::string out;
    for (const holder& h : found.value_or(found_holders())) out += h.name + '=' + h.owner + ' ';
    return out;
  }
  std::optional<found_holders> found;
  base::failure why;
};

holder held_by(std::string name, std::string owner) {
  holder out;
  out.name = std::move(name);
  out.owner = std::move(owner);
  return out;
}

TEST(redis_joint_holders, are_those_of_all_servers_each_of_them_once) {
  awaited_holders to;
  auto& joint = *new joint_holders(2, to);
  joint.on_result({held_by("b", "one"), held_by("a", "two")});
  EXPECT_FALSE(to.found);
  joint.on_result({held_by("a", "one"), held_by("b", "one")});
  EXPECT_EQ(to.text(), "a=one a=two b=one ");
}

TEST(redis_joint_holders, are_unknown_where_a_server_fails_for_the_first_reason) {
  awaited_holders to;
  auto& joint = *new joint_holders(3, to);
  joint.on_failed({errc::refused, "the first"});
  joint.on_result({held_by("a", "one")});
  joint.on_failed({errc::unavailable, "the second"});
  EXPECT_FALSE(to.found);
  EXPECT_EQ(to.why.code, errc::refused);
  EXPECT_EQ(to.why.text, "the first");
}

// A holder of "moving-job" whose key may move.
struct redis_queries_in_cluster : testing::Test, two_nodes {
  redis_queries_in_cluster() : two_nodes(true, "lua") {
    pass();
    world.command({"SET", "moving-job", "somebody"});
  }
  void ask() {
    tested->holders("moving-job", answer);
    pass(1s);
    world.changed = nullptr;
  }
  // Replaces each answer that names the holder, and counts them.
  void answer_instead(std::string error) {
    world.changed = [this, error](std::string bytes) {
      const bool is_answer = bytes.find("somebody") != bytes.npos;
      answers += is_answer;
      return is_answer ? error : bytes;
    };
  }
  awaited_holders answer;
  int answers = 0;
};

TEST_F(redis_queries_in_cluster, are_answered_by_the_server_that_has_the_key_now) {
  world.command_at(world.second, {"SET", "moving-job", "another"});
  world.changed = [&](std::string bytes) {
    if (bytes.find("somebody") == bytes.npos) return bytes;
    servers.has_moved = true;
    return std::string("-MOVED 3999 second:6379\r\n");
  };
  ask();
  EXPECT_EQ(answer.text(), "moving-job=another ");
}

TEST_F(redis_queries_in_cluster, fail_at_once_while_the_slot_is_on_its_way) {
  for (const std::string error : {"-TRYAGAIN later\r\n", "-ASK 3999 second:6379\r\n"}) {
    answers = 0;
    answer = {};
    answer_instead(error);
    ask();
    EXPECT_EQ(answer.why.code, errc::unavailable) << error;
    EXPECT_NE(answer.why.text.find("on its way to another server"), std::string::npos);
    EXPECT_EQ(answers, 1) << error;
  }
}

TEST_F(redis_queries_in_cluster, end_when_no_server_has_the_key) {
  answer_instead("-MOVED 3999 second:6379\r\n");
  ask();
  EXPECT_EQ(answer.why.code, errc::unavailable);
  EXPECT_GT(answers, 1);
}

// Keys that are on their way to a server are read there with ASKING, which other servers refuse.
TEST_F(redis_queries_in_cluster, for_a_list_include_keys_that_are_on_their_way) {
  std::string heard;
  world.changed = [&](std::string bytes) { return heard += bytes, bytes; };
  tested->inspect("", answer);
  pass(1s);
  world.changed = nullptr;
  EXPECT_NE(heard.find("cluster support disabled"), std::string::npos);
  EXPECT_TRUE(answer.found);
}

TEST_F(redis_queries_in_cluster, for_a_list_go_to_each_server) {
  held("first-a");
  held("second-b");
  tested->inspect("", answer);
  pass();
  ASSERT_TRUE(answer.found);
  ASSERT_EQ(answer.found->size(), 2u);
  EXPECT_EQ(answer.found->front().name, "first-a");
  EXPECT_EQ(answer.found->back().name, "second-b");
}

TEST(redis_queries, of_a_server_alone_do_not_ask_for_keys_on_their_way) {
  for (const std::string layout : {"lua", "string"}) {
    on_model world;
    const client c = world.open("layout=" + layout);
    const lease held = c.mutex("job").acquire();
    std::string heard;
    world.changed = [&](std::string bytes) { return heard += bytes, bytes; };
    EXPECT_EQ(c.list("").size(), layout == "lua" ? 1u : 0u);
    world.changed = nullptr;
    EXPECT_EQ(heard.find("cluster support disabled"), std::string::npos);
  }
}

// Callers drive the loop only while somebody waits for an answer.
TEST(redis_queries, of_a_server_out_of_reach_fail_once) {
  for (const std::string layout : {"lua", "string"}) {
    on_model world;
    const client c = world.open("layout=" + layout);
    world.refuses_connections = true;
    world.model.restart(sim::kept::everything);
    world.pass(1s);
    EXPECT_EQ(testkit::thrown_by([&] { (void)c.holders("job"); }), errc::unavailable);
    EXPECT_EQ(testkit::thrown_by([&] { (void)c.list(""); }), errc::unavailable);
    world.refuses_connections = false;
    world.pass(5s);
    EXPECT_TRUE(c.holders("job").empty());
    EXPECT_FALSE(world.has_pending_replies());
    world.command({"SET", "job", "somebody"});
    bool is_driven = false;
    world.at(500ms, [&] { is_driven = world.has_pending_replies(); });
    EXPECT_FALSE(c.mutex("job").try_acquire_for(1s));
    EXPECT_TRUE(is_driven) << layout;
  }
}

}  // namespace
}  // namespace holdfast::redis
