#include "tests/unit/backend/memory/contender.hpp"

namespace holdfast::memory {
namespace {

using memory_fault = memory_case;

TEST_F(memory_fault, a_lost_request_is_sent_again) {
  contender a(s, env);
  faults([](fault_plan& w) { w.requests_to_lose = 1; });
  a.acquire();
  EXPECT_EQ(a.heard.news(), "");
  env.advance(4s);
  EXPECT_EQ(a.heard.news(), "g");
}

TEST_F(memory_fault, a_grant_whose_reply_was_lost_is_found_by_its_owner_id) {
  contender a(s, env);
  faults([](fault_plan& w) { w.replies_to_lose = 1; });
  const auto first = env.now();
  a.acquire(10s);
  EXPECT_EQ(a.heard.news(), "");
  ASSERT_EQ(inspect(a).size(), 1u);
  const auto owner = inspect(a).at(0).owner;
  env.advance(4s);
  EXPECT_EQ(a.heard.news(), "g");
  EXPECT_EQ(inspect(a).at(0).owner, owner);
  EXPECT_GT(a.heard.deadline, first + 10s - 102ms);  // of the request that was answered
  EXPECT_LE(a.heard.deadline, env.now() + 10s - 102ms);
  a.release();
  EXPECT_EQ(a.heard.news(), "e");
  EXPECT_TRUE(inspect(a).empty());
}

TEST_F(memory_fault, an_attempt_without_any_answer_is_unavailable_at_the_op_timeout) {
  contender a(s, env);
  outage(true);
  a.attempt();
  env.advance(3900ms);
  EXPECT_EQ(a.heard.news(), "");
  env.advance(100ms);
  EXPECT_EQ(a.heard.news(), "r");
  EXPECT_EQ(a.heard.failure.code, errc::unavailable);
  EXPECT_FALSE(a.heard.failure.text.empty());
}

TEST_F(memory_fault, what_an_unanswered_acquire_left_behind_is_cleared_long_before_its_ttl) {
  contender a(s, env), b(s, env);
  faults([](fault_plan& w) { w.lose_replies = 1; });
  a.attempt(1h);
  env.advance(4s);
  EXPECT_EQ(a.heard.news(), "r");
  ASSERT_FALSE(s->data.size() == 0);
  faults([](fault_plan& w) { w.lose_replies = 0; });
  env.advance(15s);  // the orphans are tried again at 0.1, 1 and 10 s
  EXPECT_TRUE(inspect(b).empty());
  b.attempt();
  EXPECT_EQ(b.heard.news(), "g");
}

TEST_F(memory_fault, a_new_acquire_is_not_hurt_by_the_clearing_of_an_old_one) {
  contender a(s, env), b(s, env);
  outage(true);
  a.attempt(1h);
  env.advance(4s);
  EXPECT_EQ(a.heard.news(), "r");
  outage(false);
  a.acquire(1h);
  EXPECT_EQ(a.heard.news(), "g");
  env.advance(3min);
  EXPECT_EQ(a.heard.news(), "");
  b.attempt();
  EXPECT_EQ(b.heard.news(), "r");
  a.claim->renew(1h, 1);
  EXPECT_EQ(a.heard.news(), "m");
}

TEST_F(memory_fault, a_late_reply_to_a_given_up_acquire_grants_nothing) {
  contender a(s, env);
  latency(5s);  // a round trip is longer than the op-timeout
  a.attempt(1h);
  env.advance(4s);
  EXPECT_EQ(a.heard.news(), "r");
  a.attempt(1h);
  env.advance(3s);
  latency(0s);
  env.advance(900ms);
  EXPECT_EQ(a.heard.news(), "");
  env.advance(6s);  // the replies to the first acquire have come; the second has given up
  EXPECT_EQ(a.heard.news(), "r");
  env.advance(1min);
  EXPECT_TRUE(inspect(a).empty());
}

TEST_F(memory_fault, a_late_reply_to_a_renewal_is_not_taken_for_the_next_grants) {
  contender a(s, env);
  a.acquire(1h);
  latency(100ms);
  a.claim->renew(1h, 5);
  a.release();
  env.advance(200ms);
  EXPECT_EQ(a.heard.news(), "ge");  // no 'm': it was asked before the release
}

TEST_F(memory_fault, a_release_is_repeated_until_it_is_answered) {
  contender a(s, env), b(s, env);
  a.acquire(1h);
  faults([](fault_plan& w) { w.requests_to_lose = 3; });
  a.release();
  b.acquire(1h);  // the second of the lost
  env.advance(1min);
  EXPECT_EQ(a.heard.news().back(), 'e');
  EXPECT_FALSE(a.heard.failure.code);
  EXPECT_EQ(b.heard.news(), "g");
}

TEST_F(memory_fault, a_release_whose_reply_was_lost_counts_as_done) {
  contender a(s, env);
  a.acquire(1h);
  faults([](fault_plan& w) { w.replies_to_lose = 1; });
  a.release();
  EXPECT_EQ(a.heard.news(), "g");
  env.advance(4s);
  EXPECT_EQ(a.heard.news(), "e");
  EXPECT_FALSE(a.heard.failure.code);
}

TEST_F(memory_fault, a_release_that_is_never_answered_ends_once_the_lease_has_surely_run_out) {
  contender a(s, env);
  a.acquire(10s);
  outage(true);
  a.release();
  env.advance(10s);
  EXPECT_EQ(a.heard.news(), "g");
  env.advance(10s);
  EXPECT_EQ(a.heard.news(), "e");
  EXPECT_EQ(a.heard.failure.code, errc::outcome_unknown);
}

TEST_F(memory_fault, a_cancel_that_is_not_answered_ends_at_the_op_timeout_and_is_cleared_later) {
  contender a(s, env), b(s, env), c(s, env);
  a.acquire(1h);
  b.acquire();
  outage(true);
  b.claim->cancel();
  env.advance(4s);
  EXPECT_EQ(b.heard.news(), "e");
  outage(false);
  env.advance(15s);
  EXPECT_EQ(inspect(a).at(0).waiting, 0);
}

TEST_F(memory_fault, a_renewal_without_an_answer_moves_nothing) {
  contender a(s, env);
  a.acquire(10s);
  outage(true);
  a.claim->renew(10s, 1);
  env.advance(5s);
  EXPECT_EQ(a.heard.news(), "g");
  outage(false);
  a.claim->renew(10s, 2);
  EXPECT_EQ(a.heard.news(), "m");
  EXPECT_EQ(a.heard.ticket, 2u);
}

TEST_F(memory_fault, a_waiter_waits_through_an_outage) {
  contender a(s, env), b(s, env);
  a.acquire(10s);
  b.acquire(10s);
  outage(true);
  env.advance(16s);
  EXPECT_EQ(b.heard.news(), "");
  outage(false);
  env.advance(16s);
  EXPECT_EQ(b.heard.news(), "g");
}

TEST_F(memory_fault, a_failover_to_an_older_state_forgets_a_grant_and_numbers_grow_on) {
  contender a(s, env), b(s, env);
  {
    const std::lock_guard guard(s->mutex);
    s->data.snapshot();
  }
  a.acquire(10s);
  event_queue events;
  {
    const std::lock_guard guard(s->mutex);
    s->data.fail_over();
    s->announce_restart(events);
  }
  events.dispatch();
  env.advance(1us);
  b.acquire(10s);
  EXPECT_EQ(b.heard.news(), "g");  // two think they hold it: the tokens tell them apart
  EXPECT_GT(b.heard.grant.number, a.heard.grant.number);
  a.claim->renew(10s, 1);
  EXPECT_EQ(a.heard.news(), "gl");
  a.release();
}

TEST_F(memory_fault, a_snapshot_puts_back_the_numbers_though_the_clock_was_set_back) {
  contender a(s, env), b(s, env);
  const auto before = env.wall();
  env.set_wall(before + 1h);
  a.acquire(10s);
  a.release();
  env.set_wall(before);
  {
    const std::lock_guard guard(s->mutex);
    s->data.snapshot();
    s->data.fail_over();
  }
  b.acquire(10s);
  EXPECT_EQ(b.heard.news(), "g");
  EXPECT_GT(b.heard.grant.number, a.heard.grant.number);
}

TEST_F(memory_fault, those_that_wait_ask_again_after_a_restart) {
  contender a(s, env), b(s, env), c(s, env);
  a.acquire(1h);
  b.acquire(1h);
  c.acquire(1h);
  a.cut_off(true);
  event_queue events;
  {
    const std::lock_guard guard(s->mutex);
    s->data.restart_empty();
    s->announce_restart(events);
  }
  events.dispatch();
  const std::string heard = b.heard.news() + c.heard.news();
  EXPECT_EQ(heard.find('g'), heard.rfind('g'));
  EXPECT_NE(heard.find('g'), heard.npos);
}

TEST_F(memory_fault, a_snapshot_puts_back_holder_and_queue) {
  contender a(s, env), b(s, env);
  a.acquire(1h, "first");
  b.acquire(1h);
  {
    const std::lock_guard guard(s->mutex);
    s->data.snapshot();
    s->data.restart_empty();
  }
  EXPECT_TRUE(inspect(a).empty());
  {
    const std::lock_guard guard(s->mutex);
    s->data.fail_over();
  }
  ASSERT_EQ(inspect(a).size(), 1u);
  EXPECT_EQ(inspect(a).at(0).note, "first");
  a.release();
  EXPECT_EQ(b.heard.news(), "g");
}

TEST_F(memory_fault, a_request_that_is_lost_by_chance_takes_no_lock) {
  contender a(s, env), b(s, env);
  fault_plan certain;
  certain.lose_requests = 1;
  {
    const std::lock_guard guard(s->mutex);
    a.store->over().set_faults(certain);
  }
  a.attempt();
  EXPECT_EQ(a.heard.news(), "");
  b.attempt();
  EXPECT_EQ(b.heard.news(), "g");
}

TEST_F(memory_fault, the_same_seed_loses_the_same_messages) {
  const auto run = [](std::uint64_t seed) {
    testkit::manual_environment own(3);
    auto store = std::make_shared<server>();
    contender a(store, own);
    fault_plan w;
    w.random_state = seed;
    w.lose_requests = 0.3;
    w.lose_replies = 0.3;
    {
      const std::lock_guard guard(store->mutex);
      a.store->over().set_faults(w);
    }
    std::string heard;
    for (int i = 0; i < 30; ++i) {
      a.acquire(10s);
      const auto before = own.now();
      while (a.heard.told.empty()) own.advance(10ms);
      heard += a.heard.told + std::to_string((own.now() - before) / 10ms) + ' ';
      if (a.heard.news() != "g") continue;
      a.release();
      while (a.heard.told.empty()) own.advance(10ms);
      a.heard.news();
    }
    return heard;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST_F(memory_fault, a_stopped_client_is_cut_off_after_its_time) {
  contender a(s, env), b(s, env);
  {
    const std::lock_guard guard(s->mutex);
    a.store->over().stop_after(env.now() + 1s);
  }
  a.acquire(2s);
  EXPECT_EQ(a.heard.news(), "g");
  EXPECT_FALSE(a.store->over().is_unavailable());
  env.advance(1s);
  EXPECT_TRUE(a.store->over().is_unavailable());
  a.claim->renew(2s, 1);
  EXPECT_EQ(a.heard.news(), "");
  env.advance(1s);
  b.attempt();
  EXPECT_EQ(b.heard.news(), "g");
}

void set_faults_of(const contender& c, const fault_plan& faults) {
  const std::lock_guard guard(c.store->over().at().mutex);
  c.store->over().set_faults(faults);
}

TEST_F(memory_fault, of_one_client_loses_its_replies_and_no_others) {
  contender a(s, env), b(s, env, "another");
  set_faults_of(a, {.replies_to_lose = 1});
  a.attempt();
  b.attempt();
  EXPECT_EQ(a.heard.news(), "");
  EXPECT_EQ(b.heard.news(), "g");
  env.advance(4s);
  EXPECT_EQ(a.heard.news(), "g");
}

TEST_F(memory_fault, of_one_client_stops_what_is_under_way_to_the_store) {
  contender a(s, env), b(s, env);
  set_faults_of(a, {.latency = 100ms});
  a.acquire();
  env.advance(50ms);
  set_faults_of(a, {.latency = 100ms, .outage = true});
  env.advance(100ms);
  EXPECT_TRUE(inspect(b).empty());
  b.attempt();
  EXPECT_EQ(b.heard.news(), "g");
}

TEST_F(memory_fault, of_one_client_stops_what_the_store_sends_to_it) {
  contender a(s, env), b(s, env);
  a.acquire(1h);
  set_faults_of(a, {.outage = true});
  b.acquire(1h);
  EXPECT_EQ(a.heard.news(), "g") << "a message about the waiter has reached it";
}

TEST_F(memory_fault, latency_delays_what_the_store_sends_unasked) {
  contender a(s, env), b(s, env);
  a.acquire(1h);
  latency(100ms);
  b.acquire(1h);
  env.advance(199ms);
  EXPECT_EQ(a.heard.news(), "g");
  env.advance(1ms);
  EXPECT_EQ(a.heard.news(), "w");
}

TEST_F(memory_fault, of_one_client_lets_its_close_await_nothing) {
  contender a(s, env);
  a.acquire();
  set_faults_of(a, {.outage = true});
  a.release();
  EXPECT_FALSE(a.store->close(env.now() + 1h));
  EXPECT_EQ(a.heard.news(), "ge");
}

TEST_F(memory_fault, that_has_ended_lets_no_message_overtake_those_under_way) {
  for (const auto& [passed, left] : {std::pair{50ms, 50ms}, std::pair{150ms, 50ms}}) {
    contender a(s, env);
    note_taker later;
    const auto other = a.store->open("y", later);
    latency(100ms);
    a.attempt();
    env.advance(passed);
    latency(0s);
    other->acquire({.one_attempt = true, .ttl = 10s});
    EXPECT_EQ(later.news(), "") << passed.count();
    env.advance(left);
    EXPECT_EQ(a.heard.news(), "g") << passed.count();
    EXPECT_EQ(later.news(), "g");
    other->release(nullptr);
    a.release();
  }
}

}  // namespace
}  // namespace holdfast::memory
