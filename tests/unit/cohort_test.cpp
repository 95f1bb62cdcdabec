// The cohort as a pure state machine: no thread, no store, a clock moved by hand.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <memory>
#include <vector>

#include "core/client_access.hpp"
#include "core/client_impl.hpp"
#include "core/cohort.hpp"
#include "testkit/manual_environment.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::core::cohort;
using holdfast::core::conversation;
using holdfast::core::duration;
using holdfast::core::grant;
using holdfast::core::time_point;
using holdfast::detail::client_access;
using holdfast::detail::turn;

struct caller final : holdfast::core::waiter {
  explicit caller(duration ttl = 30s) { how.ttl = ttl; }
  bool answered = false;
  void complete() noexcept override { answered = true; }
  std::int64_t token() const { return granted ? granted->token : 0; }
};

struct asker final : holdfast::core::inquiry {
  bool answered = false;
  void complete() noexcept override { answered = true; }
};

class a_cohort : public ::testing::Test {
 protected:
  a_cohort() {
    rules.can.wanted = holdfast::core::wanted_by::push;
    rules.env = &env;
  }

  ~a_cohort() override { home.drop_user(); }

  // What the cohort wants said, as "acquire", "release+acquire" ...; the claim that says it.
  conversation* said(unsigned verbs) {
    conversation* const c = machine.take_todo();
    if (!c) {
      ADD_FAILURE() << "nothing to say";
      return nullptr;
    }
    EXPECT_EQ(c->todo, verbs);
    c->todo = 0;
    return c;
  }
  bool silent() { return machine.take_todo() == nullptr; }

  void complete_answered() {
    for (auto* c = machine.take_answered(); c;) {
      auto* const next = c->next_answered;
      c->complete();
      c = next;
    }
  }
  void enter(caller& w) {
    machine.enter(w, env.now());
    complete_answered();
  }
  void leave(caller& w, bool others_wait = false, asker* report = nullptr) {
    machine.leave(*w.granted, others_wait, report, env.now());
    w.granted = nullptr;
    complete_answered();
  }
  void grant_to(conversation& c, std::int64_t number, duration ttl) {
    machine.on_granted(c, grant{number, env.now() + ttl, env.now(), false});
    complete_answered();
  }
  void tick() {
    machine.tick(env.now());
    complete_answered();
  }

  holdfast::testkit::manual_environment env;
  holdfast::client door = client_access::open(holdfast::url::parse("memory:"), {}, env);
  holdfast::detail::slot& home = client_access::impl(door).slot_for("x");
  holdfast::core::lock_rules rules;
  cohort machine{home, rules};
};

TEST_F(a_cohort, asks_once_for_all_who_wait) {
  caller first, second;
  enter(first);
  EXPECT_TRUE(said(conversation::acquire));
  enter(second);
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort, serves_its_line_in_order_under_one_grant) {
  caller a, b, c;
  enter(a);
  enter(b);
  enter(c);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  EXPECT_TRUE(a.answered);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(a.token(), 7 * 1024);
  leave(a);
  EXPECT_EQ(b.token(), 7 * 1024 + 1);
  leave(b);
  EXPECT_EQ(c.token(), 7 * 1024 + 2);
  leave(c);
  EXPECT_EQ(said(conversation::release), claim);
}

TEST_F(a_cohort, passes_the_lock_on_when_wanted_and_the_budget_is_spent) {
  rules.options.turns = 2;
  caller a, b, c;
  enter(a);
  enter(b);
  enter(c);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  leave(a, true);
  EXPECT_TRUE(b.answered) << "the second turn is within the budget";
  leave(b, true);
  EXPECT_FALSE(c.answered);
  EXPECT_EQ(said(conversation::release), claim);
  EXPECT_NE(claim->next, nullptr) << "the next claim asks in the same write";
  EXPECT_EQ(said(conversation::acquire), claim->next);
}

