#include "claim/recipes/lease_recipe.hpp"

#include <gtest/gtest.h>

namespace holdfast::claims {
namespace {

using namespace std::chrono_literals;

enum class plain_state : unsigned char { idle, trying, held, lost, releasing, withdrawing };
enum class plain_operation : unsigned char { none, try_lock, renew, downgrade, release };

struct plain_reply {
  enum class verdict : unsigned char { done, not_owner, not_now };
  verdict what = verdict::done;
  errc why{};
  duration ttl = 10s;
  time_point sent{};
};

class lease_recipe_test : public testing::Test,
                          protected lease_recipe<plain_state, plain_operation> {
 protected:
  using verdict = plain_reply::verdict;
  void acquire(bool one_attempt) {
    begin({.one_attempt = one_attempt, .ttl = 10s});
    turn_to(plain_state::trying, now);
  }
  void hold() {
    acquire(false);
    become_held(7, now + 10s, now);
  }
  step hear(verdict v, errc why = {}) {
    const plain_reply r{.what = v, .why = why, .sent = now - 1s};
    return is_downgrading_ ? on_downgrade_reply(r, now, rules) : on_renew_reply(r, now, rules);
  }
  time_point now{1000s};
  timing rules{.op_timeout = 8s};
};

TEST_F(lease_recipe_test, the_deadline_of_a_renewal_counts_from_its_send) {
  hold();
  EXPECT_EQ(renew(10s, now, rules).send, plain_operation::renew);
  EXPECT_EQ(hear(verdict::done).event, claim_event::extended);
  EXPECT_EQ(granted().deadline, now - 1s + 10s - 100ms - 2ms);
}

TEST_F(lease_recipe_test, the_answer_to_an_older_renewal_takes_nothing_back) {
  hold();
  renew(10s, now, rules);
  renew(30s, now, rules);
  on_renew_reply(plain_reply{.ttl = 30s, .sent = now}, now, rules);
  const time_point promised = granted().deadline;
  EXPECT_EQ(hear(verdict::done).event, claim_event::extended) << "its caller is answered";
  EXPECT_EQ(granted().deadline, promised);
  renew(10s, now, rules);
  hear(verdict::done);
  EXPECT_LT(granted().deadline, promised) << "a later one ends earlier: its holder asked for that";
}

TEST_F(lease_recipe_test, a_lease_that_does_not_expire_has_no_deadline) {
  rules.runs_out = false;
  hold();
  hear(verdict::done);
  EXPECT_EQ(granted().deadline, base::never);
}

TEST_F(lease_recipe_test, a_renewal_without_an_outcome_changes_nothing) {
  hold();
  EXPECT_EQ(hear(verdict::not_now).event, claim_event::none);
  EXPECT_TRUE(is_held());
  EXPECT_EQ(granted().deadline, now + 10s);
}

TEST_F(lease_recipe_test, a_lease_of_another_owner_is_lost_and_says_why) {
  hold();
  EXPECT_EQ(hear(verdict::not_owner).why, errc::lost);
  EXPECT_EQ(now_in(), plain_state::lost);
  EXPECT_EQ(renew(10s, now, rules).send, plain_operation::none);
  hold();
  EXPECT_EQ(hear(verdict::not_owner, errc::timed_out).why, errc::timed_out);
}

TEST_F(lease_recipe_test, a_refused_downgrade_is_repeated_until_it_is_executed) {
  hold();
  begin_downgrade();
  EXPECT_TRUE(is_downgraded()) << "at once: the holder may rely on no more";
  const step refused = hear(verdict::not_now);
  EXPECT_TRUE(refused.sleeps && refused.wake > now);
  EXPECT_TRUE(is_downgrading_);
  EXPECT_FALSE(hear(verdict::done).sleeps);
  EXPECT_FALSE(is_downgrading_);
  EXPECT_TRUE(is_held() && is_downgraded());
  const step late = on_downgrade_reply(plain_reply{.what = verdict::not_now}, now, rules);
  EXPECT_FALSE(late.sleeps) << "of an earlier request";
}

TEST_F(lease_recipe_test, a_refused_attempt_is_repeated_later_each_time_and_just_before_its_end) {
  acquire(true);
  const time_point end = now + rules.op_timeout, last = end - rules.op_timeout / 8;
  EXPECT_EQ(due(rules), end);
  duration before{};
  bool was_last = false;
  while (now < end) {
    const step out = pause(now, rules);
    ASSERT_GT(out.wake, now);
    EXPECT_LE(out.wake + out.spread, end);
    if (out.wake < last) {
      EXPECT_GE(out.wake - now, before);
    }
    was_last = was_last || out.wake == last;
    before = out.wake - now;
    now = out.wake;
  }
  EXPECT_TRUE(was_last);
}

TEST_F(lease_recipe_test, a_waiter_is_never_overdue) {
  acquire(false);
  EXPECT_EQ(due(rules), base::never);
  for (int i = 0; i < 20; ++i) now = pause(now, rules).wake;
  EXPECT_EQ(pause(now, rules).wake, now + failed_pause_max);
}

TEST_F(lease_recipe_test, what_waits_for_an_answer_is_given_up_as_an_orphan) {
  EXPECT_EQ(give_up(errc::closed).event, claim_event::none) << "it wants nothing";
  acquire(false);
  const step refused = give_up(errc::closed);
  EXPECT_EQ(refused.event, claim_event::refused);
  EXPECT_EQ(refused.why, errc::closed);
  EXPECT_TRUE(refused.orphan && refused.sleeps && is_idle());
  hold();
  EXPECT_EQ(give_up(errc::closed).event, claim_event::none) << "a holder waits for nothing";
  turn_to(plain_state::releasing, now);
  EXPECT_EQ(due(rules), now + rules.op_timeout) << "a release is no waiter";
  const step ended = give_up(errc::closed);
  EXPECT_EQ(ended.event, claim_event::ended);
  EXPECT_EQ(ended.why, errc::outcome_unknown);
  EXPECT_TRUE(ended.orphan);
}

TEST_F(lease_recipe_test, a_grant_and_each_first_request_make_earlier_replies_late) {
  acquire(false);
  const std::uint32_t asked = epoch();
  EXPECT_FALSE(is_late(asked));
  become_held(7, base::never, now);
  EXPECT_TRUE(is_late(asked));
  const std::uint32_t held = epoch();
  turn_to(plain_state::releasing, now);
  EXPECT_TRUE(is_late(held));
}

TEST_F(lease_recipe_test, a_lease_whose_store_has_moved_is_in_doubt_until_it_is_renewed) {
  EXPECT_EQ(on_moved().event, claim_event::none) << "it holds nothing";
  hold();
  EXPECT_FALSE(is_doubtful());
  EXPECT_EQ(on_moved().event, claim_event::doubtful);
  EXPECT_TRUE(is_doubtful());
  hear(verdict::done);
  EXPECT_FALSE(is_doubtful());
  on_moved();
  hold();
  EXPECT_FALSE(is_doubtful()) << "the next grant is the new store's";
}

TEST_F(lease_recipe_test, a_new_request_is_for_an_exclusive_lease) {
  hold();
  begin_downgrade();
  EXPECT_TRUE(is_downgraded());
  acquire(true);
  EXPECT_FALSE(is_downgraded());
  EXPECT_TRUE(is_attempt());
  EXPECT_FALSE(is_waiter());
  hold();
  EXPECT_FALSE(is_attempt());
}

TEST_F(lease_recipe_test, a_lease_that_is_lost_while_it_is_downgraded_is_not_downgraded_again) {
  hold();
  begin_downgrade();
  EXPECT_EQ(hear(verdict::not_owner).why, errc::lost);
  EXPECT_EQ(now_in(), plain_state::lost);
  EXPECT_FALSE(is_downgrading_);
  EXPECT_EQ(give_up(errc::closed).event, claim_event::none) << "it waits for nothing";
  EXPECT_EQ(hear(verdict::done).event, claim_event::none) << "a late reply revives nothing";
  EXPECT_EQ(now_in(), plain_state::lost);
}

TEST_F(lease_recipe_test, the_last_try_is_an_eighth_of_the_op_timeout_before_the_end) {
  acquire(true);
  EXPECT_EQ(last_try(rules), now + 7s);
  acquire(false);
  EXPECT_EQ(last_try(rules), base::never);
}

TEST_F(lease_recipe_test, that_others_wait_is_reported_once) {
  hold();
  EXPECT_EQ(note_others().event, claim_event::wanted);
  EXPECT_EQ(note_others().event, claim_event::none);
  EXPECT_TRUE(others_wait());
}

}  // namespace
}  // namespace holdfast::claims
