#include "tests/unit/backend/memory/contenders.hpp"

namespace holdfast::memory {
namespace {

using memory_downgrade = memory_case;

TEST_F(memory_downgrade, a_writer_becomes_a_reader_of_the_same_number_and_readers_come_in) {
  caller writer(s, env), reader(s, env), next(s, env);
  writer.acquire();
  reader.ask(share());
  next.acquire();
  writer.claim->downgrade();
  EXPECT_EQ(writer.heard.news(), "gw");
  EXPECT_EQ(reader.heard.news(), "g");
  EXPECT_EQ(reader.number(), writer.number());
  EXPECT_EQ(reader.claim->owner(), writer.claim->owner());
  EXPECT_EQ(next.heard.news(), "");
  writer.claim->renew(10s, 1);
  EXPECT_EQ(writer.heard.news(), "m");
  writer.release();
  EXPECT_EQ(writer.heard.news(), "e");
  EXPECT_EQ(next.heard.news(), "");
  reader.let_go();
  EXPECT_EQ(next.heard.news(), "g");
  next.release();
}

TEST_F(memory_downgrade, a_downgrade_that_was_lost_is_repeated) {
  caller writer(s, env), reader(s, env);
  writer.acquire(60s);
  reader.ask(share(60s));
  faults([](fault_plan& w) { w.requests_to_lose = 2; });
  writer.claim->downgrade();
  EXPECT_EQ(reader.heard.news(), "");
  env.advance(3s);
  EXPECT_EQ(reader.heard.news(), "g");
  EXPECT_EQ(writer.heard.news(), "gw");
  writer.release();
  reader.let_go();
  EXPECT_EQ(env.alarms_set(), 0u);
}

TEST_F(memory_downgrade, its_lost_answer_changes_nothing) {
  caller writer(s, env), reader(s, env);
  writer.acquire(60s);
  faults([](fault_plan& w) { w.replies_to_lose = 2; });
  writer.claim->downgrade();
  EXPECT_EQ(reader.ask(share(60s)), "");  // the second lost reply
  env.advance(3s);
  EXPECT_EQ(reader.heard.news(), "g");
  EXPECT_EQ(writer.heard.news(), "g");
  EXPECT_EQ(inspect(writer).size(), 2u);
  writer.release();
  reader.let_go();
}

TEST_F(memory_downgrade, a_store_that_forgot_it_gets_it_with_the_next_renewal) {
  caller writer(s, env), reader(s, env);
  writer.acquire(60s);
  {
    const std::lock_guard guard(s->mutex);
    s->data.snapshot();
  }
  writer.claim->downgrade();
  {
    const std::lock_guard guard(s->mutex);
    s->data.fail_over();
  }
  EXPECT_EQ(reader.ask(once(share())), "r");
  writer.claim->renew(60s, 1);
  EXPECT_EQ(reader.ask(once(share())), "g");
  writer.release();
  reader.let_go();
}

TEST_F(memory_downgrade, of_a_lost_lock_reports_the_loss) {
  caller writer(s, env), next(s, env);
  writer.acquire(3s);
  env.advance(3s);
  writer.claim->downgrade();
  EXPECT_EQ(writer.heard.news(), "gl");
  EXPECT_EQ(writer.let_go(), "e");
  next.acquire();
  EXPECT_EQ(next.let_go(), "ge");
}

}  // namespace
}  // namespace holdfast::memory