TEST_F(a_cohort, goes_on_past_its_budget_while_nobody_else_wants_the_lock) {
  rules.options.turns = 1;
  caller a, b;
  enter(a);
  enter(b);
  grant_to(*said(conversation::acquire), 7, 30s);
  leave(a, false);
  EXPECT_TRUE(b.answered);
  leave(b);
  EXPECT_TRUE(said(conversation::release));
}

TEST_F(a_cohort, spends_its_budget_of_time) {
  caller a, b;
  enter(a);
  enter(b);
  grant_to(*said(conversation::acquire), 7, 30s);
  env.advance(6ms);
  leave(a, true);
  EXPECT_FALSE(b.answered);
  machine.withdraw(b, errc::canceled);
}

TEST_F(a_cohort, asks_for_a_new_grant_after_turn_1023) {
  std::vector<std::unique_ptr<caller>> callers;
  for (int i = 0; i < 1025; ++i) enter(*callers.emplace_back(std::make_unique<caller>()));
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  for (int i = 0; i < 1024; ++i) {
    ASSERT_EQ(callers[i]->token(), 7 * 1024 + i);
    leave(*callers[i]);
  }
  EXPECT_EQ(said(conversation::release), claim);
  conversation* const next = said(conversation::acquire);
  grant_to(*next, 8, 30s);
  EXPECT_EQ(callers[1024]->token(), 8 * 1024);
  leave(*callers[1024]);
}

TEST_F(a_cohort, refuses_an_attempt_while_somebody_waits) {
  caller a, b;
  enter(a);
  b.how.one_attempt = true;
  enter(b);
  EXPECT_TRUE(b.answered);
  EXPECT_EQ(b.why.code, errc::timed_out);
  machine.withdraw(a, errc::canceled);
}

TEST_F(a_cohort, asks_again_for_those_who_wait_when_an_attempt_was_busy) {
  caller attempt, patient;
  attempt.how.one_attempt = true;
  enter(attempt);
  conversation* const claim = said(conversation::acquire);
  enter(patient);
  machine.on_refused(*claim, {errc::timed_out, {}});
  complete_answered();
  EXPECT_EQ(attempt.why.code, errc::timed_out);
  EXPECT_FALSE(patient.answered);
  EXPECT_FALSE(said(conversation::acquire)->one_attempt);
  machine.withdraw(patient, errc::canceled);
}

TEST_F(a_cohort, tells_all_who_wait_when_the_backend_is_broken) {
  caller a, b;
  enter(a);
  enter(b);
  machine.on_refused(*said(conversation::acquire), {errc::unavailable, "gone"});
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
  conversation* const claim = said(conversation::acquire);
  machine.withdraw(a, errc::canceled);
  EXPECT_TRUE(silent()) << "b still waits";
  machine.withdraw(b, errc::canceled);
  EXPECT_EQ(said(conversation::cancel), claim);
  machine.on_ended(*claim, {});
  EXPECT_FALSE(machine.busy());
}

TEST_F(a_cohort, gives_back_a_grant_that_came_too_late_to_withdraw) {
  caller a;
  enter(a);
  conversation* const claim = said(conversation::acquire);
  machine.withdraw(a, errc::canceled);
  said(conversation::cancel);
  grant_to(*claim, 7, 30s);
  EXPECT_EQ(said(conversation::release), claim);
}

TEST_F(a_cohort, uses_a_grant_that_came_too_late_to_withdraw_for_a_newcomer) {
  caller a, b;
  enter(a);
  conversation* const claim = said(conversation::acquire);
  machine.withdraw(a, errc::canceled);
  said(conversation::cancel);
  enter(b);
  grant_to(*claim, 7, 30s);
  EXPECT_TRUE(b.granted);
  leave(b);
}

