#include "tests/unit/backend/memory/contenders.hpp"

namespace holdfast::memory {
namespace {

using memory_sharing = memory_case;

TEST_F(memory_sharing, readers_hold_together_under_one_number_and_one_owner) {
  caller a(s, env), b(s, env);
  EXPECT_EQ(a.ask(share()), "g");
  EXPECT_EQ(b.ask(share()), "g");
  EXPECT_EQ(a.number(), b.number());
  EXPECT_EQ(a.claim->owner(), b.claim->owner());
  EXPECT_EQ(a.let_go(), "e");
  EXPECT_EQ(b.let_go(), "e");
}

TEST_F(memory_sharing, a_reader_that_finds_the_lock_free_founds_a_group_of_a_greater_number) {
  caller a(s, env), b(s, env);
  a.ask(share());
  const auto first = a.number();
  a.let_go();
  b.ask(share());
  EXPECT_GT(b.number(), first);
  b.let_go();
}

TEST_F(memory_sharing, readers_and_a_writer_keep_each_other_out) {
  caller reader(s, env), writer(s, env);
  reader.ask(share());
  writer.attempt();
  EXPECT_EQ(writer.heard.news(), "r");
  reader.let_go();
  writer.attempt();
  EXPECT_EQ(writer.heard.news(), "g");
  EXPECT_EQ(reader.ask(once(share())), "r");
  EXPECT_EQ(reader.heard.failure.code, errc::timed_out);
  writer.release();
}

TEST_F(memory_sharing, one_readers_leaving_frees_nothing_while_another_is_there) {
  caller a(s, env), b(s, env), writer(s, env);
  a.ask(share());
  b.ask(share());
  writer.acquire();
  a.let_go();
  EXPECT_EQ(writer.heard.news(), "");
  b.let_go();
  EXPECT_EQ(writer.heard.news(), "g");
  EXPECT_GT(writer.number(), b.number());
  writer.release();
}

TEST_F(memory_sharing, all_readers_are_notified_of_a_waiter) {
  caller a(s, env), b(s, env), writer(s, env);
  a.ask(share());
  b.ask(share());
  writer.acquire();
  EXPECT_EQ(a.heard.news(), "w");
  EXPECT_EQ(b.heard.news(), "w");
  a.let_go();
  b.let_go();
  writer.release();
}

TEST_F(memory_sharing, a_reader_waits_behind_a_writer_that_waits) {
  caller first(s, env), writer(s, env), late(s, env), hasty(s, env);
  first.ask(share());
  writer.acquire();
  EXPECT_EQ(late.ask(share()), "");
  EXPECT_EQ(hasty.ask(once(share())), "r");
  first.let_go();
  EXPECT_EQ(writer.heard.news(), "g");
  EXPECT_TRUE(writer.heard.grant.others_wait);
  EXPECT_EQ(late.heard.news(), "");
  writer.release();
  EXPECT_EQ(late.heard.news(), "g");
  late.let_go();
}

TEST_F(memory_sharing, a_line_that_reaches_readers_lets_in_all_up_to_the_next_writer) {
  caller holder(s, env), a(s, env), b(s, env), writer(s, env), c(s, env);
  holder.acquire();
  a.ask(share());
  b.ask(share());
  writer.acquire();
  c.ask(share());
  holder.release();
  EXPECT_EQ(a.heard.news(), "g");
  EXPECT_EQ(b.heard.news(), "g");
  EXPECT_TRUE(a.heard.grant.others_wait);
  EXPECT_EQ(a.number(), b.number());
  EXPECT_EQ(writer.heard.news() + c.heard.news(), "");
  a.let_go();
  b.let_go();
  EXPECT_EQ(writer.heard.news(), "g");
  EXPECT_TRUE(writer.heard.grant.others_wait);
  EXPECT_EQ(c.heard.news(), "");
  writer.release();
  EXPECT_EQ(c.heard.news(), "g");
  c.let_go();
}

TEST_F(memory_sharing, a_writer_that_gives_up_lets_in_the_readers_behind_it) {
  caller reader(s, env), writer(s, env), late(s, env);
  reader.ask(share());
  writer.acquire();
  late.ask(share());
  writer.claim->cancel();
  EXPECT_EQ(writer.heard.news(), "e");
  EXPECT_EQ(late.heard.news(), "g");
  EXPECT_EQ(late.number(), reader.number());
  reader.let_go();
  late.let_go();
}

TEST_F(memory_sharing, a_reader_whose_lease_ran_out_is_out_and_learns_it_at_its_renewal) {
  caller dead(s, env), living(s, env), writer(s, env);
  dead.ask(share(3s));
  living.ask(share(3s));
  writer.acquire();
  env.advance(2s);
  living.claim->renew(4s, 1);
  EXPECT_EQ(living.heard.news(), "wm");
  env.advance(2s);
  EXPECT_EQ(writer.heard.news(), "");
  dead.claim->renew(3s, 1);
  EXPECT_EQ(dead.heard.news(), "wl");
  dead.release();
  env.advance(3s);  // nobody says anything: the writer looks when the next lease is due
  EXPECT_EQ(writer.heard.news(), "g");
  writer.release();
}

TEST_F(memory_sharing, a_renewal_that_comes_too_late_brings_no_reader_back_beside_a_writer) {
  caller reader(s, env), writer(s, env);
  reader.ask(share(3s));
  env.advance(3s);
  writer.acquire();
  EXPECT_EQ(writer.heard.news(), "g");
  reader.claim->renew(3s, 1);
  EXPECT_EQ(reader.heard.news(), "l");
  EXPECT_EQ(inspect(writer).size(), 1u);
  reader.release();
  writer.release();
}

TEST_F(memory_sharing, a_lost_reply_to_a_reader_leaves_one_reader) {
  caller a(s, env), writer(s, env);
  faults([](fault_plan& w) { w.replies_to_lose = 2; });
  EXPECT_EQ(a.ask(share()), "");
  env.advance(3s);
  EXPECT_EQ(a.heard.news(), "g");
  EXPECT_EQ(inspect(a).size(), 1u);
  faults([](fault_plan& w) { w.replies_to_lose = 1; });
  a.release();
  env.advance(1s);
  EXPECT_EQ(a.heard.news(), "e");
  EXPECT_EQ(a.heard.failure.code, std::error_code());
  writer.attempt();
  EXPECT_EQ(writer.heard.news(), "g");
  writer.release();
}

TEST_F(memory_sharing, inspect_shows_each_reader_with_an_id_of_its_own) {
  caller a(s, env), b(s, env);
  a.claim->acquire({.ttl = 10s, .note = "first", .mode = lock_mode::shared});
  b.ask(share());
  const auto all = inspect(a);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].note, "first");
  EXPECT_EQ(all[0].mode, lock_mode::shared);
  EXPECT_EQ(all[0].permits + all[0].total_permits, 0u);
  EXPECT_EQ(all[0].token, all[1].token);
  EXPECT_NE(all[0].owner, all[1].owner);
  a.let_go();
  b.let_go();
}

