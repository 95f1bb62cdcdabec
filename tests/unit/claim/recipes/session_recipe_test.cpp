// The state table of recipes/session_recipe.hpp.
#include "claim/recipes/session_recipe.hpp"

#include <gtest/gtest.h>

namespace holdfast::claims {
namespace {

using namespace std::chrono_literals;

enum class session_operation : unsigned char { none, create, remove };
enum class session_verdict : unsigned char { done, gone, failed };
using scripted_session_reply = session_reply<session_operation, session_verdict>;

class session_recipe_case : public testing::Test, protected session_recipe<scripted_session_reply> {
 protected:
  step request(bool one_attempt) {
    begin_wait({.one_attempt = one_attempt}, now);
    return begin(session_operation::create, rules);
  }
  void hold() {
    request(false);
    scripted_session_reply r;
    r.number = 7;
    r.deadline = now + 12s;
    r.term = 12s;
    EXPECT_EQ(become_held(r, now).event, claim_event::granted);
  }
  step removed(session_verdict what, errc why = {}) {
    scripted_session_reply r;
    r.what = what;
    r.why = why;
    return on_removed(r, now, rules);
  }

  time_point now{1000s};
  claims::timing rules{.op_timeout = 8s};
};

TEST_F(session_recipe_case, each_request_has_an_owner_and_an_epoch_of_its_own) {
  const std::uint32_t before = epoch();
  const step out = request(true);
  EXPECT_TRUE(out.new_owner && out.sleeps);
  EXPECT_EQ(out.send, session_operation::create);
  EXPECT_EQ(out.wake, now + 8s);
  EXPECT_EQ(epoch(), before + 1);
  EXPECT_TRUE(is_attempt());
  EXPECT_EQ(request(false).wake, base::never) << "a waiter waits through an outage";
  EXPECT_TRUE(is_waiter());
  EXPECT_EQ(waits_since(), now);
  scripted_session_reply r;
  r.epoch = epoch();
  EXPECT_FALSE(is_late(r));
  ++r.epoch;
  EXPECT_TRUE(is_late(r));
}

TEST_F(session_recipe_case, a_grant_is_that_of_the_reply) {
  request(false);
  const std::uint32_t asked = epoch();
  hold();
  EXPECT_NE(epoch(), asked);
  EXPECT_EQ(granted().number, 7);
  EXPECT_EQ(granted().deadline, now + 12s);
  EXPECT_EQ(granted().received_at, now);
  EXPECT_EQ(granted().lease_term, 12s);
  EXPECT_TRUE(granted().waiters_unknown);
  EXPECT_FALSE(waits());
  EXPECT_EQ(note_others().event, claim_event::wanted);
  EXPECT_EQ(note_others().event, claim_event::none) << "it is reported once";
  EXPECT_FALSE(granted().waiters_unknown);
  request(false);
  EXPECT_FALSE(others_wait()) << "it was about the last grant";
  EXPECT_EQ(note_others().event, claim_event::none) << "it holds nothing";
}

TEST_F(session_recipe_case, a_deadline_and_a_doubt_concern_a_holder) {
  request(false);
  EXPECT_EQ(on_deadline(now + 30s).event, claim_event::none);
  EXPECT_EQ(on_doubtful().event, claim_event::none);
  EXPECT_FALSE(is_doubtful());
  hold();
  EXPECT_EQ(on_doubtful().event, claim_event::doubtful);
  EXPECT_TRUE(is_doubtful());
  EXPECT_EQ(on_deadline(now + 30s).event, claim_event::extended);
  EXPECT_FALSE(is_doubtful());
  EXPECT_EQ(granted().deadline, now + 30s);
}

TEST_F(session_recipe_case, a_doubt_ends_with_the_grant) {
  hold();
  on_doubtful();
  release(now, rules);
  EXPECT_EQ(removed(session_verdict::done).event, claim_event::ended);
  EXPECT_FALSE(is_doubtful());
}

TEST_F(session_recipe_case, a_release_removes_and_ends_once_that_is_done) {
  EXPECT_EQ(release(now, rules).send, session_operation::none) << "it holds nothing";
  hold();
  now += 1h;
  const step out = release(now, rules);
  EXPECT_EQ(out.send, session_operation::remove);
  EXPECT_EQ(out.wake, now + 8s) << "since the release";
  EXPECT_TRUE(is_first_removal());
  EXPECT_TRUE(waits());
  const step ended = removed(session_verdict::done);
  EXPECT_EQ(ended.event, claim_event::ended);
  EXPECT_EQ(ended.why, errc{});
  EXPECT_TRUE(ended.sleeps && is_idle());
}

TEST_F(session_recipe_case, what_was_held_and_is_gone_was_not_held) {
  hold();
  release(now, rules);
  EXPECT_EQ(removed(session_verdict::gone).why, errc::not_held);
  hold();
  release(now, rules);
  EXPECT_EQ(remove_again().send, session_operation::remove);
  EXPECT_FALSE(is_first_removal());
  EXPECT_EQ(removed(session_verdict::gone).why, errc{}) << "the first removal was executed";
  request(false);
  cancel(now, rules);
  EXPECT_FALSE(is_first_removal());
  EXPECT_EQ(removed(session_verdict::gone).why, errc{}) << "it never existed";
}

TEST_F(session_recipe_case, however_often_a_removal_is_repeated_no_later_one_is_the_first) {
  hold();
  release(now, rules);
  for (int i = 0; i < 300; ++i) {
    remove_again();
    EXPECT_FALSE(is_first_removal()) << i;
  }
  EXPECT_EQ(removed(session_verdict::gone).why, errc{});
}

TEST_F(session_recipe_case, a_failed_removal_is_repeated_later_each_time) {
  hold();
  release(now, rules);
  const time_point end = now + 8s;
  for (const duration pause : {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms}) {
    EXPECT_EQ(removed(session_verdict::failed, errc::unavailable).wake, now + pause);
    now += pause;
  }
  EXPECT_EQ(removed(session_verdict::failed, errc::unavailable).wake, end);
  const step again = on_time(now, rules, true);
  EXPECT_EQ(again.send, session_operation::remove);
  EXPECT_EQ(again.wake, end);
  EXPECT_EQ(on_time(now, rules, false).send, session_operation::none) << "none is under way";
  now = end;
  const step over = on_time(now, rules, true);
  EXPECT_EQ(over.event, claim_event::ended);
  EXPECT_EQ(over.why, errc::outcome_unknown);
  EXPECT_TRUE(over.orphan);
}

TEST_F(session_recipe_case, a_removal_without_the_right_to_it_ends_and_leaves_an_orphan) {
  hold();
  release(now, rules);
  const step out = removed(session_verdict::failed, errc::refused);
  EXPECT_EQ(out.event, claim_event::ended);
  EXPECT_EQ(out.why, errc::refused);
  EXPECT_TRUE(out.orphan);
  request(false);
  leave(errc::mismatch, now, rules);
  EXPECT_EQ(removed(session_verdict::failed, errc::refused).event, claim_event::refused);
}

TEST_F(session_recipe_case, what_is_refused_after_its_removal_keeps_its_reason) {
  request(true);
  leave(errc::timed_out, now, rules);
  const step out = removed(session_verdict::done);
  EXPECT_EQ(out.event, claim_event::refused);
  EXPECT_EQ(out.why, errc::timed_out);
  request(false);
  cancel(now, rules);
  EXPECT_EQ(removed(session_verdict::done).event, claim_event::ended) << "of a new request";
}

TEST_F(session_recipe_case, an_attempt_ends_after_an_op_timeout_and_a_waiter_does_not) {
  request(true);
  EXPECT_EQ(on_time(now + 8s - 1ns, rules, false).event, claim_event::none);
  const step out = on_time(now + 8s, rules, false);
  EXPECT_EQ(out.event, claim_event::refused);
  EXPECT_EQ(out.why, errc::unavailable);
  EXPECT_TRUE(out.orphan);
  EXPECT_EQ(on_time(now + 1h, rules, false).event, claim_event::none) << "it is idle";
  request(false);
  EXPECT_EQ(on_time(now + 1h, rules, false).event, claim_event::none);
  EXPECT_TRUE(is_waiter());
}

TEST_F(session_recipe_case, a_wait_is_given_up_with_the_reason_and_a_removal_with_none) {
  EXPECT_EQ(give_up(errc::closed).event, claim_event::none);
  request(false);
  const step refused = give_up(errc::closed);
  EXPECT_EQ(refused.event, claim_event::refused);
  EXPECT_EQ(refused.why, errc::closed);
  EXPECT_TRUE(refused.orphan);
  hold();
  EXPECT_EQ(give_up(errc::closed).event, claim_event::none) << "a holder waits for nothing";
  release(now, rules);
  EXPECT_EQ(give_up(errc::closed).why, errc::outcome_unknown);
}

TEST_F(session_recipe_case, a_lost_session_ends_what_it_held_and_what_was_removed) {
  request(false);
  EXPECT_EQ(end_with_session().event, claim_event::none) << "it requests again in the next session";
  EXPECT_TRUE(is_waiter());
  hold();
  const step lost = end_with_session();
  EXPECT_EQ(lost.event, claim_event::lost);
  EXPECT_EQ(lost.why, errc::timed_out);
  EXPECT_FALSE(lost.orphan) << "the server removes it";
  EXPECT_FALSE(is_held());
  EXPECT_EQ(release(now, rules).why, errc::not_held);
  EXPECT_TRUE(is_idle());
  hold();
  release(now, rules);
  EXPECT_EQ(end_with_session().why, errc::outcome_unknown);
}

TEST_F(session_recipe_case, parts_of_a_lock_that_was_broken_are_removed) {
  hold();
  EXPECT_TRUE(become_lost(errc::not_held).orphan);
  hold();
  EXPECT_FALSE(become_lost(errc::lost).orphan);
}

TEST_F(session_recipe_case, a_request_for_the_release_is_reported_once_in_each_grant) {
  hold();
  scripted_session_reply r;
  EXPECT_EQ(note_request(r).event, claim_event::none);
  r.is_revoked = true;
  EXPECT_EQ(note_request(r).event, claim_event::revocation);
  EXPECT_EQ(note_request(r).event, claim_event::none);
  hold();
  EXPECT_EQ(note_request(r).event, claim_event::revocation);
}

TEST_F(session_recipe_case, the_core_renews_and_downgrades_nothing) {
  hold();
  EXPECT_EQ(renew(10s, now, rules).send, session_operation::none);
  EXPECT_EQ(downgrade(now, rules).send, session_operation::none);
  EXPECT_EQ(cancel(now, rules).send, session_operation::none) << "the grant came first";
  EXPECT_TRUE(is_held());
}

}  // namespace
}  // namespace holdfast::claims
