#include "tests/unit/backend/memory/contenders.hpp"

namespace holdfast::memory {
namespace {

using memory_permits = memory_case;

TEST_F(memory_permits, there_are_as_many_as_there_are) {
  caller a(s, env), b(s, env), c(s, env);
  EXPECT_EQ(a.ask(permits(2, 3)), "g");
  EXPECT_EQ(b.ask(once(permits(2, 3))), "r");
  EXPECT_EQ(b.ask(once(permits(1, 3))), "g");
  EXPECT_GT(b.number(), a.number());
  EXPECT_EQ(c.ask(once(permits(1, 3))), "r");
  a.let_go();
  EXPECT_EQ(c.ask(once(permits(2, 3))), "g");
  b.let_go();
  c.let_go();
}

TEST_F(memory_permits, a_large_request_is_not_passed_by_small_ones) {
  caller a(s, env), b(s, env), large(s, env), small(s, env), hasty(s, env);
  a.ask(permits(2, 4));
  b.ask(permits(1, 4));
  EXPECT_EQ(large.ask(permits(3, 4)), "");
  EXPECT_EQ(a.heard.news() + b.heard.news(), "ww");
  EXPECT_EQ(small.ask(permits(1, 4)), "");
  EXPECT_EQ(hasty.ask(once(permits(1, 4))), "r");
  a.let_go();
  EXPECT_EQ(large.heard.news(), "g");
  EXPECT_EQ(small.heard.news(), "");
  b.let_go();
  EXPECT_EQ(small.heard.news(), "g");
  large.let_go();
  small.let_go();
}

TEST_F(memory_permits, a_release_lets_in_all_that_there_is_room_for) {
  caller holder(s, env), a(s, env), b(s, env), c(s, env);
  holder.ask(permits(3, 3));
  a.ask(permits(1, 3));
  b.ask(permits(2, 3));
  c.ask(permits(1, 3));
  holder.let_go();
  EXPECT_EQ(a.heard.news(), "g");
  EXPECT_EQ(b.heard.news(), "g");
  EXPECT_EQ(c.heard.news(), "");
  a.let_go();
  EXPECT_EQ(c.heard.news(), "g");
  b.let_go();
  c.let_go();
}

TEST_F(memory_permits, a_large_request_that_is_withdrawn_lets_in_those_behind_it) {
  caller a(s, env), large(s, env), small(s, env);
  a.ask(permits(1, 2));
  large.ask(permits(2, 2));
  small.ask(permits(1, 2));
  large.claim->cancel();
  EXPECT_EQ(large.heard.news(), "e");
  EXPECT_EQ(small.heard.news(), "g");
  a.let_go();
  small.let_go();
}

TEST_F(memory_permits, those_of_a_dead_holder_come_back) {
  caller dead(s, env), living(s, env), waiting(s, env);
  dead.ask(permits(2, 3, 3s));
  living.ask(permits(1, 3, 60s));
  dead.cut_off(true);
  waiting.ask(permits(2, 3));
  env.advance(2s);
  EXPECT_EQ(waiting.heard.news(), "");
  env.advance(2s);
  EXPECT_EQ(waiting.heard.news(), "g");
  dead.cut_off(false);
  dead.claim->renew(3s, 1);
  EXPECT_EQ(dead.heard.news(), "l");
  dead.release();
  living.let_go();
  waiting.let_go();
}

TEST_F(memory_permits, a_lost_reply_takes_none_twice) {
  caller a(s, env), b(s, env);
  faults([](fault_plan& w) { w.replies_to_lose = 2; });
  EXPECT_EQ(a.ask(permits(2, 3)), "");
  env.advance(3s);
  EXPECT_EQ(a.heard.news(), "g");
  EXPECT_EQ(b.ask(once(permits(1, 3))), "g");
  const auto all = inspect(a);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].mode, lock_mode::permit);
  EXPECT_EQ(all[0].permits, 2u);
  EXPECT_EQ(all[0].total_permits, 3u);
  EXPECT_NE(all[0].token, all[1].token);
  a.let_go();
  b.let_go();
}

TEST_F(memory_permits, one_holder_can_be_broken_and_the_others_stay) {
  caller a(s, env), b(s, env), waiting(s, env);
  a.ask(permits(1, 2));
  b.ask(permits(1, 2));
  waiting.ask(permits(1, 2));
  judgement j;
  waiting.store->break_lock("x", a.claim->owner(), j);
  EXPECT_TRUE(j.was);
  EXPECT_EQ(waiting.heard.news(), "g");
  b.claim->renew(10s, 1);
  EXPECT_EQ(b.heard.news(), "wm");
  a.release();
  b.let_go();
  waiting.let_go();
}