TEST_F(memory_sharing, one_reader_can_be_broken_by_its_id_and_all_by_their_groups) {
  caller a(s, env), b(s, env), writer(s, env);
  a.ask(share());
  b.ask(share());
  writer.acquire();
  judgement one, whole, again;
  writer.store->break_lock("x", inspect(a).at(0).owner, one);
  EXPECT_TRUE(one.was);
  EXPECT_EQ(writer.heard.news(), "");
  const std::string group = b.claim->owner();
  writer.store->break_lock("x", group, whole);
  EXPECT_TRUE(whole.was);
  EXPECT_EQ(writer.heard.news(), "g");
  writer.store->break_lock("x", group, again);
  EXPECT_FALSE(again.was);
  b.claim->renew(10s, 1);
  EXPECT_EQ(b.heard.news(), "wl");
  a.release();
  b.release();
  writer.release();
}

TEST_F(memory_sharing, a_failover_brings_back_the_readers_of_then) {
  caller a(s, env), b(s, env);
  a.ask(share());
  {
    const std::lock_guard guard(s->mutex);
    s->data.snapshot();
  }
  b.ask(share());
  {
    const std::lock_guard guard(s->mutex);
    s->data.fail_over();
  }
  a.claim->renew(10s, 1);
  EXPECT_EQ(a.heard.news(), "m");
  b.claim->renew(10s, 1);
  EXPECT_EQ(b.heard.news(), "l");
  a.release();
  b.release();
}

}  // namespace
}  // namespace holdfast::memory
