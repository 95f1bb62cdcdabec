// The cohort as a pure state machine: attempts, withdrawals, and the ends of waits.
#include <gtest/gtest.h>

#include "tests/unit/cohort/cohort_fixture.hpp"

namespace holdfast::cohort_tests {
namespace {

using holdfast::base::never;

TEST_F(a_cohort, makes_one_attempt_for_a_wait_whose_time_is_over) {
  caller late;
  late.until = env.now();
  enter(late);
  claim_record* const claim = said(claim_record::acquire);
  ASSERT_TRUE(claim);
  EXPECT_TRUE(claim->one_attempt);
  EXPECT_EQ(machine.next_tick(), never) << "the store's answer ends it";
  machine.on_refused(*claim, {errc::timed_out, {}});
  complete_answered();
  EXPECT_EQ(late.why.code, errc::timed_out);
}

TEST_F(a_cohort, needs_no_timer_for_a_wait_without_a_bound) {
  caller patient;
  enter(patient);
  EXPECT_EQ(machine.next_tick(), never);
}

TEST_F(a_cohort, needs_no_timer_for_a_grant_without_a_deadline) {
  rules.can.life = holdfast::seam::lifetime::process;
  caller a;
  enter(a);
  machine.on_granted(*said(claim_record::acquire), grant{.number = 7});
  ASSERT_TRUE(a.granted);
  EXPECT_EQ(machine.next_tick(), never);
  leave(a);
}

TEST_F(a_cohort, makes_an_attempt_while_an_earlier_request_is_withdrawn) {
  caller gone, attempt;
  attempt.request.one_attempt = true;
  enter(gone);
  claim_record* const claim = said(claim_record::acquire);
  machine.withdraw(gone, errc::canceled, env.now());
  EXPECT_EQ(said(claim_record::cancel), claim);
  enter(attempt);
  EXPECT_FALSE(attempt.answered);
  machine.on_ended(*claim, {});
  EXPECT_TRUE(said(claim_record::acquire)->one_attempt);
}

TEST_F(a_cohort, makes_an_attempt_of_a_writer_in_place_of_a_share_that_lingers) {
  rules.options.linger = 60s;
  reading_caller reader;
  caller attempt;
  attempt.request.one_attempt = true;
  enter(reader);
  claim_record* const share = granted_claim();
  leave(reader);
  EXPECT_TRUE(silent());
  enter(attempt);
  EXPECT_FALSE(attempt.answered);
  EXPECT_EQ(said(claim_record::release), share);
  EXPECT_TRUE(said(claim_record::acquire)->one_attempt);
}

TEST_F(a_cohort, makes_an_attempt_at_permits_while_others_are_held) {
  permit_caller holder(2), attempt(3);
  attempt.request.one_attempt = true;
  enter(holder);
  granted_claim();
  enter(attempt);
  EXPECT_FALSE(attempt.answered);
  EXPECT_TRUE(said(claim_record::acquire)->one_attempt);
  leave(holder);
}

TEST_F(a_cohort, refuses_a_member_of_a_group_while_a_grant_of_its_own_lingers) {
  rules.options.linger = 60s;
  caller a, member;
  member.request.one_attempt = true;
  member.request.group = holdfast::seam::lock_group::of(2);
  enter(a);
  granted_claim();
  leave(a);
  enter(member);
  EXPECT_TRUE(member.answered) << "the store would not know of its request";
  EXPECT_EQ(member.why.code, errc::timed_out);
}

TEST_F(a_cohort, refuses_a_member_of_a_group_while_an_earlier_request_is_withdrawn) {
  caller gone, member;
  member.request.one_attempt = true;
  member.request.group = holdfast::seam::lock_group::of(2);
  enter(gone);
  said(claim_record::acquire);
  machine.withdraw(gone, errc::canceled, env.now());
  enter(member);
  EXPECT_TRUE(member.answered) << "its request would come later than those of the others";
  EXPECT_EQ(member.why.code, errc::timed_out);
}

TEST_F(a_cohort, withdraws_a_request_whose_mode_the_next_waiter_does_not_want) {
  caller writer;
  reading_caller reader;
  enter(writer);
  claim_record* const claim = said(claim_record::acquire);
  enter(reader);
  machine.withdraw(writer, errc::canceled, env.now());
  EXPECT_EQ(said(claim_record::cancel), claim);
  machine.on_ended(*claim, {});
  EXPECT_EQ(said(claim_record::acquire)->grant.mode(), holdfast::lock_mode::shared);
}

TEST_F(a_cohort, withdraws_a_request_of_a_group_when_its_own_waiter_leaves_and_no_other) {
  caller member, later, last;
  member.request.one_attempt = true;
  member.request.group = holdfast::seam::lock_group::of(2);
  enter(member);
  claim_record* const claim = said(claim_record::acquire);
  enter(later);
  machine.withdraw(later, errc::canceled, env.now());
  EXPECT_TRUE(silent());
  enter(last);
  machine.withdraw(member, errc::canceled, env.now());
  EXPECT_EQ(said(claim_record::cancel), claim) << "it must not be granted to one alone";
}

TEST_F(a_cohort, withdraws_a_request_once) {
  caller first, second;
  enter(first);
  said(claim_record::acquire);
  machine.withdraw(first, errc::canceled, env.now());
  EXPECT_TRUE(said(claim_record::cancel));
  enter(second);
  machine.withdraw(second, errc::canceled, env.now());
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort, releases_a_grant_whose_renewal_no_waiter_awaits_any_more) {
  caller a(30s), b(30s), c(30s);
  a.renews = false;
  for (caller* w : {&a, &b, &c}) enter(*w);
  claim_record* const claim = granted_claim();
  env.advance(16s);
  leave(a);
  EXPECT_EQ(said(claim_record::renew), claim);
  machine.withdraw(b, errc::canceled, env.now());
  EXPECT_TRUE(silent()) << "c awaits it";
  machine.withdraw(c, errc::canceled, env.now());
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort, releases_a_grant_whose_awaited_renewal_is_not_confirmed_before_its_deadline) {
  caller a(30s), b(30s);
  claim_record* const claim = claim_renewed_for_turn(a, b);
  env.advance(14s);
  tick();
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_TRUE(said(claim_record::acquire));
}

TEST_F(a_cohort, requests_no_second_permit_while_the_first_one_awaits_its_renewal) {
  permit_caller taker(2);
  enter(taker);
  claim_record* const claim = said(claim_record::acquire);
  grant_to(*claim, 7, 10s);
  EXPECT_EQ(said(claim_record::renew), claim) << "30 s are wanted";
  EXPECT_TRUE(silent());
  machine.on_extended(*claim, env.now() + 30s, claim->grant.ticket(), env.now());
  complete_answered();
  ASSERT_TRUE(taker.granted);
  EXPECT_TRUE(silent());
  leave(taker);
}

TEST_F(a_cohort, ends_the_attempt_alone_when_the_store_is_in_an_outage) {
  for (const errc outage : {errc::unavailable, errc::no_quorum}) {
    caller attempt, patient;
    attempt.request.one_attempt = true;
    enter(attempt);
    claim_record* const claim = said(claim_record::acquire);
    enter(patient);
    machine.on_refused(*claim, {outage, "gone"});
    complete_answered();
    EXPECT_EQ(attempt.why.code, outage);
    EXPECT_FALSE(patient.answered);
    claim_record* const again = said(claim_record::acquire);
    EXPECT_FALSE(again->one_attempt);
    machine.on_refused(*again, {outage, "gone"});
    complete_answered();
    EXPECT_EQ(patient.why.code, outage);
  }
}

TEST_F(a_cohort, reports_to_an_attempt_that_its_grant_came_too_late) {
  const auto too_late = [&] {
    caller attempt;
    attempt.request.one_attempt = true;
    enter(attempt);
    claim_record* const claim = said(claim_record::acquire);
    machine.on_granted(*claim, grant{7, env.now(), env.now(), false});
    complete_answered();
    EXPECT_EQ(attempt.why.code, errc::unavailable);
    EXPECT_EQ(said(claim_record::release), claim);
    machine.on_ended(*claim, {});
    return attempt.why.text;
  };
  EXPECT_EQ(too_late(), "the answer took longer than the ttl; raise the ttl");
  rules.can.life = holdfast::seam::lifetime::session;
  EXPECT_EQ(too_late(), "the answer came after the end of the session");
}

TEST_F(a_cohort, withdraws_its_request_when_closed) {
  caller a;
  enter(a);
  claim_record* const claim = said(claim_record::acquire);
  machine.close();
  complete_answered();
  EXPECT_EQ(a.why.code, errc::closed);
  EXPECT_EQ(said(claim_record::cancel), claim);
  grant_to(*claim, 7, 30s);
  EXPECT_EQ(said(claim_record::release), claim) << "it was too late to withdraw";
  machine.on_ended(*claim, {});
  EXPECT_FALSE(machine.is_busy());
}

TEST_F(a_cohort, ends_each_wait_at_its_own_time) {
  caller first, third, second;
  first.until = env.now() + 100ms;
  third.until = env.now() + 300ms;
  second.until = env.now() + 200ms;
  for (caller* w : {&first, &third, &second}) enter(*w);
  env.advance(100ms);
  tick();
  EXPECT_EQ(first.why.code, errc::timed_out);
  EXPECT_FALSE(second.answered);
  EXPECT_EQ(machine.next_tick(), second.until);
  env.advance(100ms);
  tick();
  EXPECT_EQ(second.why.code, errc::timed_out);
  EXPECT_FALSE(third.answered);
  env.advance(100ms);
  tick();
  EXPECT_EQ(third.why.code, errc::timed_out);
}

TEST_F(a_cohort, reports_each_unknown_outcome_at_its_own_time) {
  reading_caller a, b, c;
  for (caller* w : {&a, &b, &c}) enter(*w);
  granted_claim();
  asker first, third, second;
  first.until = env.now() + 1s;
  third.until = env.now() + 3s;
  second.until = env.now() + 2s;
  machine.extend(*a.granted, 30s, first, env.now());
  machine.extend(*b.granted, 30s, third, env.now());
  machine.extend(*c.granted, 30s, second, env.now());
  const auto pass = [&] {
    env.advance(1s);
    tick();
  };
  pass();
  EXPECT_EQ(first.why.code, errc::outcome_unknown);
  EXPECT_EQ(first.why.text,
            "no reply within the op-timeout; the request continues in the background");
  EXPECT_FALSE(second.answered);
  pass();
  EXPECT_TRUE(second.answered);
  EXPECT_FALSE(third.answered);
  pass();
  EXPECT_TRUE(third.answered);
  for (caller* w : {&a, &b, &c}) leave(*w);
}

TEST_F(a_cohort, needs_the_time_of_a_grant_only_where_it_is_used) {
  EXPECT_FALSE(machine.clock_matters());
  caller only, other, limited;
  enter(only);
  EXPECT_FALSE(machine.clock_matters());
  enter(other);
  EXPECT_TRUE(machine.clock_matters()) << "the budget of turns begins";
  machine.withdraw(other, errc::canceled, env.now());
  EXPECT_FALSE(machine.clock_matters());
  machine.withdraw(only, errc::canceled, env.now());
  limited.max_hold = 1s;
  enter(limited);
  EXPECT_TRUE(machine.clock_matters());
}

// A cohort of a store that may be in an outage.
class a_cohort_in_trouble : public a_cohort {
 protected:
  struct troubled final : holdfast::seam::connection {
    bool is_unavailable() const noexcept override { return is_out; }
    holdfast::seam::connection_status status() override {
      holdfast::seam::connection_status known;
      known.trouble = trouble;
      return known;
    }
    void retry_now() noexcept override { ++retries; }
    void diagnose(holdfast::seam::findings_handler&) override {}
    bool close(time_point) override { return true; }
    void forked() noexcept override {}