TEST_F(memory_permits, none_or_more_than_there_are_are_refused) {
  caller a(s, env);
  for (const auto& wrong : {permits(0, 3), permits(4, 3), permits(0, 0)}) {
    EXPECT_EQ(a.ask(wrong), "r");
    EXPECT_EQ(a.heard.failure.code, errc::bad_option);
    EXPECT_NE(a.heard.failure.text, "");
  }
  EXPECT_EQ(a.ask(permits(3, 3)), "g");
  a.let_go();
}

TEST_F(memory_permits, another_count_is_reported_while_some_are_held) {
  caller a(s, env), b(s, env);
  a.ask(permits(1, 3));
  EXPECT_EQ(b.ask(permits(1, 4)), "r");
  EXPECT_EQ(b.heard.failure.code, errc::mismatch);
  EXPECT_NE(b.heard.failure.text.find("a semaphore of 3 permits"), std::string::npos);
  EXPECT_NE(b.heard.failure.text.find("a semaphore of 4 permits"), std::string::npos);
  EXPECT_EQ(b.ask(permits(1, 3)), "g");
  b.let_go();
  a.let_go();
  EXPECT_EQ(b.ask(permits(1, 4)), "g");
  b.let_go();
}

TEST_F(memory_permits, another_count_is_reported_by_a_reply_that_takes_its_time) {
  caller a(s, env), b(s, env);
  a.ask(permits(1, 3, 60s));
  latency(1s);
  EXPECT_EQ(b.ask(permits(1, 4)), "");
  env.advance(2s);
  EXPECT_EQ(b.heard.news(), "r");
  EXPECT_NE(b.heard.failure.text.find("a semaphore of 3 permits"), std::string::npos)
      << b.heard.failure.text;
  latency(0s);
  a.let_go();
}

TEST_F(memory_permits, a_lock_and_a_semaphore_on_one_name_are_reported) {
  caller semaphore(s, env), lock(s, env), reader(s, env);
  semaphore.ask(permits(1, 3));
  for (const auto& how :
       {seam::acquire_request{.ttl = 10s}, once({.ttl = 10s}), share(), once(share())}) {
    EXPECT_EQ(lock.ask(how), "r");
    EXPECT_EQ(lock.heard.failure.code, errc::mismatch);
  }
  EXPECT_EQ(semaphore.heard.news(), "");  // nobody waits
  semaphore.let_go();
  EXPECT_EQ(lock.ask({.ttl = 10s}), "g");
  EXPECT_EQ(semaphore.ask(permits(1, 3)), "r");
  EXPECT_EQ(semaphore.heard.failure.code, errc::mismatch);
  lock.let_go();
  EXPECT_EQ(reader.ask(share()), "g");
  EXPECT_EQ(semaphore.ask(once(permits(1, 3))), "r");
  EXPECT_EQ(semaphore.heard.failure.code, errc::mismatch);
  reader.let_go();
  EXPECT_EQ(semaphore.ask(permits(1, 3)), "g");
  semaphore.let_go();
}

TEST_F(memory_permits, a_mismatch_is_reported_though_its_reply_was_lost) {
  caller semaphore(s, env), lock(s, env);
  semaphore.ask(permits(1, 3, 60s));
  faults([](fault_plan& w) { w.replies_to_lose = 1; });
  EXPECT_EQ(lock.ask({.ttl = 10s}), "");
  env.advance(1s);
  EXPECT_EQ(lock.heard.news(), "r");
  EXPECT_EQ(lock.heard.failure.code, errc::mismatch);
  semaphore.let_go();
}

TEST_F(memory_permits, an_old_request_counts_for_what_it_requested) {
  caller holder(s, env), a(s, env);
  latency(5s);  // more than the op-timeout
  EXPECT_EQ(a.ask(once(permits(3, 3, 60s))), "");
  env.advance(4s);
  EXPECT_EQ(a.heard.news(), "r");
  EXPECT_EQ(a.ask(once(permits(1, 3, 60s))), "");
  env.advance(2s);  // the first has arrived, and takes all of them until it is withdrawn
  EXPECT_EQ(s->data.size(), 1u);
  latency(0s);
  env.advance(60s);
  EXPECT_EQ(holder.ask(once(permits(3, 3))), "g");
  holder.let_go();
}

}  // namespace
}  // namespace holdfast::memory
