// The cohort as a pure state machine: when it renews, for how long, and when it warns.
#include <gtest/gtest.h>

#include "tests/unit/cohort/cohort_fixture.hpp"

namespace holdfast::cohort_tests {
namespace {

using holdfast::base::never;
using holdfast::seam::worth;

class a_renewing_cohort : public a_cohort {
 protected:
  // The grant of a hand-over, whose window is that long.
  claim_record* grant_within(duration window) {
    claim_record* const claim = said(claim_record::acquire);
    if (!claim) return nullptr;
    machine.on_granted(*claim, {.number = 7,
                                .deadline = env.now() + window,
                                .received_at = env.now(),
                                .provisional = true});
    complete_answered();
    return claim;
  }
  void confirm(claim_record& c, duration ttl) {
    machine.on_extended(c, env.now() + ttl, c.grant.ticket(), env.now());
    complete_answered();
  }
  void pass(duration d) {
    env.advance(d);
    tick();
  }
  // A renewal of a lease of 30 s that is confirmed now is due before 9 s have passed, and aligned.
  void expect_due_after_three_tenths() {
    const time_point due = machine.next_tick();
    const duration step = duration(30s) / 64;
    EXPECT_LE(due, env.now() + 9s);
    EXPECT_GT(due, env.now() + 9s - step);
    EXPECT_EQ((due.time_since_epoch() + duration(rules.phase)) % step, duration::zero());
  }
};

TEST_F(a_renewing_cohort, plans_its_renewals_in_steps_of_the_client) {
  rules.phase = 123'456'789;
  caller a(30s);
  enter(a);
  claim_record* const claim = granted_claim();
  expect_due_after_three_tenths();
  pass(9s);
  EXPECT_EQ(said(claim_record::renew), claim);
  confirm(*claim, 30s);
  expect_due_after_three_tenths();
  leave(a);
}

TEST_F(a_renewing_cohort, starts_a_turn_at_once_on_half_of_its_ttl) {
  caller a(30s), b(30s);
  a.renews = false;
  enter(a);
  enter(b);
  granted_claim();
  env.advance(15s);
  leave(a);
  EXPECT_TRUE(b.granted);
  leave(b);
}

TEST_F(a_renewing_cohort, starts_a_turn_on_whatever_its_awaited_renewal_has_left) {
  caller a(30s), b(30s);
  claim_record* const claim = claim_renewed_for_turn(a, b);
  confirm(*claim, 10s);
  EXPECT_TRUE(b.granted) << "its reply took long";
  leave(b);
}

TEST_F(a_renewing_cohort, renews_for_the_longest_lease_inside_and_the_next) {
  reading_caller a(60s), b(30s);
  enter(a);
  claim_record* const claim = said(claim_record::acquire);
  grant_to(*claim, 7, 60s);
  env.advance(46s);
  enter(b);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(said(claim_record::renew), claim);
  EXPECT_EQ(claim->grant.ttl(), 60s);
  confirm(*claim, 60s);
  ASSERT_TRUE(b.granted);
  leave(a);
  leave(b);
}

TEST_F(a_renewing_cohort, repeats_an_awaited_renewal_for_the_ttl_of_the_next_turn) {
  reading_caller a(10s), b(30s);
  enter(a);
  claim_record* const claim = said(claim_record::acquire);
  grant_to(*claim, 7, 10s);
  enter(b);
  EXPECT_EQ(said(claim_record::renew), claim);
  EXPECT_EQ(claim->grant.ttl(), 30s);
  pass(4s);
  EXPECT_EQ(said(claim_record::renew), claim) << "no reply has come";
  EXPECT_EQ(claim->grant.ttl(), 30s);
  confirm(*claim, 30s);
  ASSERT_TRUE(b.granted);
  leave(a);
  leave(b);
}

TEST_F(a_renewing_cohort, renews_for_what_a_reader_that_renews_by_hand_has_left) {
  reading_caller by_hand(30s), other(3s);
  by_hand.renews = false;
  enter(by_hand);
  enter(other);
  claim_record* const claim = granted_claim();
  ASSERT_TRUE(other.granted);
  const time_point end = by_hand.granted->deadline.load();
  EXPECT_EQ(end, env.now() + worth(30s, {}));
  pass(9s);
  EXPECT_EQ(said(claim_record::renew), claim);
  EXPECT_GE(worth(claim->grant.ttl(), {}), end - env.now());
  EXPECT_LT(claim->grant.ttl(), 22s) << "its 30 s do not begin again";
  confirm(*claim, 22s);
  EXPECT_EQ(by_hand.granted->deadline.load(), end);
  leave(by_hand);
  leave(other);
}

TEST_F(a_renewing_cohort, extends_the_share_of_a_reader_that_renews_by_hand_to_its_own_end) {
  reading_caller by_hand(10s), other(30s);
  by_hand.renews = false;
  asker longer, shorter;
  enter(by_hand);
  enter(other);
  claim_record* const claim = said(claim_record::acquire);
  grant_to(*claim, 7, 29s);
  EXPECT_EQ(by_hand.granted->deadline.load(), env.now() + worth(10s, {}));
  machine.extend(*by_hand.granted, 20s, longer, env.now());
  EXPECT_EQ(by_hand.granted->deadline.load(), env.now() + worth(20s, {}));
  machine.extend(*by_hand.granted, 5s, shorter, env.now());
  EXPECT_EQ(by_hand.granted->deadline.load(), env.now() + worth(5s, {}));
  EXPECT_EQ(other.granted->deadline.load(), env.now() + 29s);
  leave(by_hand);
  leave(other);
}

TEST_F(a_renewing_cohort, moves_no_end_of_a_writer_that_renewed_by_hand_and_became_a_reader) {
  caller writer(10s);
  reading_caller reader(10s);
  writer.renews = false;
  enter(writer);
  claim_record* const claim = said(claim_record::acquire);
  grant_to(*claim, 7, 10s);
  const time_point end = writer.granted->deadline.load();
  enter(reader);
  EXPECT_FALSE(machine.downgrade(*writer.granted, env.now()).code);
  complete_answered();
  ASSERT_TRUE(reader.granted);
  pass(4s);
  EXPECT_EQ(said(claim_record::renew), claim);
  confirm(*claim, 10s);
  EXPECT_EQ(reader.granted->deadline.load(), env.now() + 10s);
  EXPECT_EQ(writer.granted->deadline.load(), end);
  leave(writer);
  leave(reader);
}

TEST_F(a_renewing_cohort, stops_renewing_when_the_last_turn_that_renews_is_lost) {
  reading_caller limited(30s), by_hand(30s);
  limited.max_hold = 5s;
  by_hand.renews = false;
  enter(limited);
  enter(by_hand);
  granted_claim();
  pass(5s);
  EXPECT_FALSE(limited.granted->held());
  EXPECT_TRUE(by_hand.granted->held());
  pass(5s);
  EXPECT_TRUE(silent());
  leave(limited);
  leave(by_hand);
}

TEST_F(a_renewing_cohort, has_nothing_to_do_for_a_lost_grant_before_its_holder_leaves) {
  caller a;
  enter(a);
  claim_record* const claim = granted_claim();
  machine.on_lost(*claim, errc::lost);
  EXPECT_EQ(machine.next_tick(), never);
  pass(31s);
  EXPECT_TRUE(silent());
  EXPECT_EQ(a.granted->now.load(), turn::fate::taken);
  leave(a);
}

TEST_F(a_renewing_cohort, answers_no_attempt_at_other_permits_for_permits_that_are_lost_already) {
  permit_caller a(2), attempt(3);
  attempt.request.one_attempt = true;
  enter(a);
  claim_record* const claim = granted_claim();
  machine.on_lost(*claim, errc::lost);
  enter(attempt);
  machine.on_lost(*claim, errc::not_held);
  complete_answered();
  EXPECT_FALSE(attempt.answered);
  pass(31s);
  EXPECT_FALSE(attempt.answered);
  EXPECT_EQ(a.granted->now.load(), turn::fate::taken) << "the first report counts";
  leave(a);
}

TEST_F(a_renewing_cohort, answers_the_extension_of_a_lease_that_is_lost_meanwhile) {
  caller a;
  asker extension, other;
  enter(a);
  claim_record* const claim = granted_claim();
  machine.extend(*a.granted, 30s, extension, env.now());
  machine.on_lost(*claim, errc::lost);
  complete_answered();
  EXPECT_TRUE(extension.answered);
  EXPECT_EQ(extension.why.code, errc::lost);
  machine.extend(*a.granted, 30s, other, env.now());
  complete_answered();
  EXPECT_EQ(other.why.code, errc::lost);
  leave(a);
}

TEST_F(a_renewing_cohort, answers_the_attempt_that_awaits_a_renewal_when_the_lease_is_lost) {
  reading_caller a(10s), attempt(30s);
  attempt.request.one_attempt = true;
  enter(a);
  claim_record* const claim = said(claim_record::acquire);
  grant_to(*claim, 7, 10s);
  enter(attempt);
  EXPECT_FALSE(attempt.answered);
  machine.on_lost(*claim, errc::lost);
  complete_answered();
  EXPECT_TRUE(attempt.answered) << "it does not wait for the holder to leave";
  EXPECT_EQ(attempt.why.code, errc::timed_out);
  leave(a);
}

TEST_F(a_renewing_cohort, answers_an_extension_whose_lease_is_released_before_the_reply) {
  caller a;
  asker extension;
  enter(a);
  granted_claim();
  machine.extend(*a.granted, 30s, extension, env.now());
  leave(a);
  EXPECT_TRUE(extension.answered);
  EXPECT_EQ(extension.why.code, errc::not_held);
  EXPECT_EQ(extension.why.text, "the lease was released");
}

TEST_F(a_renewing_cohort, answers_an_extension_with_the_reply_to_it_or_to_a_later_one) {
  caller a;
  asker first, second;
  enter(a);
  claim_record* const claim = granted_claim();
  machine.extend(*a.granted, 30s, first, env.now());
  const std::uint32_t earlier = claim->grant.ticket();
  machine.extend(*a.granted, 40s, second, env.now());
  machine.on_extended(*claim, env.now() + 30s, earlier, env.now());
  complete_answered();
  EXPECT_TRUE(first.answered);
  EXPECT_FALSE(second.answered);
  confirm(*claim, 40s);
  EXPECT_TRUE(second.answered);
  EXPECT_FALSE(second.why.code);
  leave(a);
}

TEST_F(a_renewing_cohort, warns_by_the_grace_and_a_tenth_of_the_ttl) {
  rules.options.grace = 2s;
  caller a(30s);
  a.renews = false;
  enter(a);
  granted_claim();
  EXPECT_EQ(machine.next_tick(), env.now() + 25s);
  pass(25s - 1ns);
  EXPECT_FALSE(a.granted->doubted);
  pass(1ns);
  EXPECT_TRUE(a.granted->doubted);
  EXPECT_EQ(machine.next_tick(), env.now() + 5s) << "only the deadline is left";
  leave(a);
}

TEST_F(a_renewing_cohort, warns_in_the_second_half_of_the_ttl_at_the_earliest) {
  rules.options.grace = 20s;
  caller a(30s);
  a.renews = false;
  enter(a);
  granted_claim();
  pass(15s - 1ns);
  EXPECT_FALSE(a.granted->doubted);
  pass(1ns);
  EXPECT_TRUE(a.granted->doubted);
  leave(a);
}

TEST_F(a_renewing_cohort, takes_a_warning_back_with_the_renewal) {
  caller a(30s);
  enter(a);
  claim_record* const claim = granted_claim();
  pass(27s);
  EXPECT_TRUE(a.granted->doubted);
  confirm(*claim, 30s);
  EXPECT_FALSE(a.granted->doubted);
  pass(27s - 1ns);
  EXPECT_FALSE(a.granted->doubted);
  pass(1ns);
  EXPECT_TRUE(a.granted->doubted);
  leave(a);
}

TEST_F(a_renewing_cohort, takes_a_doubt_back_with_a_confirmation_of_the_same_deadline) {
  rules.can.life = holdfast::seam::lifetime::session;
  caller a;
  enter(a);
  claim_record* const claim = granted_claim();
  const time_point deadline = claim->grant.deadline();
  machine.on_doubtful(*claim, env.now());
  EXPECT_TRUE(a.granted->doubted);
  machine.on_extended(*claim, deadline - 1ns, 0, env.now());
  EXPECT_TRUE(a.granted->doubted) << "an earlier one confirms nothing";
  machine.on_extended(*claim, deadline - 1ns, 0, env.now());
  EXPECT_FALSE(a.granted->doubted);
  leave(a);
}

TEST_F(a_renewing_cohort, has_lost_a_lease_that_is_doubted_at_its_end) {
  caller a(30s);
  enter(a);
  claim_record* const claim = granted_claim();
  machine.on_doubtful(*claim, claim->grant.deadline());
  EXPECT_EQ(a.granted->now.load(), turn::fate::ran_out);
  leave(a);
}

TEST_F(a_renewing_cohort, forgets_a_doubt_with_its_grant) {
  caller a, b;
  enter(a);
  claim_record* const claim = granted_claim();
  machine.on_doubtful(*claim, env.now());
  EXPECT_TRUE(a.granted->doubted);
  leave(a);
  EXPECT_EQ(said(claim_record::release), claim);
  machine.on_ended(*claim, {});
  enter(b);
  EXPECT_EQ(granted_claim(), claim);
  EXPECT_FALSE(b.granted->doubted);
  leave(b);
}

TEST_F(a_renewing_cohort, renews_early_where_a_holder_is_listed_only_then) {
  rules.can.shown_by_renewal = true;
  caller a(30s), with_note(30s);
  enter(a);
  claim_record* const claim = granted_claim();
  EXPECT_LE(machine.next_tick(), env.now() + 1s);
  EXPECT_GT(machine.next_tick(), env.now() + 1s - duration(30s) / 64);
  pass(1s);
  EXPECT_EQ(said(claim_record::renew), claim);
  confirm(*claim, 30s);
  expect_due_after_three_tenths();
  leave(a);
  EXPECT_EQ(said(claim_record::release), claim);
  machine.on_ended(*claim, {});
  with_note.request.note = "n";
  enter(with_note);
  granted_claim();
  EXPECT_LE(machine.next_tick(), env.now()) << "others are to read the note";
  leave(with_note);
}

TEST_F(a_renewing_cohort, renews_a_hand_over_after_a_sixteenth_of_its_window) {
  caller a(30s);
  enter(a);
  claim_record* const claim = grant_within(160ms);
  ASSERT_TRUE(a.granted);
  EXPECT_EQ(machine.next_tick(), env.now() + 10ms);
  pass(10ms);
  EXPECT_EQ(said(claim_record::renew), claim);
  EXPECT_EQ(claim->grant.ttl(), 30s);
  confirm(*claim, 30s);
  expect_due_after_three_tenths();
  leave(a);
}

TEST_F(a_renewing_cohort, warns_in_the_second_half_of_the_window_of_a_hand_over) {
  caller a(30s);
  enter(a);
  grant_within(160ms);
  ASSERT_TRUE(a.granted);
  pass(85ms - 1ns);
  EXPECT_FALSE(a.granted->doubted);
  pass(1ns);
  EXPECT_TRUE(a.granted->doubted) << "75 ms before its deadline";
  leave(a);
}

TEST_F(a_renewing_cohort, starts_the_next_turn_under_a_hand_over_after_its_renewal_only) {
  caller a(30s), b(30s);
  enter(a);
  enter(b);
  claim_record* const claim = grant_within(250ms);
  ASSERT_TRUE(a.granted);
  leave(a);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(said(claim_record::renew), claim);
  confirm(*claim, 30s);
  ASSERT_TRUE(b.granted);
  leave(b);
}

TEST_F(a_renewing_cohort, starts_the_turns_of_readers_under_a_hand_over_together) {
  reading_caller a(30s), b(30s);
  enter(a);
  enter(b);
  grant_within(250ms);
  ASSERT_TRUE(a.granted);
  ASSERT_TRUE(b.granted);
  leave(a);
  leave(b);
}

TEST_F(a_renewing_cohort, counts_a_turn_of_a_session_by_the_timeout_of_the_session) {
  rules.can.life = holdfast::seam::lifetime::session;
  caller a(30s);
  enter(a);
  grant g{7, env.now() + 12s, env.now(), false};
  g.lease_term = 12s;
  machine.on_granted(*said(claim_record::acquire), g);
  complete_answered();
  ASSERT_TRUE(a.granted);
  EXPECT_EQ(a.granted->ttl, 12s);
  EXPECT_EQ(machine.next_tick(), env.now() + 12s - 1200ms) << "nothing but its warning";
  leave(a);
}

TEST_F(a_renewing_cohort, has_no_token_where_the_store_has_no_numbers) {
  rules.can.tokens = false;
  caller a;
  enter(a);
  granted_claim();
  ASSERT_TRUE(a.granted);
  EXPECT_EQ(a.token(), 0);
  leave(a);
}

TEST_F(a_renewing_cohort, keeps_the_number_of_permits_with_the_turn) {
  permit_caller three(3), one(1);
  enter(three);
  granted_claim();
  enter(one);
  granted_claim();
  ASSERT_TRUE(three.granted && one.granted);
  EXPECT_EQ(three.granted->permits(), 3u);
  EXPECT_EQ(one.granted->permits(), 1u);
  leave(three);
  leave(one);
}

TEST_F(a_renewing_cohort, ends_a_hold_at_its_limit) {
  caller a(30s);
  a.max_hold = 4s;
  enter(a);
  granted_claim();
  EXPECT_EQ(a.granted->deadline.load(), env.now() + 4s);
  env.advance(4s - 1ns);
  EXPECT_TRUE(a.granted->held());
  env.advance(1ns);
  EXPECT_FALSE(a.granted->held());
  leave(a);
}

}  // namespace
}  // namespace holdfast::cohort_tests
