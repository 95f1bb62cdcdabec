#ifdef HOLDFAST_WITH_REDIS
#include "backend/redis/recipes/queueing.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using state = queueing_recipe::state;
using verdict = reply::verdict;

class redis_recipe : public testing::Test {
 protected:
  reply answer(operation to, verdict what) const {
    reply r;
    r.to = to;
    r.what = what;
    r.epoch = steps.epoch();
    r.ttl = 10s;
    r.sent = now;
    return r;
  }
  effects hear(operation to, verdict what) { return steps.on(answer(to, what), now, rules); }
  effects queue_at(std::int64_t ahead, base::duration rest = 10s) {
    steps.acquire({.ttl = 10s}, now, rules);
    hear(operation::try_lock, verdict::busy);
    reply r = answer(operation::lock_or_queue, verdict::queued);
    r.number = 17;
    r.ahead = ahead;
    r.rest = rest;
    return steps.on(r, now, rules);
  }
  void queue() { queue_at(0); }
  void hold() {
    steps.acquire({.ttl = 10s}, now, rules);
    hear(operation::try_lock, verdict::granted);
  }

  queueing_recipe steps;
  time_point now{1000s};
  timing rules{.op_timeout = 5s};
};

TEST_F(redis_recipe, a_deadline_counts_from_the_send) {
  steps.acquire({.ttl = 10s}, now, rules);
  reply r = answer(operation::try_lock, verdict::granted);
  r.sent = now - 3s;
  EXPECT_EQ(steps.on(r, now, rules).event, claim_event::granted);
  EXPECT_EQ(steps.granted().deadline, now - 3s + 10s - 100ms - 2ms);
}

TEST_F(redis_recipe, busy_ends_an_attempt_and_queues_others) {
  steps.acquire({.one_attempt = true, .ttl = 10s}, now, rules);
  EXPECT_EQ(hear(operation::try_lock, verdict::busy).send, operation::peek_kind);
  const effects refused = hear(operation::peek_kind, verdict::busy);
  EXPECT_EQ(refused.event, claim_event::refused);
  EXPECT_EQ(refused.why, errc::timed_out);
  steps.acquire({.ttl = 10s}, now, rules);
  EXPECT_EQ(hear(operation::try_lock, verdict::busy).send, operation::lock_or_queue);
}

TEST_F(redis_recipe, an_attempt_at_another_kind_of_lock_is_reported) {
  steps.acquire({.one_attempt = true, .ttl = 10s}, now, rules);
  hear(operation::try_lock, verdict::busy);
  reply r = answer(operation::peek_kind, verdict::failed);
  r.why = errc::mismatch;
  EXPECT_EQ(steps.on(r, now, rules).why, errc::mismatch);
  steps.acquire({.one_attempt = true, .ttl = 10s}, now, rules);
  hear(operation::try_lock, verdict::busy);
  const effects cut = steps.on_cut(steps.epoch());
  EXPECT_EQ(cut.why, errc::timed_out) << "that it was busy is known";
}

TEST_F(redis_recipe, a_member_is_queued_by_its_first_request_and_never_by_try_lock) {
  for (const lock_mode how : {lock_mode::shared, lock_mode::permit}) {
    EXPECT_EQ(steps.acquire({.ttl = 10s, .mode = how}, now, rules).send, operation::lock_or_queue);
    EXPECT_EQ(hear(operation::lock_or_queue, verdict::bad_number).send, operation::lock_or_queue);
    EXPECT_EQ(hear(operation::lock_or_queue, verdict::granted).event, claim_event::granted);
    EXPECT_EQ(steps.release(now, rules).send, operation::release)
        << "and is released without the next claim";
    hear(operation::release, verdict::done);
  }
}

TEST_F(redis_recipe, a_member_that_does_not_wait_finds_it_busy) {
  steps.acquire({.one_attempt = true, .ttl = 10s, .mode = lock_mode::shared}, now, rules);
  EXPECT_EQ(steps.on_cut(steps.epoch()).send, operation::lock_or_queue);
  reply r = answer(operation::lock_or_queue, verdict::busy);
  r.final = false;
  const effects out = steps.on(r, now, rules);
  EXPECT_EQ(out.why, errc::timed_out);
  EXPECT_TRUE(out.orphan) << "what it asked first may arrive yet";
}

