// The cohort as a pure state machine: renewals, doubts, losses, reports.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/unit/cohort/cohort_fixture.hpp"

namespace holdfast::cohort_tests {
namespace {

TEST_F(a_cohort, spends_its_budget_of_time) {
  caller a, b;
  enter(a);
  enter(b);
  granted_claim();
  env.advance(6ms);
  leave(a, true);
  EXPECT_FALSE(b.answered);
  machine.withdraw(b, errc::canceled, env.now());
}

TEST_F(a_cohort, gives_back_a_grant_that_came_too_late_to_withdraw) {
  caller a;
  enter(a);
  claim_record* const claim = said(claim_record::acquire);
  machine.withdraw(a, errc::canceled, env.now());
  said(claim_record::cancel);
  grant_to(*claim, 7, 30s);
  EXPECT_EQ(said(claim_record::release), claim);
}

TEST_F(a_cohort, uses_a_grant_that_came_too_late_to_withdraw_for_a_newcomer) {
  caller a, b;
  enter(a);
  claim_record* const claim = said(claim_record::acquire);
  machine.withdraw(a, errc::canceled, env.now());
  said(claim_record::cancel);
  enter(b);
  grant_to(*claim, 7, 30s);
  EXPECT_TRUE(b.granted);
  leave(b);
}

TEST_F(a_cohort, renews_before_a_third_of_the_ttl_is_gone) {
  caller a(30s);
  enter(a);
  claim_record* const claim = granted_claim();
  EXPECT_LE(machine.next_tick(), env.now() + 10s);
  env.advance(10s);
  tick();
  EXPECT_EQ(said(claim_record::renew), claim);
  EXPECT_EQ(claim->grant.ttl(), 30s);
  machine.on_extended(*claim, env.now() + 30s, claim->grant.ticket(), env.now());
  EXPECT_EQ(a.granted->deadline.load(), env.now() + 30s);
  leave(a);
}

TEST_F(a_cohort, repeats_the_renewal_of_a_hand_over_within_its_window_also_for_a_manual_holder) {
  caller by_hand(30s);
  by_hand.renews = false;
  enter(by_hand);
  claim_record* const claim = said(claim_record::acquire);
  machine.on_granted(*claim, {.number = 7,
                              .deadline = env.now() + 250ms,
                              .received_at = env.now(),
                              .provisional = true});
  complete_answered();
  int renewals = 0;
  for (int at = 0; at < 250; at += 10) {
    while (claim_record* const c = machine.effects().take_scheduled()) {
      EXPECT_EQ(c->pending_verbs, claim_record::renew);
      c->pending_verbs = 0;
      ++renewals;
    }
    env.advance(10ms);
    tick();
  }
  EXPECT_GE(renewals, 3) << "one lost answer does not lose the lock";
  machine.on_extended(*claim, env.now() + 30s, claim->grant.ticket(), env.now());
  leave(by_hand);
}

TEST_F(a_cohort, repeats_an_unanswered_renewal_and_reports_doubt_then_loss) {
  caller a(30s);
  enter(a);
  claim_record* const claim = granted_claim();
  int renewals = 0;
  for (int second = 0; second < 31; ++second) {
    tick();
    while (claim_record* const c = machine.effects().take_scheduled()) {
      EXPECT_EQ(c->pending_verbs, claim_record::renew);
      c->pending_verbs = 0;
      ++renewals;
    }
    EXPECT_EQ(a.granted->doubted, second >= 27) << "3 s before the deadline: ttl/10";
    EXPECT_EQ(a.granted->held(), second < 30);
    env.advance(1s);
  }
  EXPECT_GE(renewals, 4);
  EXPECT_EQ(a.granted->status(), errc::lost);
  leave(a);
  EXPECT_EQ(said(claim_record::release), claim) << "only once the holder has left";
}

TEST_F(a_cohort, keeps_why_a_lease_was_lost) {
  const std::pair<std::error_code, turn::fate> said_by_store[] = {
      {errc::lost, turn::fate::taken},
      {errc::not_held, turn::fate::forgotten},
      {errc::timed_out, turn::fate::ran_out},
  };
  for (const auto& [word, fate] : said_by_store) {
    caller a;
    enter(a);
    claim_record* const claim = granted_claim();
    machine.on_lost(*claim, word);
    EXPECT_EQ(a.granted->now.load(), fate);
    EXPECT_EQ(a.granted->status(), errc::lost);
    leave(a);
    said(claim_record::release);
    machine.on_ended(*claim, {});
  }
  caller limited;
  limited.max_hold = 5s;
  caller unlimited;
  for (caller* const w : {&limited, &unlimited}) {
    enter(*w);
    claim_record* const claim = granted_claim();
    env.advance(30s);
    tick();
    EXPECT_EQ(w->granted->now.load(), w == &limited ? turn::fate::hold_ended : turn::fate::ran_out);
    leave(*w);
    while (machine.effects().take_scheduled()) {}
    claim->pending_verbs = 0;
    machine.on_ended(*claim, {});
  }
}

TEST_F(a_cohort, does_not_let_a_late_renewal_revive_what_is_lost) {
  caller a(30s);
  enter(a);
  claim_record* const claim = granted_claim();
  env.advance(31s);
  machine.on_extended(*claim, env.now() + 30s, claim->grant.ticket(), env.now());
  EXPECT_FALSE(a.granted->held());
  leave(a);
}

TEST_F(a_cohort, starts_no_turn_before_a_lost_lease_is_left) {
  caller a, b;
  enter(a);
  enter(b);
  claim_record* const claim = granted_claim();
  machine.on_lost(*claim, errc::lost);
  EXPECT_TRUE(silent());
  EXPECT_FALSE(b.answered);
  leave(a);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_TRUE(said(claim_record::acquire));
  machine.withdraw(b, errc::canceled, env.now());
}

TEST_F(a_cohort, admits_others_after_a_loss_with_admit_after_loss) {
  rules.options.admit_after_loss = true;
  caller a, b;
  enter(a);
  enter(b);
  claim_record* const claim = granted_claim();
  machine.on_lost(*claim, errc::lost);
  claim_record* const second = said(claim_record::acquire);
  EXPECT_NE(second, claim);
  grant_to(*second, 8, 30s);
  EXPECT_TRUE(b.granted);
  leave(a);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_TRUE(b.granted->held()) << "a stale holder that leaves harms nobody";
  leave(b);
  EXPECT_EQ(said(claim_record::release), second);
}

TEST_F(a_cohort, admits_no_other_caller_after_its_close_with_admit_after_loss) {
  rules.options.admit_after_loss = true;
  caller a, b;
  enter(a);
  enter(b);
  claim_record* const claim = granted_claim();
  machine.close();
  complete_answered();
  EXPECT_EQ(b.why.code, errc::closed);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_TRUE(silent());
  leave(a);
}

TEST_F(a_cohort, renews_before_a_turn_that_would_start_on_less_than_half_its_ttl) {
  caller a(30s), b(30s);
  claim_record* const claim = claim_renewed_for_turn(a, b);
  machine.on_extended(*claim, env.now() + 30s, claim->grant.ticket(), env.now());
  complete_answered();
  EXPECT_TRUE(b.granted);
  leave(b);
}

TEST_F(a_cohort, gives_back_a_grant_that_arrives_after_its_deadline) {
  caller a, attempt;
  enter(a);
  claim_record* const claim = said(claim_record::acquire);
  machine.on_granted(*claim, grant{7, env.now(), env.now(), false});
  complete_answered();
  EXPECT_FALSE(a.answered);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_TRUE(said(claim_record::acquire));
  machine.withdraw(a, errc::canceled, env.now());
}

TEST_F(a_cohort, does_not_ask_again_alone_for_what_was_granted_with_others_and_is_gone) {
  caller a(30s);
  a.request.one_attempt = true;
  a.request.group = holdfast::seam::lock_group::of(2);
  enter(a);
  claim_record* const claim = said(claim_record::acquire);
  grant_to(*claim, 7, 10s);
  EXPECT_EQ(said(claim_record::renew), claim) << "too short to begin";
  machine.on_lost(*claim, errc::lost);
  complete_answered();
  EXPECT_TRUE(a.answered);
  EXPECT_EQ(a.why.code, errc::timed_out);
  EXPECT_EQ(said(claim_record::release), claim);
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort, ends_a_wait_when_its_time_has_passed) {
  caller a;
  a.until = env.now() + 500ms;
  enter(a);
  EXPECT_EQ(machine.next_tick(), a.until);
  env.advance(500ms);
  tick();
  EXPECT_EQ(a.why.code, errc::timed_out);
}

TEST_F(a_cohort, reports_a_release_when_the_store_has_answered) {
  caller a;
  enter(a);
  claim_record* const claim = granted_claim();
  asker report;
  leave(a, false, &report);
  EXPECT_FALSE(report.answered);
  machine.on_ended(*claim, {errc::not_held, {}});
  complete_answered();
  EXPECT_TRUE(report.answered);
  EXPECT_EQ(report.why.code, errc::not_held);
}

TEST_F(a_cohort, reports_an_unknown_outcome_when_the_store_does_not_answer) {
  caller a;
  enter(a);
  granted_claim();
  asker report;
  report.until = env.now() + 5s;
  leave(a, false, &report);
  env.advance(5s);
  tick();
  EXPECT_EQ(report.why.code, errc::outcome_unknown);
}

TEST_F(a_cohort, relies_on_no_more_than_a_shorter_renewal) {
  caller a(30s), b(1s);
  enter(a);
  enter(b);
  claim_record* const claim = granted_claim();
  asker extension;
  machine.extend(*a.granted, 30s, extension, env.now());
  EXPECT_EQ(said(claim_record::renew), claim) << "its reply comes late";
  leave(a);
  ASSERT_TRUE(b.granted);
  env.advance(10s);
  tick();
  EXPECT_EQ(said(claim_record::renew), claim);
  EXPECT_EQ(claim->grant.ttl(), 1s);
  EXPECT_LE(b.granted->deadline.load(), env.now() + 1s) << "so the store has it, answered or not";
  const auto earlier = claim->grant.ticket() - 1;
  machine.on_extended(*claim, env.now() + 30s, earlier, env.now());
  EXPECT_LE(b.granted->deadline.load(), env.now() + 1s) << "an earlier answer says nothing of it";
  env.advance(1s);
  EXPECT_FALSE(b.granted->held());
  leave(b);
}

TEST_F(a_cohort, reports_no_doubt_when_a_short_lease_is_extended_to_a_long_one) {
  caller a(1s);
  enter(a);
  claim_record* const claim = said(claim_record::acquire);
  ASSERT_TRUE(claim);
  grant_to(*claim, 7, 1s);
  asker i;
  machine.extend(*a.granted, 60s, i, env.now());
  tick();
  EXPECT_FALSE(a.granted->doubted) << "a tenth of the new ttl is more than is left of the old one";
  machine.on_extended(*claim, env.now() + 60s, claim->grant.ticket(), env.now());
  complete_answered();
  tick();
  EXPECT_FALSE(a.granted->doubted);
  env.advance(54s);
  tick();
  EXPECT_TRUE(a.granted->doubted) << "6 s before the deadline";
  leave(a);
}

TEST_F(a_cohort, repeats_an_extension_while_its_caller_waits) {
  caller a(1h);
  claim_record* const claim = claim_granted_for_an_hour(a);
  ASSERT_TRUE(claim);
  asker i;
  i.until = env.now() + 1min;
  machine.extend(*a.granted, 2h, i, env.now());
  for (int repeats = 0; repeats < 3; ++repeats) {
    EXPECT_EQ(said(claim_record::renew), claim) << repeats;
    env.advance(duration(rules.options.op_timeout) / 3);
    tick();
  }
  EXPECT_EQ(said(claim_record::renew), claim);
  machine.on_extended(*claim, env.now() + 2h, claim->grant.ticket(), env.now());
  complete_answered();
  EXPECT_TRUE(i.answered);
  env.advance(10min);
  tick();
  EXPECT_TRUE(silent()) << "a holder that renews by hand is not renewed for";
  leave(a);
}

TEST_F(a_cohort, stops_repeating_an_extension_whose_caller_has_its_answer) {
  caller a(1h);
  claim_record* const claim = claim_granted_for_an_hour(a);
  ASSERT_TRUE(claim);
  asker extension;
  extension.until = env.now() + 5s;
  machine.extend(*a.granted, 40s, extension, env.now());
  EXPECT_EQ(said(claim_record::renew), claim);
  env.advance(5s);
  tick();
  EXPECT_TRUE(extension.answered);
  env.advance(2s);  // the repetition that was planned before
  tick();
  while (claim_record* const c = machine.effects().take_scheduled()) c->pending_verbs = 0;
  env.advance(20s);
  tick();
  EXPECT_TRUE(silent()) << "the store does not answer, and the holder renews by hand";
  leave(a);
}

TEST_F(a_cohort, counts_no_error_for_an_extension_that_is_confirmed) {
  holdfast::cohort::counters counts;
  rules.counts = &counts;
  caller a;
  asker extension;
  enter(a);
  claim_record* const claim = granted_claim();
  machine.extend(*a.granted, 30s, extension, env.now());
  machine.on_extended(*claim, env.now() + 30s, claim->grant.ticket(), env.now());
  complete_answered();
  EXPECT_TRUE(extension.answered);
  leave(a);
  const holdfast::metrics m = counts.read();
  EXPECT_EQ(m.renewals_confirmed, 1u);
  EXPECT_EQ(m.busy + m.errors_unavailable + m.errors_lost + m.errors_usage, 0u);
}

struct watcher final : holdfast::cohort::loss_watch {
  int answers = 0;
  void complete() noexcept override { ++answers; }
};

TEST_F(a_cohort, tells_a_loss_to_each_that_still_watches_for_it) {
  caller a(30s);
  enter(a);
  claim_record* const claim = granted_claim();
  watcher first, second, third;
  for (watcher* const w : {&first, &second, &third}) machine.effects().watch(*a.granted, *w);
  machine.effects().end_watch(second);
  complete_answered();
  EXPECT_EQ(second.why.code, errc::canceled);
  machine.on_lost(*claim, errc::lost);
  complete_answered();
  EXPECT_EQ(first.answers + second.answers + third.answers, 3);
  EXPECT_EQ(second.answers, 1);
  EXPECT_FALSE(first.why.code || third.why.code);
  leave(a);
}

TEST_F(a_cohort, takes_the_answer_to_a_shorter_renewal_for_what_it_is) {
  caller a(30s);
  enter(a);
  claim_record* const claim = granted_claim();
  asker i;
  machine.extend(*a.granted, 1s, i, env.now());
  const auto end = env.now() + 985ms;
  EXPECT_LE(a.granted->deadline.load(), env.now() + 1s);
  machine.on_extended(*claim, end, claim->grant.ticket(), env.now());
  complete_answered();
  EXPECT_TRUE(i.answered);
  EXPECT_FALSE(i.why.code);
  EXPECT_EQ(a.granted->deadline.load(), end);
  leave(a);
}

}  // namespace
}  // namespace holdfast::cohort_tests
