#include <gtest/gtest.h>

#include "backend/memory/recipe.hpp"

namespace holdfast::memory {
namespace {

using namespace std::chrono_literals;
using state = recipe::state;

constexpr timing recipe_timing{.op_timeout = 8s, .clock_skew = 0s};
constexpr time_point start{1000s};

reply answer(const recipe& r, operation what, reply::verdict v, time_point sent) {
  const request q = r.to_send(what, sent);
  reply out;
  out.what = v;
  out.epoch = q.epoch;
  out.ttl = q.ttl;
  out.sent = sent;
  out.number = 7;
  return out;
}

recipe held() {
  recipe r;
  r.acquire({.ttl = 10s}, start, recipe_timing);
  r.on(answer(r, operation::acquire, reply::verdict::granted, start), start, recipe_timing);
  return r;
}

TEST(memory_recipe, each_acquire_has_a_new_owner_id) {
  recipe r;
  EXPECT_TRUE(r.acquire({.one_attempt = true, .ttl = 10s}, start, recipe_timing).new_owner);
  r.on(answer(r, operation::acquire, reply::verdict::busy, start), start, recipe_timing);
  EXPECT_EQ(r.now_in(), state::idle);
  EXPECT_TRUE(r.acquire({.one_attempt = true, .ttl = 10s}, start, recipe_timing).new_owner);
}

TEST(memory_recipe, an_unanswered_request_is_repeated_after_longer_each_time) {
  recipe r;
  effects a = r.acquire({.one_attempt = true, .ttl = 10s}, start, recipe_timing);
  duration last{};
  time_point now = start;
  int sent = 0;
  for (; a.send != operation::none; ++sent) {
    ASSERT_EQ(a.send, operation::acquire);
    EXPECT_GT(a.wake, now);
    if (a.wake < start + 8s) {
      EXPECT_GT(a.wake - now, last);
    }
    last = a.wake - now;
    now = a.wake;
    a = r.on_wake(now, recipe_timing);
    EXPECT_FALSE(a.new_owner);
  }
  EXPECT_EQ(sent, 4);
  EXPECT_EQ(now, start + 8s);
  EXPECT_EQ(a.event, claim_event::refused);
  EXPECT_EQ(a.why, errc::unavailable);
  EXPECT_TRUE(a.orphan);
  EXPECT_EQ(r.now_in(), state::idle);
}

TEST(memory_recipe, a_waiter_repeats_its_request_until_its_outage_timeout) {
  recipe r;
  time_point now = start;
  effects a = r.acquire({.ttl = 10s}, now, recipe_timing);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(a.send == operation::acquire && !a.orphan);
    EXPECT_LE(a.wake, now + recipe_timing.op_timeout);
    a = r.on_wake(now = a.wake, recipe_timing);
  }
  timing bounded = recipe_timing;
  bounded.outage_timeout = now - start;
  a = r.on_wake(now, bounded);
  EXPECT_EQ(a.why, errc::unavailable);
  EXPECT_TRUE(a.orphan);
}

TEST(memory_recipe, a_reply_of_an_earlier_epoch_changes_nothing) {
  recipe r;
  r.acquire({.ttl = 10s}, start, recipe_timing);
  const reply late = answer(r, operation::acquire, reply::verdict::granted, start);
  r.cancel(start, recipe_timing);
  EXPECT_EQ(r.on(late, start, recipe_timing).event, claim_event::none);
  EXPECT_EQ(r.now_in(), state::withdrawing);
  r.on(answer(r, operation::leave, reply::verdict::left, start), start, recipe_timing);
  EXPECT_EQ(r.now_in(), state::idle);
  r.acquire({.ttl = 10s}, start, recipe_timing);
  EXPECT_EQ(r.on(late, start, recipe_timing).event, claim_event::none);
  EXPECT_EQ(r.now_in(), state::trying);
}

TEST(memory_recipe, a_push_grants_nothing_by_itself) {
  recipe r;
  r.acquire({.ttl = 10s}, start, recipe_timing);
  r.on(answer(r, operation::acquire, reply::verdict::queued, start), start, recipe_timing);
  ASSERT_EQ(r.now_in(), state::queued);
  const effects a = r.on(push{push::hint::handed, {}, {}}, start + 1s, recipe_timing);
  EXPECT_EQ(a.event, claim_event::none);
  EXPECT_EQ(a.send, operation::acquire);
  r.on(answer(r, operation::acquire, reply::verdict::granted, start + 1s), start + 2s,
       recipe_timing);
  EXPECT_EQ(r.granted().deadline, start + 1s + 10s - 100ms - 2ms);
}

TEST(memory_recipe, a_claim_that_holds_or_is_fresh_needs_no_wake) {
  recipe r = held();
  for (const push::hint h : {push::hint::handed, push::hint::look, push::hint::restarted}) {
    const effects a = r.on(push{h, {}, {}}, start, recipe_timing);
    EXPECT_FALSE(a.send != operation::none || a.sleeps);
  }
  EXPECT_EQ(r.on_wake(start + 1h, recipe_timing).send, operation::none);
  EXPECT_EQ(r.now_in(), state::held);
}

TEST(memory_recipe, wanted_is_reported_once_a_grant) {
  recipe r = held();
  EXPECT_EQ(r.on(push{push::hint::wanted, {}, {}}, start, recipe_timing).event,
            claim_event::wanted);
  EXPECT_EQ(r.on(push{push::hint::wanted, {}, {}}, start, recipe_timing).event, claim_event::none);
}

TEST(memory_recipe, a_renewal_that_misses_its_push_learns_of_waiters_from_the_reply) {
  recipe r = held();
  ASSERT_EQ(r.renew(20s, start + 1s, recipe_timing).send, operation::renew);
  reply moved = answer(r, operation::renew, reply::verdict::moved, start + 1s);
  moved.others_wait = true;
  EXPECT_EQ(r.on(moved, start + 3s, recipe_timing).event,
            claim_event::extended | claim_event::wanted);
  EXPECT_EQ(r.granted().deadline, start + 1s + 20s - 200ms - 2ms);
}

TEST(memory_recipe, a_release_is_repeated_until_the_last_renewal_has_surely_run_out) {
  recipe r = held();
  r.renew(60s, start + 1s, recipe_timing);
  effects a = r.release(start + 2s, recipe_timing);
  time_point now = start + 2s;
  while (a.send != operation::none) {
    ASSERT_EQ(a.send, operation::leave);
    now = a.wake;
    a = r.on_wake(now, recipe_timing);
  }
  EXPECT_EQ(a.event, claim_event::ended);
  EXPECT_EQ(a.why, errc::outcome_unknown);
  EXPECT_GE(now, start + 1s + 60s);
  EXPECT_FALSE(a.orphan);
}

TEST(memory_recipe, what_the_store_took_away_is_released_without_asking) {
  recipe r = held();
  r.renew(10s, start, recipe_timing);
  const effects lost =
      r.on(answer(r, operation::renew, reply::verdict::not_owner, start), start, recipe_timing);
  EXPECT_EQ(lost.event, claim_event::lost);
  const effects a = r.release(start, recipe_timing);
  EXPECT_EQ(a.send, operation::none);
  EXPECT_EQ(a.event, claim_event::ended);
  EXPECT_EQ(a.why, errc::not_held);
}

TEST(memory_recipe, the_first_repetition_comes_after_an_eighth_of_the_op_timeout) {
  recipe r;
  effects a = r.acquire({.ttl = 10s}, start, recipe_timing);
  EXPECT_EQ(a.wake, start + 1s);
  EXPECT_EQ(a.spread, 125ms);
  a = r.on_wake(a.wake, recipe_timing);
  EXPECT_EQ(a.wake, start + 3s);
  EXPECT_EQ(a.spread, 250ms);
  recipe attempt;
  a = attempt.acquire({.one_attempt = true, .ttl = 10s}, start, recipe_timing);
  while (a.wake < start + 8s) a = attempt.on_wake(a.wake, recipe_timing);
  EXPECT_EQ(a.spread, 0s) << "it ends in time";
}

TEST(memory_recipe, the_lifetime_of_a_process_is_requested_as_a_lease_without_an_end) {
  timing process = recipe_timing;
  process.runs_out = false;
  recipe r;
  r.acquire({.ttl = 10s}, start, process);
  EXPECT_EQ(r.to_send(operation::acquire, start).ttl, forever);
  r.on(answer(r, operation::acquire, reply::verdict::granted, start), start, process);
  EXPECT_EQ(r.granted().deadline, base::never);
}

TEST(memory_recipe, an_acquire_is_surely_over_after_its_own_ttl) {
  recipe r;
  r.acquire({.one_attempt = true, .ttl = 60s}, start, recipe_timing);
  EXPECT_EQ(r.surely_over(), start + 60s + 600ms + 8s);
  r.on(answer(r, operation::acquire, reply::verdict::busy, start), start, recipe_timing);
  r.acquire({.ttl = 10s}, start, recipe_timing);
  EXPECT_EQ(r.surely_over(), start + 10s + 100ms + 8s);
  r.on(answer(r, operation::acquire, reply::verdict::granted, start), start, recipe_timing);
  r.renew(1s, start, recipe_timing);
  EXPECT_EQ(r.surely_over(), start + 10s + 100ms + 8s) << "no renewal shortens it";
  r.renew(20s, start + 1s, recipe_timing);
  EXPECT_EQ(r.surely_over(), start + 1s + 20s + 200ms + 8s);
}

TEST(memory_recipe, what_a_busy_or_another_kind_of_lock_answers_is_the_reason) {
  const auto refused_by = [](reply::verdict v) {
    recipe r;
    r.acquire({.one_attempt = true, .ttl = 10s}, start, recipe_timing);
    const effects a = r.on(answer(r, operation::acquire, v, start), start, recipe_timing);
    EXPECT_EQ(a.event, claim_event::refused);
    EXPECT_FALSE(a.orphan);
    return a.why;
  };
  EXPECT_EQ(refused_by(reply::verdict::busy), errc::timed_out);
  EXPECT_EQ(refused_by(reply::verdict::mismatch), errc::mismatch);
}

TEST(memory_recipe, the_first_in_the_queue_sleeps_until_the_lease_of_a_holder_has_expired) {
  const auto queued_with = [](bool first, duration lapse) {
    recipe r;
    r.acquire({.ttl = 10s}, start, recipe_timing);
    reply q = answer(r, operation::acquire, reply::verdict::queued, start);
    q.first = first;
    q.lapse = lapse;
    return r.on(q, start, recipe_timing);
  };
  EXPECT_EQ(queued_with(true, 1s).wake, start + 1s);
  EXPECT_EQ(queued_with(true, 1s).spread, 50ms);
  EXPECT_EQ(queued_with(true, 10ms).spread, 1ms);
  EXPECT_EQ(queued_with(true, 20s).spread, 250ms);
  EXPECT_EQ(queued_with(true, 1h).wake, start + 30s) << "messages may be lost";
  EXPECT_EQ(queued_with(false, 1s).wake, start + 30s);
  EXPECT_EQ(queued_with(false, 1s).spread, 3s);
}

TEST(memory_recipe, a_queued_claim_requests_again_when_it_wakes_or_the_store_has_restarted) {
  recipe r;
  r.acquire({.ttl = 10s}, start, recipe_timing);
  const reply queued = answer(r, operation::acquire, reply::verdict::queued, start);
  r.on(queued, start, recipe_timing);
  EXPECT_EQ(r.on(push{push::hint::look, {}, 2s}, start, recipe_timing).wake, start + 2s);
  EXPECT_EQ(r.on_wake(start + 2s, recipe_timing).send, operation::acquire);
  EXPECT_EQ(r.now_in(), state::trying);
  EXPECT_FALSE(r.on(push{push::hint::look, {}, 2s}, start, recipe_timing).sleeps);
  r.on(queued, start + 2s, recipe_timing);
  EXPECT_EQ(r.on(push{push::hint::restarted, {}, {}}, start + 3s, recipe_timing).send,
            operation::acquire);
  EXPECT_EQ(r.now_in(), state::trying);
  EXPECT_EQ(r.on(push{push::hint::restarted, {}, {}}, start + 3s, recipe_timing).send,
            operation::acquire);
  EXPECT_EQ(r.now_in(), state::resolving);
  EXPECT_EQ(r.on(push{push::hint::handed, {}, {}}, start + 3s, recipe_timing).send,
            operation::acquire)
      << "the reply to its request may be lost";
  EXPECT_EQ(r.on(push{push::hint::wanted, {}, {}}, start, recipe_timing).event, claim_event::none);
}

TEST(memory_recipe, a_claim_that_repeats_its_request_can_be_cancelled) {
  recipe r;
  r.acquire({.ttl = 10s}, start, recipe_timing);
  r.on_wake(start + 1s, recipe_timing);
  ASSERT_EQ(r.now_in(), state::resolving);
  EXPECT_EQ(r.cancel(start + 1s, recipe_timing).send, operation::leave);
  EXPECT_EQ(r.now_in(), state::withdrawing);
}

TEST(memory_recipe, a_cancel_withdraws_what_waits_and_nothing_else) {
  recipe r;
  EXPECT_EQ(r.cancel(start, recipe_timing).send, operation::none);
  r = held();
  EXPECT_EQ(r.cancel(start, recipe_timing).send, operation::none);
  EXPECT_EQ(r.now_in(), state::held);
  recipe queued;
  queued.acquire({.ttl = 10s}, start, recipe_timing);
  queued.on(answer(queued, operation::acquire, reply::verdict::queued, start), start,
            recipe_timing);
  EXPECT_EQ(queued.cancel(start, recipe_timing).send, operation::leave);
  const effects a = queued.on(answer(queued, operation::leave, reply::verdict::not_owner, start),
                              start, recipe_timing);
  EXPECT_EQ(a.event, claim_event::ended);
  EXPECT_EQ(a.why, errc{}) << "a waiter owns nothing";
}

TEST(memory_recipe, a_withdrawal_without_an_answer_becomes_an_orphan) {
  recipe r;
  r.acquire({.ttl = 10s}, start, recipe_timing);
  effects a = r.cancel(start, recipe_timing);
  time_point now = start;
  while (a.send != operation::none) {
    ASSERT_EQ(a.send, operation::leave);
    a = r.on_wake(now = a.wake, recipe_timing);
  }
  EXPECT_EQ(now, start + 8s);
  EXPECT_EQ(a.event, claim_event::ended);
  EXPECT_EQ(a.why, errc::outcome_unknown);
  EXPECT_TRUE(a.orphan);
}

TEST(memory_recipe, a_release_that_finds_no_lease_was_late_unless_it_was_repeated) {
  const auto end_of = [](int repetitions) {
    recipe r = held();
    effects a = r.release(start, recipe_timing);
    for (int i = 0; i < repetitions; ++i) a = r.on_wake(a.wake, recipe_timing);
    return r.on(answer(r, operation::leave, reply::verdict::not_owner, start), start,
                recipe_timing);
  };
  EXPECT_EQ(end_of(0).why, errc::not_held);
  EXPECT_EQ(end_of(1).event, claim_event::ended);
  EXPECT_EQ(end_of(1).why, errc{}) << "the first one was executed, and its reply lost";
  recipe r = held();
  r.release(start, recipe_timing);
  EXPECT_EQ(r.on(answer(r, operation::leave, reply::verdict::queued, start), start, recipe_timing)
                .event,
            claim_event::none);
  EXPECT_EQ(r.on(answer(r, operation::leave, reply::verdict::left, start), start, recipe_timing)
                .why,
            errc{});
}

TEST(memory_recipe, a_loss_shows_whether_another_holds_the_lock) {
  for (const bool others_hold : {true, false}) {
    recipe r = held();
    r.renew(10s, start, recipe_timing);
    reply gone = answer(r, operation::renew, reply::verdict::not_owner, start);
    gone.others_hold = others_hold;
    EXPECT_EQ(r.on(gone, start, recipe_timing).why, others_hold ? errc::lost : errc::not_held);
  }
}

TEST(memory_recipe, a_downgrade_is_requested_until_the_store_has_executed_it) {
  recipe r;
  EXPECT_EQ(r.downgrade(start, recipe_timing).send, operation::none);
  r = held();
  const effects a = r.downgrade(start, recipe_timing);
  EXPECT_EQ(a.send, operation::share);
  EXPECT_EQ(a.wake, start + 1s);
  EXPECT_TRUE(r.repeats());
  EXPECT_TRUE(r.to_send(operation::renew, start).shares) << "a renewal says so too";
  EXPECT_EQ(r.downgrade(start, recipe_timing).send, operation::none) << "it is one already";
  EXPECT_EQ(r.on_wake(a.wake, recipe_timing).send, operation::share);
  r.on(answer(r, operation::share, reply::verdict::shared, start), start, recipe_timing);
  EXPECT_FALSE(r.repeats());
  EXPECT_EQ(r.on_wake(start + 3s, recipe_timing).send, operation::none);
}

}  // namespace
}  // namespace holdfast::memory