TEST_F(a_cohort, asks_anew_for_a_newcomer_when_the_withdrawal_is_done) {
  caller a, b;
  enter(a);
  conversation* const claim = said(conversation::acquire);
  machine.withdraw(a, errc::canceled);
  said(conversation::cancel);
  enter(b);
  machine.on_ended(*claim, {});
  EXPECT_TRUE(said(conversation::acquire));
  machine.withdraw(b, errc::canceled);
}

TEST_F(a_cohort, does_not_withdraw_a_new_claim_by_a_cancel_that_was_overtaken) {
  caller gone, newcomer;
  enter(gone);
  conversation* const claim = said(conversation::acquire);
  machine.withdraw(gone, errc::canceled);  // noted, but not said yet
  machine.on_refused(*claim, {errc::unavailable, {}});
  enter(newcomer);
  EXPECT_EQ(said(conversation::acquire), claim) << "and nothing else";
  grant_to(*claim, 7, 30s);
  ASSERT_TRUE(newcomer.granted);
  leave(newcomer);
}

TEST_F(a_cohort, renews_before_a_third_of_the_ttl_is_gone) {
  caller a(30s);
  enter(a);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  EXPECT_LE(machine.next_tick(), env.now() + 10s);
  env.advance(10s);
  tick();
  EXPECT_EQ(said(conversation::renew), claim);
  EXPECT_EQ(claim->ttl, 30s);
  machine.on_moved(*claim, env.now() + 30s, claim->ticket, env.now());
  EXPECT_EQ(a.granted->deadline.load(), env.now() + 30s);
  leave(a);
}

TEST_F(a_cohort, repeats_a_renewal_that_is_not_answered_and_says_doubt_then_loss) {
  caller a(30s);
  enter(a);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  int renewals = 0;
  for (int second = 0; second < 31; ++second) {
    tick();
    while (conversation* const c = machine.take_todo()) {
      EXPECT_EQ(c->todo, conversation::renew);
      c->todo = 0;
      ++renewals;
    }
    EXPECT_EQ(a.granted->doubted, second >= 27) << "3 s before the deadline: ttl/10";
    EXPECT_EQ(a.granted->held(), second < 30);
    env.advance(1s);
  }
  EXPECT_GE(renewals, 4);
  EXPECT_EQ(a.granted->status(), errc::lost);
  leave(a);
  EXPECT_EQ(said(conversation::release), claim) << "only once the holder has left";
}

TEST_F(a_cohort, does_not_let_a_late_renewal_revive_what_is_lost) {
  caller a(30s);
  enter(a);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  env.advance(31s);
  machine.on_moved(*claim, env.now() + 30s, claim->ticket, env.now());
  EXPECT_FALSE(a.granted->held());
  leave(a);
}

TEST_F(a_cohort, starts_no_turn_before_a_lost_lease_is_left) {
  caller a, b;
  enter(a);
  enter(b);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  machine.on_lost(*claim, env.now());
  EXPECT_TRUE(silent());
  EXPECT_FALSE(b.answered);
  leave(a);
  EXPECT_EQ(said(conversation::release), claim);
  EXPECT_TRUE(said(conversation::acquire));
  machine.withdraw(b, errc::canceled);
}

TEST_F(a_cohort, admits_others_after_a_loss_when_asked_to) {
  rules.options.admit_after_loss = true;
  caller a, b;
  enter(a);
  enter(b);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  machine.on_lost(*claim, env.now());
  conversation* const second = said(conversation::acquire);
  EXPECT_NE(second, claim);
  grant_to(*second, 8, 30s);
  EXPECT_TRUE(b.granted);
  leave(a);
  EXPECT_EQ(said(conversation::release), claim);
  EXPECT_TRUE(b.granted->held()) << "a stale holder that leaves harms nobody";
  leave(b);
  EXPECT_EQ(said(conversation::release), second);
}