TEST_F(redis_recipe, a_client_that_subscribes_anew_passes_its_watch_on) {
  queue();
  EXPECT_FALSE(steps.replaces_timer());
  EXPECT_EQ(steps.on_subscribed(now).send, operation::lock_or_queue);
  EXPECT_TRUE(steps.replaces_timer()) << "unless it is first, its timer goes with the answer";
}

TEST_F(redis_recipe, a_repeated_request_may_be_queued_by_its_first_reply_and_hold_by_its_second) {
  queue();
  steps.on(push{.what = push::kind::grant, .until = base::never}, now);
  EXPECT_EQ(steps.on_wake(now, rules).send, operation::lock_or_queue);
  hear(operation::lock_or_queue, verdict::queued);
  EXPECT_EQ(hear(operation::lock_or_queue, verdict::granted).event, claim_event::granted);
  EXPECT_EQ(steps.now_in(), state::held);
}

TEST_F(redis_recipe, waiters_are_reported_though_the_message_overtakes_the_grant) {
  const push wanted{.what = push::kind::wanted};
  steps.acquire({.ttl = 10s}, now, rules);
  EXPECT_EQ(steps.on(wanted, now).event, claim_event::none) << "it holds nothing yet";
  EXPECT_EQ(hear(operation::try_lock, verdict::granted).event, claim_event::granted);
  EXPECT_TRUE(steps.others_wait());
  EXPECT_EQ(steps.on(wanted, now).event, claim_event::none) << "told already";
  steps.release(now, rules);
  hear(operation::release, verdict::done);
  hold();
  EXPECT_FALSE(steps.others_wait()) << "that was for an earlier grant";
}

TEST_F(redis_recipe, a_refused_claim_that_an_earlier_request_may_have_queued_is_withdrawn) {
  steps.acquire({.ttl = 10s}, now, rules);
  EXPECT_FALSE(hear(operation::try_lock, verdict::failed).orphan) << "nothing of it was executed";
  queue_at(1);
  steps.on_wake(now, rules);
  EXPECT_TRUE(hear(operation::lock_or_queue, verdict::failed).orphan) << "it is queued";
  steps.acquire({.ttl = 10s}, now, rules);
  steps.on_cut(steps.epoch());
  EXPECT_TRUE(hear(operation::resolve, verdict::failed).orphan) << "the lost try may have got it";
}

TEST_F(redis_recipe, each_waiter_checks_after_the_one_before_it) {
  EXPECT_EQ(queue_at(0, 3s).wake, now + 3s + 1ms);
  time_point before = now + 3s + 1ms;
  for (std::int64_t ahead = 1; ahead < 20; ++ahead) {
    const effects out = queue_at(ahead, 3s);
    EXPECT_GT(out.wake, before);
    before = out.wake;
  }
  EXPECT_LE(before, now + 4s);
}

TEST_F(redis_recipe, the_next_waiter_checks_a_foreign_holder_after_pauses_that_grow) {
  queue();
  for (const auto pause : {5ms, 10ms, 20ms, 40ms, 80ms, 160ms, 250ms, 250ms}) {
    steps.on_wake(now, rules);
    reply r = answer(operation::lock_or_queue, verdict::queued);
    r.foreign = true;
    r.rest = 1h;
    EXPECT_EQ(steps.on(r, now, rules).wake, now + pause);
  }
}

TEST_F(redis_recipe,
       a_waiter_that_is_not_next_checks_though_the_holder_has_a_longer_lease_or_none) {
  for (const auto rest : {base::duration(1h), base::duration::max()})
    EXPECT_LE(queue_at(1, rest).wake, now + 11s) << "its own ttl is 10 s";
  EXPECT_LE(queue_at(1'000'000, 10s).wake, now + 1min);
}

TEST_F(redis_recipe, a_holder_that_subscribes_checks_for_waiters) {
  hold();
  EXPECT_EQ(steps.on_subscribed(now).send, operation::check_waiters);
  EXPECT_EQ(steps.on_cut(steps.epoch()).send, operation::check_waiters);
  EXPECT_EQ(hear(operation::check_waiters, verdict::done).event, claim_event::none);
  EXPECT_EQ(steps.on_cut(steps.epoch()).send, operation::none) << "it knows";
  EXPECT_EQ(steps.downgrade(now, rules).send, operation::downgrade);
  EXPECT_EQ(steps.on_subscribed(now).send, operation::none) << "one after the other";
  EXPECT_EQ(hear(operation::downgrade, verdict::done).send, operation::check_waiters);
  reply r = answer(operation::check_waiters, verdict::done);
  r.others = true;
  EXPECT_EQ(steps.on(r, now, rules).event, claim_event::wanted);
  EXPECT_EQ(steps.on_subscribed(now).send, operation::none) << "it has been told";
}

