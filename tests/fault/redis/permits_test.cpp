// Semaphores at the server: who gets permits, who waits for them, and how they come back.
#include "claims.hpp"

namespace holdfast::redis_test {
namespace {

class redis_permits : public on_redis {};

TEST_F(redis_permits, as_many_are_had_as_there_are_and_no_more) {
  redis_server server;
  peer a(server.url()), b(server.url());
  test_claim one(a, "x"), two(b, "x"), three(a, "x");
  ASSERT_TRUE(one.get(permits(2, 3)));
  EXPECT_FALSE(two.get(once(permits(2, 3))));
  EXPECT_EQ(two.heard.failure().code, errc::timed_out);
  ASSERT_TRUE(two.get(once(permits(1, 3))));
  EXPECT_GT(two.number(), one.number());
  EXPECT_FALSE(three.get(once(permits(1, 3))));
  EXPECT_TRUE(one.release());
  EXPECT_TRUE(three.get(once(permits(2, 3))));
  EXPECT_TRUE(two.release() && three.release());
  expect_no_key_left(server);
}

TEST_F(redis_permits, a_large_wish_is_not_passed_by_small_ones) {
  redis_server server;
  peer a(server.url()), b(server.url());
  test_claim one(a, "x"), two(b, "x"), large(a, "x"), small(b, "x");
  ASSERT_TRUE(one.get(permits(1, 4)));
  ASSERT_TRUE(two.get(permits(1, 4)));
  large.ask(permits(3, 4));
  EXPECT_TRUE(one.heard.hears('w') && two.heard.hears('w'));
  EXPECT_FALSE(small.get(once(permits(1, 4))));
  small.ask(permits(1, 4));
  ASSERT_TRUE(eventually_queued(server, 2));
  EXPECT_TRUE(one.release());
  EXPECT_TRUE(large.heard.hears('g'));
  EXPECT_FALSE(small.heard.heard('g'));
  EXPECT_TRUE(two.release());
  EXPECT_TRUE(small.heard.hears('g'));
}

TEST_F(redis_permits, of_a_killed_holder_come_back_when_its_lease_has_ended) {
  redis_server server;
  other_process holder([&](const other_process::line& l) {
    peer p(server.url());
    test_claim mine(p, "x");
    l.say(mine.get(permits(2, 3, 5s)) ? "held" : "refused");
    l.hear();
  });
  ASSERT_EQ(holder.hear(), "held");
  peer a(server.url());
  test_claim stays(a, "x"), waits(a, "x");
  ASSERT_TRUE(stays.get(permits(1, 3, 10min)));
  waits.ask(permits(2, 3, 10min));
  ASSERT_TRUE(eventually_queued(server, 1));
  holder.kill();
  EXPECT_TRUE(waits.heard.hears('g')) << "long before the other one's lease ends";
  EXPECT_TRUE(stays.renew(10min));
}

TEST_F(redis_permits, are_counted_right_after_any_way_to_lose_them) {
  redis_server server;
  peer a(server.url()), b(server.url());
  for (int i = 0; i < 20; ++i) {
    test_claim lapses(a, "x"), leaves(b, "x"), broken(a, "x"), gives_up(b, "x"), all(a, "x");
    ASSERT_TRUE(lapses.get(permits(2, 6, 100ms)));
    ASSERT_TRUE(leaves.get(permits(3, 6)));
    ASSERT_TRUE(broken.get(permits(1, 6)));
    gives_up.ask(permits(5, 6));
    ASSERT_TRUE(eventually_queued(server, 1));
    gives_up.cancel();
    EXPECT_TRUE(a.break_lock("x", broken.owner()));
    EXPECT_TRUE(leaves.release());
    ASSERT_TRUE(all.get(permits(6, 6)));
  }
  expect_no_key_left(server);
}

TEST_F(redis_permits, inspect_shows_the_permits_of_each_holder) {
  redis_server server;
  peer a(server.url());
  test_claim one(a, "x"), two(a, "x");
  ASSERT_TRUE(one.get(permits(2, 5)));
  ASSERT_TRUE(two.get(permits(1, 5)));
  const auto seen = a.inspect("x");
  ASSERT_EQ(seen.size(), 2u);
  for (const holder& h : seen) {
    EXPECT_EQ(h.mode, lock_mode::permit);
    EXPECT_EQ(h.total_permits, 5u);
    EXPECT_EQ(h.permits, h.owner == one.owner() ? 2u : 1u);
  }
}

// The permits in use, the request, and the text of its refusal.
struct meeting {
  seam::acquire_request first, then;
  const char* text;
};

TEST_F(redis_permits, of_a_name_that_is_another_kind_of_lock_are_refused_and_the_reverse) {
  redis_server server;
  peer a(server.url()), b(server.url());
  const meeting meetings[] = {{permits(1, 4), alone(), "semaphore of 4 permits"},
                              {permits(1, 4), once(alone()), "semaphore of 4 permits"},
                              {permits(1, 4), reading(), "semaphore of 4 permits"},
                              {permits(1, 4), once(reading()), "semaphore of 4 permits"},
                              {permits(1, 4), permits(1, 5), "semaphore of 4 permits"},
                              {alone(), permits(1, 4), "a mutex"},
                              {reading(), permits(1, 4), "a mutex"},
                              {reading(), once(permits(1, 4)), "a mutex"}};
  for (const meeting& m : meetings) {
    test_claim first(a, "x"), then(b, "x");
    ASSERT_TRUE(first.get(m.first));
    EXPECT_FALSE(then.get(m.then));
    const auto why = then.heard.failure();
    EXPECT_EQ(why.code, errc::mismatch);
    EXPECT_NE(why.text.find(m.text), std::string::npos) << why.text;
    EXPECT_TRUE(first.release());
  }
  expect_no_key_left(server);
}

TEST_F(redis_permits, and_shares_of_a_key_that_is_no_lock_are_refused) {
  redis_server server;
  peer a(server.url());
  server.command({"HSET", "x", "is", "another's"});
  for (const seam::acquire_request& how : {permits(1, 4), reading(), once(alone())}) {
    test_claim one(a, "x");
    EXPECT_FALSE(one.get(how));
    EXPECT_EQ(one.heard.failure().code, errc::mismatch) << one.heard.failure().text;
  }
}

}  // namespace
}  // namespace holdfast::redis_test
