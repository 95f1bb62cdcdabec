// An operator's view of locks that a majority of servers has.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testkit/thrown_by.hpp"
#include "tests/unit/backend/redis/layouts/redlock/three_servers.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

struct redlock_queries : testing::Test {
  three_servers w;
  client c = w.open();

  void set(sim::model_redis& server, std::string_view owner, std::string_view ttl_in_ms) {
    w.command_at(server, {"SET", "x", owner, "PX", ttl_in_ms});
  }
  std::string text_of_failure() {
    try {
      (void)c.holders("x");
    } catch (const lock_error& e) {
      return e.what();
    }
    return {};
  }
};

TEST_F(redlock_queries, a_holder_is_shown_once_if_a_majority_has_it) {
  set(w.model, "somebody", "9000");
  EXPECT_TRUE(c.holders("x").empty());
  set(w.third, "somebody", "9000");
  const auto found = c.holders("x");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "x");
  EXPECT_EQ(found[0].owner, "somebody");
}

TEST_F(redlock_queries, two_owners_have_no_majority_together) {
  set(w.model, "somebody", "9000");
  set(w.second, "another", "9000");
  EXPECT_TRUE(c.holders("x").empty());
  set(w.third, "another", "9000");
  ASSERT_EQ(c.holders("x").size(), 1u);
  EXPECT_EQ(c.holders("x")[0].owner, "another");
}

TEST_F(redlock_queries, a_lease_is_as_long_as_a_majority_has_it) {
  set(w.model, "somebody", "3000");
  set(w.second, "somebody", "9000");
  set(w.third, "somebody", "6000");
  const auto found = c.holders("x");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_GT(found[0].expires_in, 5s);
  EXPECT_LE(found[0].expires_in, 6s);
}

TEST_F(redlock_queries, a_lease_that_two_of_three_servers_have_is_as_long_as_the_shorter_one) {
  set(w.model, "somebody", "9000");
  set(w.second, "somebody", "3000");
  const auto found = c.holders("x");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LE(found[0].expires_in, 3s);
}

TEST_F(redlock_queries, a_break_counts_where_a_majority_had_the_owner) {
  set(w.model, "somebody", "9000");
  set(w.third, "somebody", "9000");
  EXPECT_FALSE(c.break_lock("x", "another"));
  EXPECT_TRUE(c.break_lock("x", "somebody"));
  EXPECT_FALSE(w.third.string_at("x"));
  EXPECT_FALSE(c.break_lock("x", "somebody"));
}

TEST_F(redlock_queries, what_is_left_at_one_server_is_removed_and_was_no_holder) {
  set(w.third, "somebody", "9000");
  EXPECT_FALSE(c.break_lock("x", "somebody"));
  EXPECT_FALSE(w.third.string_at("x"));
}

TEST_F(redlock_queries, a_server_that_does_not_answer_may_have_had_the_owner) {
  set(w.model, "somebody", "9000");
  w.kill(w.second);
  EXPECT_TRUE(c.break_lock("x", "somebody"));
}

TEST_F(redlock_queries, without_a_majority_the_answers_are_counted) {
  w.kill(w.second);
  EXPECT_NO_THROW((void)c.holders("x"));
  w.kill(w.third);
  w.pass(1s);
  EXPECT_EQ(testkit::thrown_by([&] { (void)c.holders("x"); }), errc::no_quorum);
  EXPECT_NE(text_of_failure().find("1 of 3 servers answer, and 2 have to"), std::string::npos)
      << text_of_failure();
}

TEST_F(redlock_queries, a_majority_that_refuses_is_reported_with_its_reason) {
  w.second.forbid("eval");
  EXPECT_NO_THROW((void)c.holders("x"));
  w.third.forbid("eval");
  EXPECT_EQ(testkit::thrown_by([&] { (void)c.holders("x"); }), errc::refused);
  EXPECT_NE(text_of_failure().find("NOPERM"), std::string::npos) << text_of_failure();
}

}  // namespace
}  // namespace holdfast::redis