TEST_F(redis_recipe, only_a_take_does_not_tell_whether_somebody_waits) {
  hold();
  EXPECT_TRUE(steps.granted().waiters_unknown);
  EXPECT_EQ(steps.check_waiters(now, rules).send, operation::check_waiters);
  EXPECT_EQ(steps.on_subscribed(now).send, operation::none) << "one after the other";
  EXPECT_EQ(hear(operation::check_waiters, verdict::done).send, operation::check_waiters)
      << "it was asked before this client listened";
  reply r = answer(operation::check_waiters, verdict::done);
  r.others = true;
  EXPECT_EQ(steps.on(r, now, rules).event, claim_event::wanted);
  EXPECT_EQ(steps.check_waiters(now, rules).send, operation::none) << "it has been told";
  steps.release(now, rules);
  EXPECT_EQ(steps.check_waiters(now, rules).send, operation::none) << "it is not held";
  hear(operation::release, verdict::done);
  steps.acquire({.ttl = 10s}, now, rules);
  hear(operation::lock_or_queue, verdict::granted);
  EXPECT_FALSE(steps.granted().waiters_unknown);
  steps.release(now, rules);
  EXPECT_EQ(steps.check_waiters(now, rules).send, operation::none) << "it is being released";
}

TEST_F(redis_recipe, a_downgrade_is_repeated_until_it_is_answered) {
  hold();
  steps.renew(10s, now, rules);
  const reply as_writer = answer(operation::renew, verdict::not_owner);
  EXPECT_EQ(steps.downgrade(now, rules).send, operation::downgrade);
  EXPECT_EQ(steps.mode(), lock_mode::shared);
  EXPECT_EQ(steps.on(as_writer, now, rules).event, claim_event::none) << "it was the writer's";
  EXPECT_EQ(steps.on_cut(steps.epoch()).send, operation::downgrade);
  EXPECT_TRUE(hear(operation::downgrade, verdict::not_now).sleeps);
  EXPECT_EQ(steps.on_wake(now, rules).send, operation::downgrade);
  hear(operation::downgrade, verdict::done);
  EXPECT_EQ(steps.on_cut(steps.epoch()).send, operation::none);
  EXPECT_EQ(steps.release(now, rules).send, operation::release);
}

TEST_F(redis_recipe, a_downgrade_of_a_lost_lock_reports_the_loss) {
  hold();
  steps.downgrade(now, rules);
  EXPECT_EQ(hear(operation::downgrade, verdict::not_owner).event, claim_event::lost);
}

TEST_F(redis_recipe, one_of_several_locks_requests_all_of_them_again) {
  const seam::acquire_request together{.one_attempt = true,
                                       .ttl = 10s,
                                       .group = seam::lock_group::of(2)};
  EXPECT_EQ(steps.acquire(together, now, rules).send, operation::lock_all);
  EXPECT_EQ(steps.on_cut(steps.epoch()).send, operation::resolve);
  EXPECT_EQ(hear(operation::resolve, verdict::busy).send, operation::lock_all);
  EXPECT_EQ(hear(operation::lock_all, verdict::busy).send, operation::peek_kind);
}

TEST_F(redis_recipe, a_reply_to_an_earlier_question_is_history) {
  steps.acquire({.ttl = 10s}, now, rules);
  const reply late = answer(operation::try_lock, verdict::granted);
  EXPECT_EQ(steps.cancel(now, rules).send, operation::withdraw);
  EXPECT_EQ(steps.on(late, now, rules).event, claim_event::none);
  EXPECT_EQ(steps.now_in(), state::withdrawing);
}

TEST_F(redis_recipe, an_unanswered_take_is_resolved) {
  steps.acquire({.ttl = 10s}, now, rules);
  EXPECT_EQ(steps.on_cut(steps.epoch()).send, operation::resolve);
  EXPECT_EQ(hear(operation::resolve, verdict::granted).event, claim_event::granted);
}

