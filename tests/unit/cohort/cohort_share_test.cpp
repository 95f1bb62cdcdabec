// The cohort with readers, permits, limits of its holders, and lingering.
#include <gtest/gtest.h>

#include "tests/unit/cohort/cohort_fixture.hpp"

namespace holdfast::cohort_tests {
namespace {

using holdfast::lock_mode;

class a_cohort_of_readers : public a_cohort {
 protected:
  a_cohort_of_readers() { rules.can.modes = 7; }

  struct reader : caller {
    explicit reader(duration ttl = 30s) : caller(ttl) { request.mode = lock_mode::shared; }
  };
  struct taker : caller {
    explicit taker(std::uint32_t many) {
      request.mode = lock_mode::permit;
      request.permits = many;
      request.total_permits = 10;
    }
  };
  claim_record* grant_next(std::int64_t number, duration ttl = 30s) {
    claim_record* const c = said(claim_record::acquire);
    if (c) grant_to(*c, number, ttl);
    return c;
  }
  claim_record* grant_past_a_line(std::int64_t number) {
    claim_record* const c = said(claim_record::acquire);
    if (!c) return c;
    grant g{.number = number, .deadline = env.now() + 30s, .received_at = env.now()};
    g.waiters_unknown = true;
    machine.on_granted(*c, g);
    complete_answered();
    return c;
  }
};

TEST_F(a_cohort_of_readers, are_let_in_together_with_one_token) {
  reader a, b, late;
  enter(a);
  enter(b);
  claim_record* const claim = grant_next(7);
  EXPECT_EQ(claim->grant.mode(), lock_mode::shared);
  EXPECT_EQ(a.token(), 7 * 1024);
  EXPECT_EQ(b.token(), 7 * 1024);
  enter(late);
  EXPECT_EQ(late.token(), 7 * 1024) << "no question to the store";
  leave(a);
  leave(late);
  EXPECT_TRUE(silent());
  leave(b);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort_of_readers, let_nobody_past_a_writer_of_their_own) {
  reader a, late;
  caller writer;
  enter(a);
  claim_record* const claim = grant_next(7);
  enter(writer);
  enter(late);
  EXPECT_FALSE(late.answered);
  leave(a);
  EXPECT_EQ(said(claim_record::release), claim) << "a share is never made exclusive in place";
  claim_record* const next = grant_next(8);
  EXPECT_EQ(next->grant.mode(), lock_mode::exclusive);
  EXPECT_TRUE(writer.answered);
  EXPECT_FALSE(late.answered);
  leave(writer);
  EXPECT_EQ(late.token(), 8 * 1024 + 1) << "under the writer's grant, with a token of their own";
  leave(late);
  said(claim_record::release);
}

TEST_F(a_cohort_of_readers, refuse_one_attempt_at_once_behind_a_writer_of_their_own) {
  reader a, attempt;
  caller writer;
  attempt.request.one_attempt = true;
  enter(a);
  grant_next(7);
  enter(writer);
  enter(attempt);
  EXPECT_TRUE(attempt.answered);
  EXPECT_EQ(attempt.why.code, errc::timed_out);
  leave(a);
}

TEST_F(a_cohort_of_readers, refuse_one_attempt_when_the_door_is_shut_before_it_can_begin) {
  reader a(10s), attempt(30s);
  attempt.request.one_attempt = true;
  enter(a);
  claim_record* const claim = grant_next(7, 10s);
  enter(attempt);
  EXPECT_FALSE(attempt.answered);
  EXPECT_EQ(said(claim_record::renew), claim) << "too little is left for it";
  machine.on_contended(*claim);
  machine.on_extended(*claim, env.now() + 30s, claim->grant.ticket(), env.now());
  complete_answered();
  EXPECT_TRUE(attempt.answered);
  EXPECT_EQ(attempt.why.code, errc::timed_out) << "it does not wait for the other to leave";
  leave(a);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort_of_readers, let_nobody_in_once_somebody_else_waits) {
  reader a, late;
  enter(a);
  claim_record* const claim = grant_next(7);
  machine.on_contended(*claim);
  enter(late);
  EXPECT_FALSE(late.answered);
  leave(a);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_NE(machine.successor_of(*claim), nullptr);
  claim_record* const next = said(claim_record::acquire);
  EXPECT_EQ(machine.successor_of(*claim), nullptr) << "its request was sent";
  grant_to(*next, 9, 30s);
  EXPECT_TRUE(late.answered);
  leave(late);
  said(claim_record::release);
}

// A thread that reads already joins its own turn without the mutex.
TEST_F(a_cohort_of_readers, do_not_join_their_own_turn_once_somebody_else_waits) {
  reader a;
  enter(a);
  claim_record* const claim = grant_next(7);
  EXPECT_TRUE(a.granted->is_admitting);
  machine.on_contended(*claim);
  EXPECT_FALSE(a.granted->is_admitting);
  leave(a);
}

TEST_F(a_cohort_of_readers, do_not_join_their_own_turn_under_a_grant_that_somebody_else_waits_for) {
  reader a;
  enter(a);
  machine.on_granted(*said(claim_record::acquire),
                     grant{.number = 7, .deadline = env.now() + 30s, .others_wait = true});
  ASSERT_TRUE(a.granted);
  EXPECT_FALSE(a.granted->is_admitting);
  leave(a);
}

TEST_F(a_cohort_of_readers, do_not_join_their_own_turn_before_a_writer_of_their_own) {
  caller first, writer;
  reader a;
  enter(first);
  grant_next(7);
  enter(a);
  enter(writer);
  leave(first);
  ASSERT_TRUE(a.granted);
  EXPECT_FALSE(a.granted->is_admitting);
  leave(a);
  leave(writer);
}

TEST_F(a_cohort_of_readers, do_not_join_their_own_turn_where_the_store_reports_no_waiters) {
  rules.can.contention = holdfast::seam::contention_signal::poll;
  reader a;
  enter(a);
  grant_next(7);
  EXPECT_FALSE(a.granted->is_admitting);
  leave(a);
}

// A reply to a renewal may be lost.
TEST_F(a_cohort_of_readers, repeat_a_renewal_while_one_of_them_renews_by_itself) {
  reader by_hand, by_itself;
  by_hand.renews = false;
  enter(by_hand);
  claim_record* const claim = grant_next(7);
  enter(by_itself);
  for (int sent = 0; sent < 2; ++sent) {
    env.advance(machine.next_tick() - env.now());
    tick();
    EXPECT_EQ(said(claim_record::renew), claim);
  }
  leave(by_hand);
  leave(by_itself);
}

TEST_F(a_cohort_of_readers, have_one_token_under_one_share_also_one_after_the_other) {
  rules.options.linger = 60s;
  reader a, b;
  enter(a);
  grant_next(7);
  const std::int64_t token = a.token();
  leave(a);
  enter(b);
  EXPECT_EQ(b.token(), token) << "readers of other clients have the same";
  leave(b);
}

TEST_F(a_cohort_of_readers, go_in_when_the_writer_before_them_leaves_the_line) {
  reader a, late;
  caller writer;
  enter(a);
  grant_next(7);
  enter(writer);
  enter(late);
  machine.withdraw(writer, errc::canceled, env.now());
  complete_answered();
  EXPECT_TRUE(late.granted);
  leave(a);
  leave(late);
  said(claim_record::release);
}

TEST_F(a_cohort_of_readers, are_lost_together_and_one_by_one_at_a_limit_of_its_own) {
  reader a, b;
  a.max_hold = 5s;
  enter(a);
  enter(b);
  claim_record* const claim = grant_next(7);
  env.advance(6s);
  tick();
  EXPECT_FALSE(a.granted->held());
  EXPECT_TRUE(b.granted->held());
  env.advance(30s);
  tick();
  EXPECT_FALSE(b.granted->held());
  while (claim_record* c = machine.effects().take_scheduled()) c->pending_verbs = 0;
  leave(a);
  leave(b);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort_of_readers, a_share_of_manual_renewal_is_not_extended_by_the_others) {
  reader a(10s), b(10s);
  a.renews = false;
  enter(a);
  enter(b);
  claim_record* const claim = grant_next(7, 10s);
  env.advance(8s);
  tick();
  said(claim_record::renew);
  machine.on_extended(*claim, env.now() + 10s, claim->grant.ticket(), env.now());
  EXPECT_TRUE(b.granted->held());
  env.advance(3s);
  EXPECT_FALSE(a.granted->held());
  EXPECT_TRUE(b.granted->held());
  leave(a);
  leave(b);
  said(claim_record::release);
}

TEST_F(a_cohort_of_readers, a_writer_becomes_a_reader_and_lets_readers_in) {
  caller writer;
  reader waiting;
  rules.can.downgrade = true;
  enter(writer);
  claim_record* const claim = grant_next(7);
  enter(waiting);
  EXPECT_FALSE(machine.downgrade(*writer.granted, env.now()).code);
  complete_answered();
  EXPECT_EQ(said(claim_record::downgrade), claim);
  EXPECT_EQ(waiting.token(), writer.token());
  EXPECT_TRUE(machine.downgrade(*waiting.granted, env.now()).code) << "a share is one already";
  leave(writer);
  leave(waiting);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort_of_readers, permits_are_requested_one_after_the_other_while_others_are_held) {
  taker a(2), b(3);
  enter(a);
  enter(b);
  claim_record* const first = grant_next(7);
  EXPECT_TRUE(a.answered);
  EXPECT_FALSE(b.answered);
  claim_record* const second = said(claim_record::acquire);
  EXPECT_NE(second, first);
  EXPECT_EQ(second->grant.permits(), 3u);
  grant_to(*second, 8, 30s);
  EXPECT_TRUE(b.answered);
  leave(a);
  EXPECT_EQ(said(claim_record::release), first);
  machine.on_ended(*first, {});
  leave(b);
  EXPECT_EQ(said(claim_record::release), second);
}

TEST_F(a_cohort_of_readers, permits_requested_for_a_waiter_that_left_go_to_no_other) {
  taker a(2), b(3);
  enter(a);
  claim_record* const claim = said(claim_record::acquire);
  enter(b);
  machine.withdraw(a, errc::canceled, env.now());
  complete_answered();
  EXPECT_EQ(said(claim_record::cancel), claim);
  grant_to(*claim, 7, 30s);  // too late to withdraw
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_EQ(said(claim_record::acquire)->grant.permits(), 3u);
  machine.withdraw(b, errc::canceled, env.now());
}

TEST_F(a_cohort_of_readers, an_idle_grant_is_kept_for_a_while) {
  rules.options.linger = 50ms;
  caller a, b;
  enter(a);
  claim_record* const claim = grant_next(7);
  leave(a);
  EXPECT_TRUE(silent());
  enter(b);
  EXPECT_EQ(b.token(), 7 * 1024 + 1);
  leave(b);
  env.advance(51ms);
  tick();
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort_of_readers, an_idle_grant_is_given_back_when_somebody_waits_or_it_runs_out) {
  rules.options.linger = 60s;
  caller a, b;
  enter(a);
  claim_record* claim = grant_next(7);
  leave(a);
  machine.on_contended(*claim);
  EXPECT_EQ(said(claim_record::release), claim);
  machine.on_ended(*claim, {});
  enter(b);
  claim = grant_next(8, 30s);
  leave(b);
  EXPECT_LE(machine.next_tick(), env.now() + 30s);
  env.advance(29s);
  tick();
  EXPECT_EQ(said(claim_record::release), claim) << "before its ttl has run out";
}

// A lock taken past a line: the first waiter is to ask for it, but that one may be lost.
TEST_F(a_cohort_of_readers, a_grant_that_saw_no_queue_checks_it_once_before_it_is_kept) {
  rules.options.linger = 60s;
  caller a, b;
  enter(a);
  claim_record* const claim = grant_past_a_line(7);
  EXPECT_TRUE(silent()) << "nobody is kept waiting by it yet";
  leave(a);
  EXPECT_EQ(said(claim_record::check_waiters), claim);
  enter(b);
  leave(b);
  EXPECT_TRUE(silent());
  machine.on_contended(*claim);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort_of_readers, a_grant_that_saw_no_queue_checks_it_when_its_turns_are_spent) {
  rules.options.turns = 2;
  caller a, b, c, d;
  for (caller* w : {&a, &b, &c, &d}) enter(*w);
  claim_record* const claim = grant_past_a_line(7);
  leave(a);
  EXPECT_TRUE(silent()) << "it has a turn left, whoever waits";
  leave(b);
  EXPECT_EQ(said(claim_record::check_waiters), claim);
  machine.on_contended(*claim);
  leave(c);
  EXPECT_FALSE(d.answered);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort_of_readers, a_grant_that_saw_no_queue_checks_it_when_readers_join) {
  rules.can.downgrade = false;
  caller a;
  enter(a);
  claim_record* const claim = grant_past_a_line(7);
  EXPECT_EQ(machine.downgrade(*a.granted, env.now()).code, std::error_code());
  EXPECT_EQ(said(claim_record::check_waiters), claim);
  leave(a);
}

TEST_F(a_cohort_of_readers, a_grant_that_is_wanted_checks_no_queue) {
  rules.options.linger = 60s;
  caller a;
  enter(a);
  claim_record* const claim = grant_past_a_line(7);
  machine.on_contended(*claim);
  leave(a);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort_of_readers, a_release_that_reports_does_not_linger) {
  rules.options.linger = 60s;
  caller a;
  asker report;
  enter(a);
  claim_record* const claim = grant_next(7);
  leave(a, false, &report);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort_of_readers, may_join_their_own_turn_also_after_another_reader_has_come) {
  reader a, b;
  enter(a);
  grant_next(7);
  enter(b);
  ASSERT_TRUE(b.granted);
  EXPECT_TRUE(a.granted->is_admitting);
  EXPECT_TRUE(b.granted->is_admitting);
  leave(a);
  leave(b);
}

TEST_F(a_cohort_of_readers, that_linger_are_not_counted_as_reused_by_a_writer) {
  holdfast::cohort::counters counts;
  rules.counts = &counts;
  rules.options.linger = 60s;
  reader a;
  caller writer;
  enter(a);
  claim_record* const claim = grant_next(7);
  leave(a);
  enter(writer);
  EXPECT_EQ(said(claim_record::release), claim);
  grant_next(8);
  ASSERT_TRUE(writer.granted);
  EXPECT_EQ(counts.read().linger_reuses, 0u);
  leave(writer);
}

TEST_F(a_cohort_of_readers, a_grant_that_has_expired_is_not_counted_as_reused) {
  holdfast::cohort::counters counts;
  rules.counts = &counts;
  rules.options.linger = 60s;
  caller a, b;
  enter(a);
  claim_record* const claim = grant_next(7);
  leave(a);
  env.freeze(30s);
  enter(b);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_EQ(counts.read().linger_reuses, 0u);
  grant_next(8);
  leave(b);
}

TEST_F(a_cohort_of_readers, a_share_does_not_linger_while_a_writer_waits) {
  rules.options.linger = 60s;
  reader a;
  caller writer;
  enter(a);
  claim_record* const claim = grant_next(7);
  enter(writer);
  leave(a);
  EXPECT_EQ(said(claim_record::release), claim);
  grant_next(8);
  ASSERT_TRUE(writer.granted);
  leave(writer);
}

TEST_F(a_cohort_of_readers, a_release_before_a_writer_is_reported_when_the_store_has_answered) {
  holdfast::cohort::counters counts;
  rules.counts = &counts;
  reader a;
  caller writer;
  asker report;
  enter(a);
  claim_record* const claim = grant_next(7);
  enter(writer);
  leave(a, false, &report);
  EXPECT_FALSE(report.answered) << "the share has still to be released in the store";
  EXPECT_EQ(said(claim_record::release), claim);
  machine.on_ended(*claim, {});
  complete_answered();
  EXPECT_TRUE(report.answered);
  EXPECT_EQ(counts.read().local_handoffs, 0u);
  machine.withdraw(writer, errc::canceled, env.now());
}

TEST_F(a_cohort_of_readers, are_counted_as_lost_once_while_others_stay) {
  holdfast::cohort::counters counts;
  rules.counts = &counts;
  reader a, b;
  a.max_hold = 5s;
  enter(a);
  enter(b);
  grant_next(7);
  for (int i = 0; i < 3; ++i) {
    env.advance(5s);
    tick();
  }
  EXPECT_TRUE(b.granted->held());
  EXPECT_EQ(counts.read().losses, 1u);
  leave(a);
  leave(b);
  EXPECT_EQ(counts.read().losses, 1u);
}

}  // namespace
}  // namespace holdfast::cohort_tests