    bool is_out = true;
    holdfast::base::failure trouble{errc::unavailable, "it is down"};
    int retries = 0;
  };

  void enter_here(caller& w) {
    here.enter(w, env.now());
    complete_here();
  }
  void complete_here() {
    for (auto* c = here.effects().take_answered(); c;) {
      auto* const next = c->next_answered;
      c->complete();
      c = next;
    }
  }
  claim_record* grant_here() {
    claim_record* const claim = here.effects().take_scheduled();
    if (!claim) return nullptr;
    claim->pending_verbs = 0;
    here.on_granted(*claim, grant{7, env.now() + 30s, env.now(), false});
    complete_here();
    return claim;
  }
  holdfast::base::failure end_of_wait(errc why) {
    caller w;
    enter_here(w);
    here.withdraw(w, why, env.now());
    complete_here();
    return w.why;
  }
  void tick_here() {
    here.tick(env.now());
    complete_here();
  }

  troubled store;
  cohort here{home, rules, store};
};

TEST_F(a_cohort_in_trouble, reports_the_outage_and_not_a_busy_lock) {
  EXPECT_EQ(end_of_wait(errc::timed_out).code, errc::unavailable);
  EXPECT_EQ(end_of_wait(errc::timed_out).text, "it is down");
  EXPECT_EQ(end_of_wait(errc::canceled).code, errc::canceled) << "the caller ended it";
  store.trouble = {};
  EXPECT_EQ(end_of_wait(errc::timed_out).code, errc::timed_out) << "it has just ended";
  store.trouble = {errc::unavailable, "it is down"};
  store.is_out = false;
  EXPECT_EQ(end_of_wait(errc::timed_out).code, errc::timed_out);
}

TEST_F(a_cohort_in_trouble, reports_a_busy_lock_while_this_client_holds_it) {
  caller holder;
  enter_here(holder);
  claim_record* const claim = grant_here();
  ASSERT_TRUE(holder.granted);
  EXPECT_EQ(end_of_wait(errc::timed_out).code, errc::timed_out);
  here.on_lost(*claim, errc::lost);
  EXPECT_EQ(end_of_wait(errc::timed_out).code, errc::unavailable) << "another one may have it";
  here.leave(*holder.granted, nullptr, env.now());
}

TEST_F(a_cohort_in_trouble, has_the_store_tried_once_more_shortly_before_each_wait_ends) {
  caller first, second;
  first.until = env.now() + 10s;
  second.until = env.now() + 20s;
  const duration before = duration(rules.options.op_timeout) / 8;
  enter_here(first);
  enter_here(second);
  EXPECT_EQ(here.next_tick(), first.until - before);
  env.advance(10s - before - 1ns);
  tick_here();
  EXPECT_EQ(store.retries, 0);
  env.advance(1ns);
  tick_here();
  EXPECT_EQ(store.retries, 1);
  EXPECT_EQ(here.next_tick(), first.until);
  env.advance(before);
  tick_here();
  EXPECT_TRUE(first.answered);
  EXPECT_EQ(store.retries, 1);
  EXPECT_EQ(here.next_tick(), second.until - before);
}

TEST_F(a_cohort_in_trouble, has_no_store_tried_for_a_wait_for_its_own_holder) {
  caller holder, next;
  enter_here(holder);
  grant_here();
  ASSERT_TRUE(holder.granted);
  next.until = env.now() + 2s;
  enter_here(next);
  env.advance(2s);
  tick_here();
  EXPECT_TRUE(next.answered);
  EXPECT_EQ(store.retries, 0);
  here.leave(*holder.granted, nullptr, env.now());
}

TEST_F(a_cohort, refuses_an_attempt_behind_a_caller_that_awaits_the_end_of_a_withdrawal) {
  caller gone, newcomer, attempt;
  enter(gone);
  claim_record* const claim = said(claim_record::acquire);
  machine.withdraw(gone, errc::canceled, env.now());
  EXPECT_EQ(said(claim_record::cancel), claim);
  enter(newcomer);
  attempt.request.one_attempt = true;
  enter(attempt);
  EXPECT_TRUE(attempt.answered);
  EXPECT_EQ(attempt.why.code, errc::timed_out);
  machine.withdraw(newcomer, errc::canceled, env.now());
}

}  // namespace
}  // namespace holdfast::cohort_tests