TEST_F(redis_recipe, a_claim_that_may_have_left_something_takes_another_id) {
  steps.acquire({.ttl = 10s}, now, rules);
  steps.on_cut(steps.epoch());
  reply r = answer(operation::resolve, verdict::busy);
  r.final = false;
  const effects out = steps.on(r, now, rules);
  EXPECT_TRUE(out.orphan && out.new_owner);
  EXPECT_EQ(out.send, operation::try_lock);
}

TEST_F(redis_recipe, a_hand_over_with_a_deadline_is_held_and_one_without_is_confirmed) {
  queue();
  push p;
  p.number = 7;
  EXPECT_EQ(steps.on(p, now).send, operation::lock_or_queue);
  p.until = now + 240ms;
  EXPECT_EQ(steps.on(p, now).event, claim_event::granted);
  EXPECT_TRUE(steps.granted().provisional);
  EXPECT_EQ(steps.granted().deadline, now + 240ms);
}

TEST_F(redis_recipe, a_waiter_is_never_overdue_and_one_attempt_is_after_the_op_timeout) {
  for (const bool once : {false, true}) {
    steps.acquire({.one_attempt = once, .ttl = 10s}, now, rules);
    EXPECT_EQ(steps.is_waiter(), !once);
    EXPECT_EQ(steps.is_attempt(), once);
    now += 4s;
    EXPECT_TRUE(hear(operation::try_lock, verdict::not_now).sleeps);
    now += 2s;
    const effects out = steps.on_wake(now, rules);
    EXPECT_EQ(out.send, once ? operation::none : operation::try_lock);
    EXPECT_EQ(out.event, once ? claim_event::refused : claim_event::none);
    if (!once) steps.give_up(errc::closed);
  }
}

TEST_F(redis_recipe, one_attempt_is_repeated_just_before_its_time_is_over) {
  steps.acquire({.one_attempt = true, .ttl = 10s}, now, rules);
  const time_point end = steps.due(rules), last = steps.last_try(rules);
  EXPECT_LT(last, end);
  now = last - 10ms;
  EXPECT_EQ(hear(operation::try_lock, verdict::not_now).wake, last);
  now = last;
  EXPECT_EQ(steps.on_wake(now, rules).send, operation::try_lock);
  now = end - 1ms;
  EXPECT_EQ(hear(operation::try_lock, verdict::not_now).wake, end);
}

TEST_F(redis_recipe, a_release_and_a_withdrawal_keep_the_op_timeout) {
  hold();
  steps.release(now, rules);
  EXPECT_EQ(steps.due(rules), now + 5s);
  hear(operation::release_uncontended, verdict::done);
  queue();
  EXPECT_EQ(steps.due(rules), base::never);
  steps.cancel(now, rules);
  EXPECT_EQ(steps.due(rules), now + 5s);
}

TEST_F(redis_recipe, a_bad_number_is_given_up_under_another_id_and_not_for_ever) {
  steps.acquire({.ttl = 10s}, now, rules);
  const effects first = hear(operation::try_lock, verdict::bad_number);
  EXPECT_TRUE(first.orphan && first.new_owner);
  EXPECT_EQ(first.send, operation::try_lock);
  const effects second = hear(operation::try_lock, verdict::bad_number);
  EXPECT_EQ(second.send, operation::none);
  EXPECT_TRUE(second.sleeps);
  now += 6s;
  EXPECT_EQ(hear(operation::try_lock, verdict::bad_number).event, claim_event::refused);
}

TEST_F(redis_recipe, a_release_is_repeated_until_it_is_answered) {
  hold();
  EXPECT_EQ(steps.release(now, rules).send, operation::release_uncontended);
  EXPECT_EQ(steps.on_cut(steps.epoch()).send, operation::release);
  const effects gone = hear(operation::release, verdict::not_owner);
  EXPECT_EQ(gone.event, claim_event::ended);
  EXPECT_EQ(gone.why, errc{}) << "it may be gone because of the first";
}

TEST_F(redis_recipe, a_release_at_a_lock_that_is_of_another_kind_now_ends) {
  hold();
  steps.release(now, rules);
  reply r = answer(operation::release_uncontended, verdict::failed);
  r.why = errc::mismatch;
  const effects out = steps.on(r, now, rules);
  EXPECT_EQ(out.event, claim_event::ended);
  EXPECT_EQ(out.why, errc::not_held);
}

