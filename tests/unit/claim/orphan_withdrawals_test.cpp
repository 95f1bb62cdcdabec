#include "claim/orphan_withdrawals.hpp"

#include <gtest/gtest.h>

namespace holdfast::claims {
namespace {

using namespace std::chrono_literals;

struct left_behind final : orphan {
  struct script {
    withdrawal says = withdrawal::sent;
    int sent = 0;
    left_behind* last = nullptr;
    base::duration pause_max = base::duration::max();
  };
  left_behind(script& s, base::time_point end) : orphan(end, s.pause_max), by(s) { by.last = this; }
  withdrawal withdraw(base::time_point) {
    ++by.sent;
    return by.says;
  }
  script& by;
  std::list<left_behind>::iterator place;
};

class orphans : public testing::Test {
 protected:
  base::time_point add() { return all.add(now, plan, now + 1h); }
  base::time_point answer(withdrawal what) { return all.on_answer(*plan.last, what, now); }

  left_behind::script plan;
  orphan_withdrawals<left_behind> all;
  base::time_point now{1000s};
};

TEST_F(orphans, one_that_is_withdrawn_at_once_leaves_nothing) {
  plan.says = withdrawal::done;
  EXPECT_EQ(add(), base::never);
  EXPECT_TRUE(all.empty());
}

TEST_F(orphans, without_an_answer_it_is_sent_again_after_longer_each_time) {
  plan.says = withdrawal::may_be_lost;
  base::duration last{};
  for (base::time_point next = add(); !all.empty(); next = all.tick(now)) {
    EXPECT_GE(next - now, last);
    last = next - now;
    now = next;
    ASSERT_LT(plan.sent, 100);
  }
  EXPECT_EQ(last, 60s);
  EXPECT_GE(now, base::time_point{1000s} + 1h) << "until it has expired in any case";
}

TEST_F(orphans, what_awaits_its_answer_is_sent_again_only_after_a_cut) {
  add();
  EXPECT_EQ(all.tick(now + 1h), base::never);
  all.resend_all(now);
  EXPECT_EQ(plan.sent, 1);
  all.on_cut(*plan.last);
  EXPECT_EQ(all.tick(now + 1h), base::never) << "there is no connection";
  all.resend_all(now);
  EXPECT_EQ(plan.sent, 2);
}

TEST_F(orphans, what_cannot_be_sent_waits_for_a_connection_for_any_time) {
  plan.says = withdrawal::unsent;
  EXPECT_EQ(add(), base::never);
  EXPECT_EQ(all.tick(now + 2h), base::never);
  EXPECT_EQ(plan.sent, 1);
  plan.says = withdrawal::done;
  all.resend_all(now + 2h);
  EXPECT_EQ(plan.sent, 2);
  EXPECT_TRUE(all.empty());
}

TEST_F(orphans, an_answer_that_proves_nothing_is_not_the_last) {
  add();
  EXPECT_EQ(answer(withdrawal::unverified), now + 100ms);
  EXPECT_EQ(all.tick(now + 99ms), now + 100ms);
  EXPECT_EQ(plan.sent, 1);
  EXPECT_EQ(all.tick(now += 100ms), base::never);
  EXPECT_EQ(plan.sent, 2);
  EXPECT_EQ(answer(withdrawal::unverified), now + 1s);
  EXPECT_EQ(answer(withdrawal::unverified), now + 10s);
  now += 1h - 5s;
  EXPECT_EQ(answer(withdrawal::unverified), base::never) << "it expires before the next";
  EXPECT_TRUE(all.empty());
}

TEST_F(orphans, others_wait_behind_a_place_that_a_late_request_leaves_so_pauses_have_a_bound) {
  plan.pause_max = 3s;
  add();
  for (int i = 0; i < 5; ++i) EXPECT_LE(answer(withdrawal::unverified), now + 3s);
}

TEST_F(orphans, each_is_due_at_its_own_time) {
  plan.says = withdrawal::may_be_lost;
  const base::time_point first = add();
  EXPECT_EQ(first, now + 100ms);
  now += 50ms;
  EXPECT_EQ(add(), now + 100ms);
  EXPECT_EQ(all.tick(now), first) << "the earlier one";
  EXPECT_EQ(plan.sent, 2);
  EXPECT_EQ(all.tick(first), now + 100ms);
  EXPECT_EQ(plan.sent, 3);
}

TEST_F(orphans, one_that_may_be_lost_is_dropped_once_it_has_expired) {
  plan.says = withdrawal::may_be_lost;
  all.add(now, plan, now + 100ms);
  all.tick(now + 100ms - 1ns);
  EXPECT_FALSE(all.empty());
  EXPECT_EQ(all.tick(now + 100ms), base::never);
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(plan.sent, 1);
}

TEST_F(orphans, one_that_is_answered_is_dropped_when_it_expires_before_the_next_withdrawal) {
  all.add(now, plan, now + 100ms);
  EXPECT_EQ(answer(withdrawal::unverified), base::never);
  EXPECT_TRUE(all.empty());
  all.add(now, plan, now + 100ms + 1ns);
  EXPECT_EQ(answer(withdrawal::unverified), now + 100ms);
  EXPECT_FALSE(all.empty());
  all.drop_all();
  EXPECT_TRUE(all.empty());
}

TEST_F(orphans, those_of_another_server_are_handed_over_unless_they_await_an_answer) {
  left_behind::script awaits, stays, moves;
  for (left_behind::script* const s : {&awaits, &stays, &moves}) {
    s->says = s == &awaits ? withdrawal::sent : withdrawal::unsent;
    all.add(now, *s, now + 1h);
  }
  int handed = 0;
  all.hand_over([&](const left_behind& o) { return &o.by == &stays; },
                [&](const left_behind& o) { handed += &o.by == &moves ? 1 : 100; });
  EXPECT_EQ(handed, 1);
  all.resend_all(now);
  EXPECT_EQ(awaits.sent, 1);
  EXPECT_EQ(stays.sent, 2);
  EXPECT_EQ(moves.sent, 1) << "it is withdrawn elsewhere";
}

TEST_F(orphans, while_the_server_refuses_others_wait_behind_it_so_pauses_are_short) {
  add();
  for (int i = 0; i < 5; ++i) EXPECT_LE(answer(withdrawal::refused), now + 1s);
  EXPECT_EQ(answer(withdrawal::again), base::never) << "sent at once";
  EXPECT_EQ(plan.sent, 2);
  EXPECT_EQ(answer(withdrawal::done), base::never);
  EXPECT_TRUE(all.empty());
}

TEST_F(orphans, one_that_is_due_is_withdrawn_once_more_by_a_process_that_was_stopped) {
  add();
  EXPECT_EQ(answer(withdrawal::unverified), now + 100ms);
  all.tick(now + 2h);
  EXPECT_EQ(plan.sent, 2) << "a request may have been delayed for as long";
}

}  // namespace
}  // namespace holdfast::claims