TEST_F(a_cohort, renews_before_a_turn_that_would_start_on_less_than_half_its_ttl) {
  caller a(30s), b(30s);
  a.renews = false;
  enter(a);
  enter(b);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  env.advance(16s);
  leave(a);
  EXPECT_FALSE(b.answered);
  EXPECT_EQ(said(conversation::renew), claim);
  machine.on_moved(*claim, env.now() + 30s, claim->ticket, env.now());
  complete_answered();
  EXPECT_TRUE(b.granted);
  leave(b);
}

TEST_F(a_cohort, gives_back_a_grant_that_arrives_after_its_deadline) {
  caller a, attempt;
  enter(a);
  conversation* const claim = said(conversation::acquire);
  machine.on_granted(*claim, grant{7, env.now(), env.now(), false});
  complete_answered();
  EXPECT_FALSE(a.answered);
  EXPECT_EQ(said(conversation::release), claim);
  EXPECT_TRUE(said(conversation::acquire));
  machine.withdraw(a, errc::canceled);
}

TEST_F(a_cohort, ends_a_wait_when_its_time_has_passed) {
  caller a;
  a.until = env.now() + 1s;
  enter(a);
  EXPECT_EQ(machine.next_tick(), a.until);
  env.advance(1s);
  tick();
  EXPECT_EQ(a.why.code, errc::timed_out);
}

TEST_F(a_cohort, reports_a_release_when_the_store_has_answered) {
  caller a;
  enter(a);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
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
  grant_to(*said(conversation::acquire), 7, 30s);
  asker report;
  report.until = env.now() + 5s;
  leave(a, false, &report);
  env.advance(5s);
  tick();
  EXPECT_EQ(report.why.code, errc::outcome_unknown);
}

TEST_F(a_cohort, ends_waits_and_loses_leases_when_closed) {
  caller a, b, late;
  enter(a);
  enter(b);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  machine.close();
  complete_answered();
  EXPECT_EQ(b.why.code, errc::closed);
  EXPECT_EQ(a.granted->status(), errc::closed);
  EXPECT_EQ(said(conversation::release), claim);
  enter(late);
  EXPECT_EQ(late.why.code, errc::closed);
  leave(a);
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort, ignores_a_grant_that_nobody_asked_for) {
  caller a;
  enter(a);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  leave(a);
  said(conversation::release);
  grant_to(*claim, 9, 30s);
  EXPECT_TRUE(silent());
}

TEST_F(a_cohort, relies_on_no_more_than_a_shorter_renewal_asked_for) {
  caller a(30s), b(1s);
  enter(a);
  enter(b);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  leave(a);
  ASSERT_TRUE(b.granted);
  env.advance(10s);
  tick();
  EXPECT_EQ(said(conversation::renew), claim);
  EXPECT_EQ(claim->ttl, 1s);
  EXPECT_LE(b.granted->deadline.load(), env.now() + 1s) << "so the store has it, answered or not";
  const auto earlier = claim->ticket - 1;
  machine.on_moved(*claim, env.now() + 30s, earlier, env.now());
  EXPECT_LE(b.granted->deadline.load(), env.now() + 1s) << "an earlier answer says nothing of it";
  env.advance(1s);
  EXPECT_FALSE(b.granted->held());
  leave(b);
}

TEST_F(a_cohort, takes_the_answer_to_a_shorter_renewal_for_what_it_is) {
  caller a(30s);
  enter(a);
  conversation* const claim = said(conversation::acquire);
  grant_to(*claim, 7, 30s);
  asker i;
  machine.extend(*a.granted, 1s, i, env.now());
  const auto end = env.now() + 985ms;
  EXPECT_LE(a.granted->deadline.load(), env.now() + 1s);
  machine.on_moved(*claim, end, claim->ticket, env.now());
  complete_answered();
  EXPECT_TRUE(i.answered);
  EXPECT_FALSE(i.why.code);
  EXPECT_EQ(a.granted->deadline.load(), end);
  leave(a);
}

}  // namespace
