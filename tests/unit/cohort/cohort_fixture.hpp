// A cohort in the hands of a test: no thread, no store, a clock moved by hand.
#pragma once
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <memory>
#include <vector>

#include "api/client_access.hpp"
#include "cohort/client_impl.hpp"
#include "cohort/cohort.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::cohort_tests {

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::base::duration;
using holdfast::base::time_point;
using holdfast::cohort::claim_record;
using holdfast::cohort::cohort;
using holdfast::detail::client_access;
using holdfast::detail::turn;
using holdfast::seam::grant;

struct caller : holdfast::cohort::waiter {
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;
  explicit caller(duration ttl = 30s) { request.ttl = ttl; }
  virtual ~caller() = default;
  bool answered = false;
  void complete() noexcept override { answered = true; }
  std::int64_t token() const { return granted ? granted->token : 0; }
};

struct reading_caller final : caller {
  explicit reading_caller(duration ttl = 30s) : caller(ttl) {
    request.mode = holdfast::lock_mode::shared;
  }
};

struct permit_caller final : caller {
  explicit permit_caller(std::uint32_t permits) {
    request.mode = holdfast::lock_mode::permit;
    request.permits = permits;
    request.total_permits = 10;
  }
};

struct asker final : holdfast::cohort::confirmation {
  bool answered = false;
  void complete() noexcept override { answered = true; }
};

class a_cohort : public ::testing::Test {
 protected:
  a_cohort() {
    rules.can.contention = holdfast::seam::contention_signal::push;
    rules.env = &env;
  }

  ~a_cohort() override { home.drop_user(); }

  // What the cohort wants said, as "acquire", "release+acquire" ...; the claim that says it.
  claim_record* said(unsigned verbs) {
    claim_record* const c = machine.effects().take_scheduled();
    if (!c) {
      ADD_FAILURE() << "nothing to say";
      return nullptr;
    }
    EXPECT_EQ(c->pending_verbs, verbs);
    c->pending_verbs = 0;
    return c;
  }
  bool silent() { return machine.effects().take_scheduled() == nullptr; }

  void complete_answered() {
    for (auto* c = machine.effects().take_answered(); c;) {
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
    if (others_wait) machine.on_contended(*w.granted->of);
    machine.leave(*w.granted, report, env.now());
    w.granted = nullptr;
    complete_answered();
  }
  void grant_to(claim_record& c, std::int64_t number, duration ttl) {
    machine.on_granted(c, grant{number, env.now() + ttl, env.now(), false});
    complete_answered();
  }
  // The claim that asks is granted the lock: number 7, for half a minute.
  claim_record* granted_claim() {
    claim_record* const claim = said(claim_record::acquire);
    if (claim) grant_to(*claim, 7, 30s);
    return claim;
  }
  // The same for an hour, to a holder that renews by hand.
  claim_record* claim_granted_for_an_hour(caller& by_hand) {
    by_hand.renews = false;
    enter(by_hand);
    claim_record* const claim = said(claim_record::acquire);
    if (claim) grant_to(*claim, 7, 1h);
    return claim;
  }
  // `a` has left on less than half of the ttl of `b`, for whose turn the claim is renewed.
  claim_record* claim_renewed_for_turn(caller& a, caller& b) {
    a.renews = false;
    enter(a);
    enter(b);
    claim_record* const claim = granted_claim();
    env.advance(16s);
    leave(a);
    EXPECT_FALSE(b.answered);
    EXPECT_EQ(said(claim_record::renew), claim);
    return claim;
  }
  void tick() {
    machine.tick(env.now());
    complete_answered();
  }

  holdfast::testkit::manual_environment env;
  holdfast::client door = client_access::open(holdfast::url::parse("memory:"), {}, env);
  holdfast::detail::local_lock& home =
      client_access::impl(door).local_lock_for("x", holdfast::lock_kind::mutex);
  holdfast::cohort::lock_rules rules;
  cohort machine{home, rules, client_access::impl(door).connection()};
};

}  // namespace holdfast::cohort_tests
