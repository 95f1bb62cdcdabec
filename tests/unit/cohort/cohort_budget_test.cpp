// The cohort as a pure state machine: how long it keeps a grant for its own callers.
#include <gtest/gtest.h>

#include "tests/unit/cohort/cohort_fixture.hpp"

namespace holdfast::cohort_tests {
namespace {

using holdfast::lock_mode;
using holdfast::seam::contention_signal;

TEST_F(a_cohort, begins_its_budget_of_time_with_the_first_waiter_and_not_with_a_later_one) {
  caller a, b, c;
  enter(a);
  claim_record* const claim = granted_claim();
  env.advance(1s);
  enter(b);
  env.advance(3ms);
  enter(c);
  env.advance(2ms);
  leave(a, true);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, assumes_that_others_wait_where_the_store_is_silent) {
  rules.can.contention = contention_signal::silent;
  rules.options.turns = 1;
  caller a, b;
  enter(a);
  enter(b);
  claim_record* const claim = granted_claim();
  leave(a);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, passes_the_lock_on_when_its_grant_shows_that_others_wait) {
  rules.options.turns = 1;
  caller a, b;
  enter(a);
  enter(b);
  claim_record* const claim = said(claim_record::acquire);
  machine.on_granted(*claim, grant{7, env.now() + 30s, env.now(), true});
  complete_answered();
  leave(a);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, gives_a_lock_back_that_somebody_asked_for_though_others_wait_here) {
  caller a, b;
  enter(a);
  enter(b);
  claim_record* const claim = granted_claim();
  machine.on_revocation_requested(*claim);
  leave(a);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, polls_before_a_turn_ends_only_when_the_answer_is_of_use) {
  rules.can.contention = contention_signal::poll;
  caller a, b, c;
  enter(a);
  granted_claim();
  enter(b);
  EXPECT_FALSE(machine.should_poll(*a.granted, env.now() + 5ms - 1ns)) << "within the budget";
  EXPECT_TRUE(machine.should_poll(*a.granted, env.now() + 5ms));
  machine.withdraw(b, errc::canceled, env.now());
  EXPECT_FALSE(machine.should_poll(*a.granted, env.now() + 5ms)) << "no caller waits here";
  enter(c);
  rules.can.contention = contention_signal::push;
  EXPECT_FALSE(machine.should_poll(*a.granted, env.now() + 5ms)) << "the store reports it";
  rules.can.contention = contention_signal::poll;
  machine.close();
  EXPECT_FALSE(machine.should_poll(*a.granted, env.now() + 5ms)) << "its claim is released";
  leave(a);
}

TEST_F(a_cohort, polls_before_a_share_ends_as_later_readers_may_join_it) {
  rules.can.contention = contention_signal::poll;
  rules.options.turns = 1;
  caller writer;
  reading_caller reader;
  enter(writer);
  granted_claim();
  EXPECT_FALSE(machine.should_poll(*writer.granted, env.now()));
  EXPECT_FALSE(machine.needs_clock(*writer.granted));
  leave(writer);
  claim_record* const claim = said(claim_record::release);
  machine.on_ended(*claim, {});
  enter(reader);
  granted_claim();
  EXPECT_TRUE(machine.should_poll(*reader.granted, env.now()));
  EXPECT_TRUE(machine.needs_clock(*reader.granted));
  leave(reader);
}

TEST_F(a_cohort, needs_the_time_of_a_leave_for_its_budget_and_for_lingering) {
  caller a, b;
  enter(a);
  granted_claim();
  EXPECT_FALSE(machine.needs_clock(*a.granted));
  enter(b);
  EXPECT_TRUE(machine.needs_clock(*a.granted));
  machine.withdraw(b, errc::canceled, env.now());
  EXPECT_FALSE(machine.needs_clock(*a.granted));
  rules.options.linger = 1ms;
  EXPECT_TRUE(machine.needs_clock(*a.granted));
  leave(a);
}

TEST_F(a_cohort, admits_readers_for_its_budget_where_it_polls) {
  rules.can.contention = contention_signal::poll;
  reading_caller a, second, third, late;
  enter(a);
  claim_record* const claim = granted_claim();
  machine.on_contended(*claim);
  enter(second);
  EXPECT_TRUE(second.granted) << "the budget begins";
  env.advance(5ms - 1ns);
  enter(third);
  EXPECT_TRUE(third.granted);
  env.advance(1ns);
  enter(late);
  EXPECT_FALSE(late.granted);
  for (caller* w : {&a, &second, &third}) leave(*w);
  ASSERT_TRUE(late.granted) << "after them";
  leave(late);
}

TEST_F(a_cohort, polls_the_store_while_a_grant_lingers_unseen) {
  rules.can.contention = contention_signal::poll;
  rules.options.linger = 60s;
  caller a;
  EXPECT_EQ(machine.lingering_unseen(), nullptr);
  enter(a);
  claim_record* const claim = granted_claim();
  EXPECT_EQ(machine.lingering_unseen(), nullptr) << "a turn is inside";
  leave(a);
  EXPECT_EQ(machine.lingering_unseen(), claim);
  EXPECT_EQ(machine.next_tick(), env.now() + 1ms);
  env.advance(1ms);
  machine.polled(*claim, false, env.now());
  EXPECT_TRUE(silent());
  EXPECT_EQ(machine.next_tick(), env.now() + 1ms);
  rules.can.contention = contention_signal::push;
  EXPECT_EQ(machine.lingering_unseen(), nullptr) << "the store reports waiters";
  machine.polled(*claim, true, env.now());
  EXPECT_EQ(said(claim_record::release), claim);
  machine.polled(*claim, true, env.now());
  EXPECT_TRUE(silent()) << "it is released";
}

// One of two callers is inside when a poll finds that another client waits.
struct a_cohort_that_polls : a_cohort {
  a_cohort_that_polls() {
    rules.can.contention = contention_signal::poll;
    rules.options.turns = 1;
    enter(a);
    enter(b);
    claim = granted_claim();
    machine.polled(*claim, true, env.now());
  }
  caller a, b;
  claim_record* claim;
};

TEST_F(a_cohort_that_polls, hands_a_wanted_grant_over_when_its_turn_ends) {
  leave(a);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(said(claim_record::release), claim);
  machine.withdraw(b, errc::canceled, env.now());
}

TEST_F(a_cohort_that_polls, keeps_a_grant_in_use_until_its_turn_ends) {
  EXPECT_TRUE(silent());
  EXPECT_TRUE(a.granted->held());
  machine.polled(*claim, false, env.now());
  leave(a);
  EXPECT_TRUE(b.granted) << "the waiters have left";
  leave(b);
}

TEST_F(a_cohort, lets_a_grant_linger_until_an_eighth_of_its_ttl_is_left) {
  rules.options.linger = 60s;
  caller a;
  a.renews = false;
  enter(a);
  claim_record* const claim = granted_claim();
  const time_point end = env.now() + 30s - 3750ms;
  leave(a);
  EXPECT_TRUE(silent());
  EXPECT_EQ(machine.next_tick(), end);
  env.advance(end - env.now() - 1ns);
  tick();
  EXPECT_TRUE(silent());
  env.advance(1ns);
  tick();
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, lets_no_grant_linger_that_ends_too_soon_or_is_lost) {
  rules.options.linger = 60s;
  caller late, lost;
  late.renews = false;
  enter(late);
  claim_record* const claim = granted_claim();
  env.advance(30s - 3750ms);
  leave(late);
  EXPECT_EQ(said(claim_record::release), claim);
  machine.on_ended(*claim, {});
  enter(lost);
  granted_claim();
  machine.on_lost(*claim, errc::lost);
  leave(lost);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, lets_a_grant_linger_for_the_time_of_the_option) {
  rules.options.linger = 50ms;
  caller a;
  enter(a);
  claim_record* const claim = granted_claim();
  leave(a);
  EXPECT_EQ(machine.next_tick(), env.now() + 50ms);
  env.advance(50ms - 1ns);
  tick();
  EXPECT_TRUE(silent());
  env.advance(1ns);
  tick();
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, starts_no_turn_under_a_lingering_grant_whose_deadline_has_passed) {
  rules.options.linger = 60s;
  caller a, b;
  enter(a);
  claim_record* const claim = granted_claim();
  leave(a);
  env.advance(30s);  // no timer has fired
  enter(b);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_TRUE(said(claim_record::acquire));
}

TEST_F(a_cohort, releases_a_lingering_grant_that_is_lost) {
  rules.options.linger = 60s;
  caller a;
  enter(a);
  claim_record* const claim = granted_claim();
  leave(a);
  machine.on_lost(*claim, errc::lost);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, keeps_no_permit_for_the_next_caller) {
  rules.options.linger = 60s;
  permit_caller a(2), b(2);
  enter(a);
  claim_record* const first = granted_claim();
  enter(b);
  claim_record* const second = said(claim_record::acquire);
  EXPECT_NE(second, first);
  leave(a);
  EXPECT_FALSE(b.answered) << "its own request is under way";
  EXPECT_EQ(said(claim_record::release), first);
  machine.on_ended(*first, {});
  grant_to(*second, 8, 30s);
  ASSERT_TRUE(b.granted);
  leave(b);
  EXPECT_EQ(said(claim_record::release), second) << "a permit does not linger";
}

TEST_F(a_cohort, gives_no_lock_to_the_holder_of_permits) {
  permit_caller a(1);
  caller writer;
  enter(a);
  claim_record* const claim = granted_claim();
  enter(writer);
  leave(a);
  EXPECT_FALSE(writer.answered);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, answers_a_release_at_once_that_sends_nothing) {
  reading_caller a, b;
  caller writer;
  asker joined, handed, last;
  enter(a);
  enter(b);
  claim_record* const claim = granted_claim();
  leave(a, false, &joined);
  EXPECT_TRUE(joined.answered) << "another reader is inside";
  EXPECT_FALSE(joined.why.code);
  leave(b, false, &last);
  EXPECT_FALSE(last.answered);
  EXPECT_EQ(said(claim_record::release), claim);
  machine.on_ended(*claim, {});
  complete_answered();
  EXPECT_TRUE(last.answered);
  enter(writer);
  caller next;
  enter(next);
  granted_claim();
  leave(writer, false, &handed);
  EXPECT_TRUE(handed.answered) << "the next caller has the lock";
  EXPECT_FALSE(handed.why.code);
  leave(next);
}

TEST_F(a_cohort, answers_a_release_after_its_close) {
  reading_caller a, b;
  asker report;
  enter(a);
  enter(b);
  claim_record* const claim = granted_claim();
  machine.close();
  EXPECT_EQ(said(claim_record::release), claim);
  leave(a, false, &report);
  EXPECT_TRUE(report.answered);
  EXPECT_EQ(report.why.code, errc::closed);
  EXPECT_EQ(b.granted->status(), errc::closed);
  leave(b);
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort, reports_the_release_of_a_lost_lease_after_which_others_were_admitted) {
  rules.options.admit_after_loss = true;
  caller a;
  asker report;
  enter(a);
  claim_record* const claim = granted_claim();
  machine.on_lost(*claim, errc::lost);
  leave(a, false, &report);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_FALSE(report.answered);
  machine.on_ended(*claim, {errc::not_held, {}});
  complete_answered();
  EXPECT_EQ(report.why.code, errc::not_held);
}

TEST_F(a_cohort, releases_its_grant_when_the_last_of_several_readers_has_left) {
  reading_caller a, b, c;
  for (caller* w : {&a, &b, &c}) enter(*w);
  claim_record* const claim = granted_claim();
  const turn* const last = c.granted;
  ASSERT_TRUE(last);
  leave(b);
  leave(a);
  EXPECT_TRUE(silent());
  EXPECT_EQ(last->next_inside(), nullptr) << "no turn is left behind it";
  leave(c);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, keeps_the_store_exclusive_when_a_later_turn_becomes_a_reader) {
  rules.can.downgrade = true;
  caller first, writer;
  reading_caller reader;
  for (caller* w : {&first, &writer}) enter(*w);
  claim_record* const claim = granted_claim();
  leave(first);
  enter(reader);
  ASSERT_TRUE(writer.granted);
  EXPECT_FALSE(machine.downgrade(*writer.granted, env.now()).code);
  complete_answered();
  EXPECT_TRUE(silent()) << "other clients' readers would have an older token";
  EXPECT_EQ(claim->grant.mode(), lock_mode::exclusive);
  EXPECT_EQ(reader.token(), writer.token());
  leave(writer);
  leave(reader);
}

TEST_F(a_cohort, downgrades_only_an_exclusive_lease_that_is_held) {
  permit_caller taker(1);
  enter(taker);
  claim_record* const permits = granted_claim();
  EXPECT_EQ(machine.downgrade(*taker.granted, env.now()).code, errc::mismatch);
  EXPECT_EQ(machine.downgrade(*taker.granted, env.now()).text, "the lease is not exclusive");
  machine.on_lost(*permits, errc::lost);
  EXPECT_EQ(machine.downgrade(*taker.granted, env.now()).code, errc::lost);
  leave(taker);
}

TEST_F(a_cohort, checks_the_queue_that_its_grant_could_not_see_for_the_first_reader) {
  reading_caller reader;
  enter(reader);
  claim_record* const claim = said(claim_record::acquire);
  grant unseen{7, env.now() + 30s, env.now(), false};
  unseen.waiters_unknown = true;
  machine.on_granted(*claim, unseen);
  complete_answered();
  ASSERT_TRUE(reader.granted);
  EXPECT_EQ(said(claim_record::check_waiters), claim) << "later readers will keep it";
  leave(reader);
}

TEST_F(a_cohort, is_idle_without_a_waiter_a_request_or_a_grant) {
  caller a;
  EXPECT_TRUE(machine.is_idle());
  enter(a);
  EXPECT_FALSE(machine.is_idle());
  claim_record* const claim = granted_claim();
  EXPECT_FALSE(machine.is_idle());
  leave(a);
  EXPECT_TRUE(machine.is_idle());
  EXPECT_TRUE(machine.is_busy()) << "its release is not answered";
  machine.on_ended(*claim, {});
  EXPECT_FALSE(machine.is_busy());
}

TEST_F(a_cohort, polls_no_store_before_a_turn_ends_that_its_close_has_ended) {
  rules.can.contention = holdfast::seam::contention_signal::poll;
  caller a;
  enter(a);
  granted_claim();
  machine.close();
  complete_answered();
  EXPECT_FALSE(machine.should_poll(*a.granted, env.now()));
  leave(a);
}

TEST_F(a_cohort, sends_a_release_together_with_no_request_that_does_not_await_it) {
  permit_caller a(2), b(3);
  enter(a);
  claim_record* const first = granted_claim();
  enter(b);
  leave(a);
  EXPECT_EQ(machine.successor_of(*first), nullptr) << "the request was made before the release";
  EXPECT_NE(said(claim_record::acquire), first);
  EXPECT_EQ(said(claim_record::release), first);
  machine.withdraw(b, errc::canceled, env.now());
}

}  // namespace
}  // namespace holdfast::cohort_tests
