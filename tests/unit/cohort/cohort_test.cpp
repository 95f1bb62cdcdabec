// The cohort as a pure state machine: its line, its turns, its claims.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/unit/cohort/cohort_fixture.hpp"

namespace holdfast::cohort_tests {
namespace {

TEST_F(a_cohort, requests_once_for_all_waiters) {
  caller first, second;
  enter(first);
  EXPECT_TRUE(said(claim_record::acquire));
  enter(second);
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort, serves_its_line_in_order_under_one_grant) {
  caller a, b, c;
  enter(a);
  enter(b);
  enter(c);
  claim_record* const claim = granted_claim();
  EXPECT_TRUE(a.answered);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(a.token(), 7 * 1024);
  leave(a);
  EXPECT_EQ(b.token(), 7 * 1024 + 1);
  leave(b);
  EXPECT_EQ(c.token(), 7 * 1024 + 2);
  leave(c);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, passes_the_lock_on_when_wanted_and_the_budget_is_spent) {
  rules.options.turns = 2;
  caller a, b, c;
  enter(a);
  enter(b);
  enter(c);
  claim_record* const claim = granted_claim();
  leave(a, true);
  EXPECT_TRUE(b.answered) << "the second turn is within the budget";
  leave(b, true);
  EXPECT_FALSE(c.answered);
  EXPECT_EQ(said(claim_record::release), claim);
  claim_record* const next = machine.successor_of(*claim);
  EXPECT_NE(next, nullptr) << "the next claim acquires in the same write";
  EXPECT_EQ(said(claim_record::acquire), next);
}

TEST_F(a_cohort, continues_past_its_budget_while_nobody_else_waits) {
  rules.options.turns = 1;
  caller a, b;
  enter(a);
  enter(b);
  granted_claim();
  leave(a, false);
  EXPECT_TRUE(b.answered);
  leave(b);
  EXPECT_TRUE(said(claim_record::release));
}

TEST_F(a_cohort, requests_a_new_grant_after_turn_1023) {
  std::vector<std::unique_ptr<caller>> callers;
  for (int i = 0; i < 1025; ++i) enter(*callers.emplace_back(std::make_unique<caller>()));
  claim_record* const claim = granted_claim();
  for (int i = 0; i < 1024; ++i) {
    ASSERT_EQ(callers[i]->token(), 7 * 1024 + i);
    leave(*callers[i]);
  }
  EXPECT_EQ(said(claim_record::release), claim);
  claim_record* const next = said(claim_record::acquire);
  grant_to(*next, 8, 30s);
  EXPECT_EQ(callers[1024]->token(), 8 * 1024);
  leave(*callers[1024]);
}

TEST_F(a_cohort, refuses_an_attempt_while_somebody_waits) {
  caller a, b;
  enter(a);
  b.request.one_attempt = true;
  enter(b);
  EXPECT_TRUE(b.answered);
  EXPECT_EQ(b.why.code, errc::timed_out);
  machine.withdraw(a, errc::canceled, env.now());
}

TEST_F(a_cohort, requests_again_for_waiters_when_an_attempt_was_busy) {
  caller attempt, patient;
  attempt.request.one_attempt = true;
  enter(attempt);
  claim_record* const claim = said(claim_record::acquire);
  enter(patient);
  machine.on_refused(*claim, {errc::timed_out, {}});
  complete_answered();
  EXPECT_EQ(attempt.why.code, errc::timed_out);
  EXPECT_FALSE(patient.answered);
  EXPECT_FALSE(said(claim_record::acquire)->one_attempt);
  machine.withdraw(patient, errc::canceled, env.now());
}

TEST_F(a_cohort, notifies_all_waiters_when_the_backend_is_broken) {
  caller a, b;
  enter(a);
  enter(b);
  machine.on_refused(*said(claim_record::acquire), {errc::unavailable, "gone"});
  complete_answered();
  EXPECT_EQ(a.why.code, errc::unavailable);
  EXPECT_EQ(b.why.code, errc::unavailable);
  EXPECT_EQ(b.why.text, "gone");
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort, withdraws_its_claim_when_the_last_waiter_leaves) {
  caller a, b;
  enter(a);
  enter(b);
  claim_record* const claim = said(claim_record::acquire);
  machine.withdraw(a, errc::canceled, env.now());
  EXPECT_TRUE(silent()) << "b still waits";
  machine.withdraw(b, errc::canceled, env.now());
  EXPECT_EQ(said(claim_record::cancel), claim);
  machine.on_ended(*claim, {});
  EXPECT_FALSE(machine.is_busy());
}

TEST_F(a_cohort, requests_anew_for_a_newcomer_when_the_withdrawal_is_done) {
  caller a, b;
  enter(a);
  claim_record* const claim = said(claim_record::acquire);
  machine.withdraw(a, errc::canceled, env.now());
  said(claim_record::cancel);
  enter(b);
  machine.on_ended(*claim, {});
  EXPECT_TRUE(said(claim_record::acquire));
  machine.withdraw(b, errc::canceled, env.now());
}

TEST_F(a_cohort, does_not_withdraw_a_new_claim_by_a_cancel_that_was_overtaken) {
  caller gone, newcomer;
  enter(gone);
  claim_record* const claim = said(claim_record::acquire);
  machine.withdraw(gone, errc::canceled, env.now());  // noted, but not said yet
  machine.on_refused(*claim, {errc::unavailable, {}});
  enter(newcomer);
  EXPECT_EQ(said(claim_record::acquire), claim) << "and nothing else";
  grant_to(*claim, 7, 30s);
  ASSERT_TRUE(newcomer.granted);
  leave(newcomer);
}

TEST_F(a_cohort, ends_waits_and_loses_leases_when_closed) {
  caller a, b, late;
  enter(a);
  enter(b);
  claim_record* const claim = granted_claim();
  machine.close();
  complete_answered();
  EXPECT_EQ(b.why.code, errc::closed);
  EXPECT_EQ(a.granted->status(), errc::closed);
  EXPECT_EQ(said(claim_record::release), claim);
  enter(late);
  EXPECT_EQ(late.why.code, errc::closed);
  leave(a);
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort, ignores_a_grant_that_was_not_requested) {
  caller a;
  enter(a);
  claim_record* const claim = granted_claim();
  leave(a);
  said(claim_record::release);
  grant_to(*claim, 9, 30s);
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort, only_the_first_waiter_awaits_the_store_and_only_while_a_claim_requests) {
  caller first, second, third;
  EXPECT_EQ(machine.awaits_store(), nullptr);
  enter(first);
  enter(second);
  EXPECT_EQ(machine.awaits_store(), &first);
  granted_claim();
  EXPECT_EQ(machine.awaits_store(), nullptr);  // `second` waits for `first`
  leave(first);
  EXPECT_NE(second.granted, nullptr);
  enter(third);
  EXPECT_EQ(machine.awaits_store(), nullptr);
  machine.on_contended(*second.granted->of);
  env.advance(1min);  // the budget of turns is spent
  leave(second);
  EXPECT_EQ(machine.awaits_store(), &third);
}

TEST_F(a_cohort, the_first_waiter_after_one_left_awaits_the_store_in_its_place) {
  caller first, second;
  enter(first);
  enter(second);
  machine.withdraw(first, errc::canceled, env.now());
  EXPECT_EQ(machine.awaits_store(), &second);
  machine.withdraw(second, errc::canceled, env.now());
  EXPECT_EQ(machine.awaits_store(), nullptr);
}

TEST_F(a_cohort, refuses_all_waits_with_a_time_bound_and_no_others) {
  caller first, second, third;
  first.until = third.until = env.now() + 1min;
  enter(first);
  enter(second);
  enter(third);
  machine.refuse_timed_waits({errc::unavailable, {}}, env.now());
  complete_answered();
  EXPECT_EQ(first.why.code, errc::unavailable);
  EXPECT_FALSE(second.answered);
  EXPECT_EQ(third.why.code, errc::unavailable);
  granted_claim();
  ASSERT_NE(second.granted, nullptr);
  leave(second);
}

TEST_F(a_cohort, serves_the_waiters_that_remain_when_neighbours_leave_the_queue) {
  caller a, b, c, d;
  for (caller* const w : {&a, &b, &c, &d}) enter(*w);
  machine.withdraw(b, errc::canceled, env.now());
  machine.withdraw(c, errc::canceled, env.now());
  granted_claim();
  leave(a);
  EXPECT_FALSE(c.granted);
  ASSERT_TRUE(d.granted);
  leave(d);
}

}  // namespace
}  // namespace holdfast::cohort_tests