TEST_F(redis_recipe, a_claim_that_leaves_wakes_up_for_nothing_any_more) {
  hold();
  EXPECT_TRUE(steps.release(now, rules).sleeps);
}

TEST_F(redis_recipe, a_time_to_look_is_of_the_wait_in_which_it_was_told) {
  steps.acquire({.ttl = 10s}, now, rules);
  hear(operation::try_lock, verdict::busy);
  steps.on(push{.what = push::kind::look, .until = now + 1s}, now);
  hear(operation::lock_or_queue, verdict::failed);
  EXPECT_GT(queue_at(0).wake, now + 9s);
}

TEST_F(redis_recipe, a_release_after_a_renewal_removes_what_the_renewal_may_have_stored) {
  hold();
  steps.renew(10s, now, rules);
  hear(operation::renew, verdict::granted);
  EXPECT_EQ(steps.release(now, rules).send, operation::release);
}

TEST_F(redis_recipe, a_release_of_one_that_was_about_to_wait_removes_its_place) {
  steps.acquire({.ttl = 10s}, now, rules);
  hear(operation::try_lock, verdict::busy);
  EXPECT_EQ(hear(operation::lock_or_queue, verdict::granted).event, claim_event::granted);
  EXPECT_EQ(steps.release(now, rules).send, operation::release);
}

TEST_F(redis_recipe, only_a_waiter_queues_at_once_where_others_waited_the_last_time) {
  hold();
  steps.on(push{.what = push::kind::wanted}, now);
  steps.release(now, rules);
  hear(operation::release, verdict::done);
  EXPECT_EQ(steps.acquire({.one_attempt = true, .ttl = 10s}, now, rules).send, operation::try_lock);
  hear(operation::try_lock, verdict::busy);
  hear(operation::peek_kind, verdict::busy);
  EXPECT_EQ(steps.acquire({.ttl = 10s}, now, rules).send, operation::lock_or_queue);
}

TEST_F(redis_recipe, a_reader_is_not_downgraded) {
  steps.acquire({.ttl = 10s, .mode = lock_mode::shared}, now, rules);
  hear(operation::lock_or_queue, verdict::granted);
  EXPECT_EQ(steps.downgrade(now, rules).send, operation::none);
  EXPECT_FALSE(steps.is_downgraded());
}

TEST_F(redis_recipe, a_lost_lock_is_wanted_by_no_waiter) {
  hold();
  steps.check_waiters(now, rules);
  steps.renew(10s, now, rules);
  hear(operation::renew, verdict::not_owner);
  reply r = answer(operation::check_waiters, verdict::done);
  r.others = true;
  EXPECT_EQ(steps.on(r, now, rules).event, claim_event::none);
}

TEST_F(redis_recipe, a_lost_lock_is_not_released) {
  hold();
  steps.renew(10s, now, rules);
  EXPECT_EQ(hear(operation::renew, verdict::not_owner).event, claim_event::lost);
  const effects out = steps.release(now, rules);
  EXPECT_EQ(out.send, operation::none);
  EXPECT_EQ(out.why, errc::not_held);
}

TEST_F(redis_recipe, what_is_overdue_becomes_an_orphan) {
  steps.acquire({.one_attempt = true, .ttl = 10s}, now, rules);
  EXPECT_EQ(steps.due(rules), now + 5s);
  const effects out = steps.on_overdue();
  EXPECT_EQ(out.event, claim_event::refused);
  EXPECT_TRUE(out.orphan);
  EXPECT_EQ(steps.now_in(), state::idle);
}

TEST_F(redis_recipe, what_is_given_up_becomes_an_orphan) {
  queue();
  EXPECT_TRUE(steps.give_up(errc::closed).orphan);
  hold();
  steps.release(now, rules);
  const effects ended = steps.give_up(errc::closed);
  EXPECT_EQ(ended.why, errc::outcome_unknown);
  EXPECT_TRUE(ended.orphan);
  EXPECT_FALSE(steps.give_up(errc::closed).orphan) << "it waits for nothing";
}

}  // namespace
}  // namespace holdfast::redis
#endif
