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

}  // namespace
}  // namespace holdfast::memory
