// Several locks at once, all or none.
#include <algorithm>

#include "backend/redis/layouts/scripts.hpp"
#include "claims.hpp"

namespace holdfast::redis_test {
namespace {

class redis_together : public on_redis {};

// Claims on the names, asked for as one.
struct gathered {
  gathered(peer& p, const std::vector<std::string>& names) : home(p) {
    for (const auto& n : names) test_claims.emplace_back(p, n);
  }
  void ask(std::size_t to, std::size_t from = 0) {
    if (from == 0) set = seam::lock_group::of(static_cast<std::uint32_t>(test_claims.size()));
    seam::acquire_request how = once(alone());
    how.group = set;
    for (std::size_t i = from; i < to; ++i) test_claims[i].ask(how);
  }
  std::size_t granted() {
    std::size_t n = 0;
    for (test_claim& w : test_claims) n += w.heard.hears_any("gr") == 'g' && w.is_granted();
    return n;
  }
  peer& home;
  seam::lock_group set;
  std::deque<test_claim> test_claims;
};

TEST_F(redis_together, all_are_granted_with_numbers_that_grow) {
  redis_server server;
  peer a(server.url());
  gathered four(a, {"d", "a", "b", "c"});
  four.ask(3);
  EXPECT_FALSE(four.test_claims[0].heard.heard('g')) << "it waits for the fourth";
  four.ask(4, 3);
  EXPECT_EQ(four.granted(), 4u);
  std::vector<std::int64_t> numbers;
  for (const test_claim& w : four.test_claims) numbers.push_back(w.number());
  std::ranges::sort(numbers);
  EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
  test_claim next(a, "a");
  EXPECT_FALSE(next.get(once(alone())));
}

TEST_F(redis_together, none_is_granted_while_one_is_held_or_waited_for) {
  redis_server server;
  peer a(server.url()), b(server.url());
  test_claim held(b, "b"), waits(a, "b"), free(b, "a");
  ASSERT_TRUE(held.get(alone()));
  gathered three(a, {"a", "b", "c"});
  three.ask(3);
  EXPECT_EQ(three.granted(), 0u);
  for (const test_claim& w : three.test_claims) EXPECT_EQ(w.heard.failure().code, errc::timed_out);
  EXPECT_TRUE(free.get(once(alone()))) << "nothing of it is left";
  EXPECT_TRUE(free.release() && held.release());
  three.ask(3);
  EXPECT_EQ(three.granted(), 3u);
}

TEST_F(redis_together, a_dead_line_does_not_stop_them) {
  redis_server server;
  peer a(server.url());
  for (const char* name : {"a", "b"})
    server.command({"ZADD", std::string("holdfast:{") + name + "}:" + name + ":q", "1",
                    "hf1:00000000000000aa:000000000000000000000000000000aa"});
  gathered two(a, {"a", "b"});
  two.ask(2);
  EXPECT_EQ(two.granted(), 2u);
}

TEST_F(redis_together, a_member_cancelled_before_the_others_have_come_ends_at_once) {
  redis_server server;
  peer a(server.url());
  gathered two(a, {"a", "b"});
  two.ask(1);
  two.test_claims[0].cancel();
  EXPECT_TRUE(two.test_claims[0].heard.heard('e'));
  EXPECT_FALSE(two.test_claims[0].holds());
  two.ask(2);
  EXPECT_EQ(two.granted(), 2u);
}

TEST_F(redis_together, a_semaphore_among_them_is_reported) {
  redis_server server;
  peer a(server.url()), b(server.url());
  test_claim other(b, "b");
  ASSERT_TRUE(other.get(permits(1, 2)));
  gathered two(a, {"a", "b"});
  two.ask(2);
  EXPECT_EQ(two.granted(), 0u);
  EXPECT_EQ(two.test_claims[0].heard.failure().code, errc::timed_out);
  EXPECT_EQ(two.test_claims[1].heard.failure().code, errc::mismatch);
}

TEST_F(redis_together, scripts_that_the_server_has_lost_are_loaded_anew) {
  redis_server server;
  peer a(server.url());
  gathered one(a, {"a", "b"}), two(a, {"c", "d"});
  one.ask(2);
  EXPECT_EQ(one.granted(), 2u);
  server.command({"SCRIPT", "FLUSH"});
  two.ask(2);
  EXPECT_EQ(two.granted(), 2u);
}

TEST_F(redis_together, a_counter_that_was_lost_continues_from_the_clock) {
  redis_server server;
  peer a(server.url());
  gathered two(a, {"a", "b"}), more(a, {"c", "d"});
  two.ask(2);
  ASSERT_EQ(two.granted(), 2u);
  server.command({"FLUSHALL"});
  more.ask(2);
  ASSERT_EQ(more.granted(), 2u);
  for (const test_claim& w : more.test_claims)
    EXPECT_GT(w.number(), two.test_claims.back().number());
}

TEST_F(redis_together, a_server_out_of_memory_refuses_all_and_keeps_none) {
  redis_server server;
  peer a(server.url() + quick);
  gathered two(a, {"a", "b"});
  server.command({"CONFIG", "SET", "maxmemory", "1"});
  two.ask(2);
  EXPECT_EQ(two.granted(), 0u);
  for (const test_claim& w : two.test_claims) EXPECT_EQ(w.heard.failure().code, errc::unavailable);
  EXPECT_EQ(server.command({"EXISTS", "a", "b"}).number, 0);
  server.command({"CONFIG", "SET", "maxmemory", "0"});
  two.ask(2);
  EXPECT_EQ(two.granted(), 2u);
}

TEST_F(redis_together, locks_released_in_one_step_are_freed_or_reported_each_for_itself) {
  redis_server server;
  const std::string script(redis::string::scripts::release_uncontended.text);
  const auto let_go = [&](const char* first_owner) {
    for (const char* lock : {"a", "b", "c"}) server.command({"SET", lock, "me"});
    return to_text(server.command({"EVAL", script, "6", "a", "b", "c", "line a", "line b", "line c",
                                   first_owner, "me", "me"}));
  };
  EXPECT_EQ(let_go("me"), "1");
  EXPECT_EQ(server.command({"EXISTS", "a", "b", "c"}).number, 0);
  EXPECT_EQ(let_go("another"), "[0, 1, 1]");
  EXPECT_EQ(server.command({"EXISTS", "a", "b", "c"}).number, 1) << "the one that is not ours";
  server.command({"ZADD", "line b", "1", "who waits"});
  EXPECT_EQ(let_go("another"), "[0, 3, 1]");
  EXPECT_EQ(server.command({"EXISTS", "a", "b", "c"}).number, 2);
}

}  // namespace
}  // namespace holdfast::redis_test
