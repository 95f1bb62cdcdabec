#include <algorithm>
#include <array>
#include <optional>

#include "tests/unit/backend/memory/contender.hpp"

namespace holdfast::memory {
namespace {

using memory_claim = memory_case;

TEST_F(memory_claim, a_free_lock_is_granted_from_inside_the_verb) {
  contender a(s, env);
  const auto sent = env.now();
  a.acquire(10s);
  EXPECT_EQ(a.heard.news(), "g");
  EXPECT_EQ(a.heard.deadline, sent + 10s - 100ms - 2ms);
  EXPECT_EQ(a.heard.grant.received_at, sent);
  EXPECT_FALSE(a.heard.grant.others_wait);
  a.release();
  EXPECT_EQ(a.heard.news(), "e");
  EXPECT_FALSE(a.heard.failure.code);
  EXPECT_EQ(env.alarms_set(), 0u);
}

TEST_F(memory_claim, the_clock_skew_is_taken_off_the_deadline) {
  contender a(s, env, "x", {.op_timeout = 4s, .clock_skew = 300ms});
  const auto sent = env.now();
  a.acquire(10s);
  EXPECT_EQ(a.heard.deadline, sent + 10s - 100ms - 2ms - 300ms);
  a.release();
}

TEST_F(memory_claim, a_deadline_counts_from_the_send_however_late_the_answer) {
  latency(1s);
  contender a(s, env);
  const auto sent = env.now();
  a.acquire(10s);
  EXPECT_EQ(a.heard.news(), "");
  env.advance(2s);
  ASSERT_EQ(a.heard.news(), "g");
  EXPECT_LE(a.heard.deadline, sent + 10s - 100ms - 2ms);
  EXPECT_EQ(a.heard.grant.received_at, sent + 2s);
  const auto asked = env.now();
  a.claim->renew(10s, 7);
  env.advance(2s);
  ASSERT_EQ(a.heard.news(), "m");
  EXPECT_EQ(a.heard.ticket, 7u);
  EXPECT_EQ(a.heard.deadline, asked + 10s - 100ms - 2ms);
}

TEST_F(memory_claim, one_attempt_on_a_held_lock_is_refused_and_leaves_nothing) {
  contender a(s, env), b(s, env);
  a.acquire();
  b.attempt();
  EXPECT_EQ(b.heard.news(), "r");
  EXPECT_EQ(b.heard.failure.code, errc::timed_out);
  EXPECT_EQ(a.heard.news(), "g");  // nobody waits: not wanted
  EXPECT_EQ(inspect(a).at(0).waiting, 0);
  b.attempt();
  EXPECT_EQ(b.heard.news(), "r");
  a.release();
  b.attempt();
  EXPECT_EQ(b.heard.news(), "g");
}

TEST_F(memory_claim, waiters_are_served_in_the_order_of_their_arrival) {
  contender a(s, env), b(s, env), c(s, env), d(s, env);
  a.acquire();
  b.acquire();
  c.acquire();
  d.acquire();
  EXPECT_EQ(a.heard.news(), "gw");
  a.release();
  EXPECT_EQ(b.heard.news(), "g");
  EXPECT_TRUE(b.heard.grant.others_wait);
  EXPECT_EQ(c.heard.news() + d.heard.news(), "");
  b.release();
  EXPECT_EQ(c.heard.news(), "g");
  c.release();
  EXPECT_EQ(d.heard.news(), "g");
  EXPECT_FALSE(d.heard.grant.others_wait);
}

TEST_F(memory_claim, numbers_grow_and_are_never_below_the_clock) {
  contender a(s, env), b(s, env, "y");
  std::int64_t last = env.wall().count() - 1;
  for (int i = 0; i < 100; ++i) {
    contender& p = i % 3 ? a : b;
    p.acquire();
    EXPECT_GT(p.heard.grant.number, last);
    last = p.heard.grant.number;
    p.release();
  }
  EXPECT_LT(last, std::int64_t{1} << 53);
  env.set_wall(env.wall() - 1h);
  env.advance(1s);
  a.acquire();
  EXPECT_GT(a.heard.grant.number, last);
}

// A claim that has gone must be in no list: AddressSanitizer finds one that is.
TEST_F(memory_claim, contenders_are_served_in_whatever_order_the_others_have_gone) {
  std::array<std::size_t, 3> leaving{0, 1, 2};
  do {
    std::array<std::optional<contender>, 3> idle;
    for (auto& one : idle) one.emplace(s, env);
    for (const std::size_t each : leaving) idle[each].reset();
    contender a(s, env), b(s, env);
    a.acquire();
    b.acquire();
    a.release();
    EXPECT_EQ(b.heard.news(), "g");
    b.release();
  } while (std::ranges::next_permutation(leaving).found);
}

TEST_F(memory_claim, a_cancelled_waiter_is_passed_over) {
  contender a(s, env), b(s, env), c(s, env);
  a.acquire();
  b.acquire();
  c.acquire();
  b.claim->cancel();
  EXPECT_EQ(b.heard.news(), "e");
  a.release();
  EXPECT_EQ(b.heard.news(), "");
  EXPECT_EQ(c.heard.news(), "g");
}

TEST_F(memory_claim, a_cancel_that_crosses_the_hand_over_passes_the_lock_on) {
  contender a(s, env), b(s, env), c(s, env);
  a.acquire();
  b.acquire();
  c.acquire();
  latency(10ms);
  a.release();
  b.claim->cancel();  // the store has not heard of either yet; the lock reaches b first
  env.advance(200ms);
  EXPECT_EQ(b.heard.news(), "e");
  EXPECT_EQ(c.heard.news(), "g");
}

TEST_F(memory_claim, a_cancel_after_the_grant_leaves_the_grant) {
  contender a(s, env);
  a.acquire();
  a.claim->cancel();
  EXPECT_EQ(a.heard.news(), "g");
  a.release();
  EXPECT_EQ(a.heard.news(), "e");
}

TEST_F(memory_claim, the_next_waiter_gets_the_lock_of_a_stopped_holder_when_its_lease_ends) {
  contender a(s, env), b(s, env);
  a.acquire(10s);
  b.acquire();
  a.cut_off(true);
  env.advance(9s);
  EXPECT_EQ(b.heard.news(), "");
  env.advance(1s + 500ms);
  EXPECT_EQ(b.heard.news(), "g");
  EXPECT_GT(b.heard.grant.number, a.heard.grant.number);
  EXPECT_LT(a.heard.deadline, b.heard.grant.received_at);
}

TEST_F(memory_claim, a_lock_handed_to_a_stopped_waiter_passes_to_the_next) {
  contender a(s, env), b(s, env), c(s, env);
  a.acquire();
  b.acquire();
  c.acquire();
  b.cut_off(true);
  a.release();
  EXPECT_EQ(c.heard.news(), "");
  env.advance(1s);  // the window of b and some jitter
  EXPECT_EQ(c.heard.news(), "g");
  EXPECT_EQ(b.heard.news(), "");
}

TEST_F(memory_claim, waiters_that_received_no_push_request_by_themselves) {
  contender a(s, env), b(s, env), c(s, env);
  a.acquire(1h);
  b.acquire();
  c.acquire();
  b.cut_off(true);
  c.cut_off(true);
  a.release();
  b.cut_off(false);
  c.cut_off(false);
  env.advance(34s);  // a nap is 30 s and a tenth
  EXPECT_NE(b.heard.told.find('g') == std::string::npos,
            c.heard.told.find('g') == std::string::npos);
  (b.heard.news().empty() ? c : b).release();
  env.advance(1s);
  EXPECT_NE((b.heard.told + c.heard.told).find('g'), std::string::npos);
}

TEST_F(memory_claim, when_the_first_waiter_leaves_the_next_one_watches_the_holder) {
  contender a(s, env), b(s, env), c(s, env);
  a.acquire(10s);
  b.acquire();
  c.acquire();
  b.claim->cancel();
  a.cut_off(true);
  env.advance(10s + 500ms);
  EXPECT_EQ(c.heard.news(), "g");
}

TEST_F(memory_claim, a_renewal_after_the_lease_has_expired_is_reported_as_lost) {
  contender a(s, env);
  a.acquire(1s);
  env.advance(1s);
  a.claim->renew(1s, 1);
  EXPECT_EQ(a.heard.news(), "gl");
  a.release();
  EXPECT_EQ(a.heard.news(), "e");
  EXPECT_EQ(a.heard.failure.code, errc::not_held);
}

TEST_F(memory_claim, a_stale_holder_neither_renews_nor_releases_its_successors_lease) {
  contender a(s, env), b(s, env);
  a.acquire(1s);
  env.advance(1s);
  b.acquire(10s);
  a.claim->renew(10s, 1);
  EXPECT_EQ(a.heard.news(), "gl");
  a.release();
  EXPECT_EQ(a.heard.news(), "e");
  EXPECT_EQ(a.heard.failure.code, errc::not_held);
  ASSERT_EQ(inspect(b).size(), 1u);
  b.claim->renew(10s, 1);
  EXPECT_EQ(b.heard.news(), "gm");
  a.acquire(1s);  // a new request: the old one has ended
  EXPECT_EQ(a.heard.news(), "");
}

TEST_F(memory_claim, a_stale_release_that_was_never_renewed_frees_nobody_elses_lock) {
  contender a(s, env), b(s, env), c(s, env);
  a.acquire(1s);
  env.advance(1s);
  b.acquire(10s);
  a.release();
  EXPECT_EQ(a.heard.news(), "ge");
  EXPECT_EQ(a.heard.failure.code, errc::not_held);
  c.attempt();
  EXPECT_EQ(c.heard.news(), "r");
}

TEST_F(memory_claim, release_with_a_successor_is_queued_behind_the_waiters) {
  contender a(s, env), b(s, env);
  note_taker second;
  auto next = a.store->open("x", second);
  a.acquire();
  b.acquire();
  const seam::successor after{next.get(), {.ttl = 10s}};
  a.claim->release(&after);
  EXPECT_EQ(a.heard.news(), "gwe");
  EXPECT_EQ(b.heard.news(), "gw");
  EXPECT_EQ(second.news(), "");
  b.release();
  EXPECT_EQ(second.news(), "g");
  next->release(nullptr);
  EXPECT_EQ(second.news(), "e");
}

TEST_F(memory_claim, verbs_called_from_inside_a_sink_do_not_nest_its_calls) {
  contender a(s, env);
  int depth = 0, deepest = 0, cycles = 0;
  a.heard.also = [&](char c) {
    deepest = std::max(deepest, ++depth);
    if (c == 'g') a.release();
    if (c == 'e' && ++cycles < 10'000) a.acquire();
    --depth;
  };
  a.acquire();
  EXPECT_EQ(cycles, 10'000);
  EXPECT_EQ(deepest, 1);
}

TEST_F(memory_claim, may_be_destroyed_from_inside_the_call_that_ends_it) {
  backend store(s, env, usual);
  note_taker heard;
  auto claim = store.open("x", heard);
  heard.also = [&](char c) {
    if (c == 'e') claim.reset();
  };
  claim->acquire({.ttl = 10s});
  claim->release(nullptr);
  EXPECT_EQ(heard.news(), "ge");
  EXPECT_EQ(claim, nullptr);
  store.close(env.now());
}

}  // namespace
}  // namespace holdfast::memory
