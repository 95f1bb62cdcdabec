// Deadlines, and how their passing is told.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_MEMORY
#include "api/async_operation.hpp"
#include "claim/recipes/retrying.hpp"
#include "cohort/blocked.hpp"
#include "cohort/local_lock.hpp"
#include "cohort/turn.hpp"
#include "fixture.hpp"
#include "tests/unit/cohort/cohort_fixture.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;

std::string the_deadline_counts_from_the_send() {
  fixture s;
  auto& c = s.open("op-timeout=60s");
  s.store.set_latency(1s);
  const auto sent = s.now();
  const auto waiting = s.acquire(c, by_hand(10s));
  if (!s.passes_until(*waiting, 1min)) return "no grant";
  const auto held = waiting->result();
  if (held.expires() > sent + 10s) return "the store lets others in while the lease is held";
  return held.held() ? "" : "not held";
}

// A hundredth is what two clocks may drift apart in a ttl.
std::string the_deadline_leaves_room_for_drift() {
  fixture s;
  const auto sent = s.now();
  const auto held = s.acquire(s.open("clock-skew=1s"), by_hand(10s))->result();
  if (held.expires() <= sent + 8s) return "too little is left of the ttl";
  return held.expires() <= sent + 9s - 100ms ? "" : "a slow clock lets the holder stay too long";
}

std::string held_reads_the_clock() {
  fixture s;
  const auto held = s.acquire(s.open(""), by_hand(1s))->result();
  if (!held.held()) return "not held";
  s.env.freeze(2s);
  return held.held() ? "held after the deadline, as the stopped process goes on" : "";
}

std::string doubt_comes_before_the_deadline() {
  fixture s;
  const auto held = s.acquire(s.open(""), by_hand(1s))->result();
  const auto doubt = held.doubt_token();
  s.pass(held.expires() - s.now() - 1ms);
  if (!held.held()) return "not held";
  return doubt.stop_requested() ? "" : "the holder was not notified that the lease may be lost";
}

std::string loss_is_told_at_the_deadline() {
  fixture s;
  const auto held = s.acquire(s.open(""), by_hand(1s))->result();
  const auto loss = held.loss_token();
  s.pass(held.expires() - s.now() - 1ms);
  if (loss.stop_requested()) return "notified too early";
  s.pass(1ms);
  return loss.stop_requested() ? "" : "the holder was not notified that the lease is lost";
}

// The renewal is heard by the store in time, and its answer comes after the deadline.
std::string what_is_lost_stays_lost() {
  fixture s;
  const auto held = s.acquire(s.open("ttl=1s&op-timeout=5s"))->result();
  s.store.set_latency(400ms);
  bool was_lost = false;
  for (int step = 0; step < 200; ++step) {
    s.pass(10ms);
    if (was_lost && held.held()) return "a lost lease is held again";
    was_lost = was_lost || !held.held();
  }
  return was_lost ? "" : "the lease outlived renewals that came too late";
}

std::string a_renewal_leaves_in_time() {
  fixture s;
  const auto held = s.acquire(s.open("ttl=9s"))->result();
  const auto before = held.expires();
  s.pass(3s);
  return held.expires() > before ? "" : "a third of the ttl is gone and nothing was renewed";
}

std::string a_lost_renewal_is_repeated_in_time() {
  fixture s;
  const auto held = s.acquire(s.open("ttl=9s"))->result();
  s.store.lose_requests(1);
  s.pass(9s);
  return held.held() ? "" : "one message was lost, and with it the lease";
}

std::string a_lost_extension_is_repeated_while_its_caller_waits() {
  fixture s;
  auto held = s.attempt(s.open("ttl=1h&renew=0&op-timeout=5s"));
  s.store.lose_requests(1);
  const auto asked = s.start<std::error_code>([&held](const std::stop_token&) {
    std::error_code ec;
    held.extend(2h, ec);
    return ec;
  });
  s.passes_until(*asked, 10s);
  return asked->result() ? "one message was lost, and with it the extension" : "";
}

std::string a_renewal_shortens_no_lease() {
  fixture s;
  auto held = s.acquire(s.open(""))->result();
  held.extend(10min);
  held.extend(1s);  // also when an earlier renewal arrives that late
  const auto all = s.open("").list();
  const bool is_long = all.size() == 1 && all[0].expires_in > 5min;
  return is_long ? "" : "the store ends a lease that another renewal has made longer";
}

constexpr claims::timing timing_of_holder{.op_timeout = 5s};

// The answer to a renewal of `claim`, which is granted the lock.
claims::retrying_reply renewal_of_granted(claims::retrying_recipe& claim, base::time_point now) {
  claims::retrying_reply answer{.to = claims::retrying_operation::try_lock,
                                .what = claims::retrying_reply::verdict::granted,
                                .ttl = 10s,
                                .sent = now};
  claim.acquire({.ttl = 10s}, now, timing_of_holder);
  answer.epoch = claim.epoch();
  claim.on(answer, now, timing_of_holder);
  claim.renew(10s, now, timing_of_holder);
  answer.to = claims::retrying_operation::renew;
  answer.what = claims::retrying_reply::verdict::done;
  answer.epoch = claim.epoch();
  return answer;
}

// Two renewals that are sent over different connections are answered in the other order.
std::string a_late_answer_takes_nothing_back() {
  const claims::retrying_recipe::rules r;
  const base::time_point now{1h};
  claims::retrying_recipe claim(r);
  claims::retrying_reply answer = renewal_of_granted(claim, now);
  claim.renew(10min, now, timing_of_holder);
  answer.ttl = 10min;
  claim.on(answer, now, timing_of_holder);
  answer.ttl = 10s;
  claim.on(answer, now, timing_of_holder);
  return claim.granted().deadline > now + 5min ? "" : "an extension was taken back";
}

std::string a_lost_claim_is_withdrawn_from_the_queue() {
  const claims::retrying_recipe::rules r{.has_queue = true};
  const base::time_point now{1h};
  claims::retrying_recipe claim(r);
  claims::retrying_reply answer = renewal_of_granted(claim, now);
  answer.what = claims::retrying_reply::verdict::not_owner;
  const bool is_withdrawn = claim.on(answer, now, timing_of_holder).orphan;
  return is_withdrawn ? "" : "its place delays the waiters behind it";
}

// The server that the release is repeated at may have a copy of the queue from before the grant.
std::string a_repeated_release_leaves_no_place_in_a_queue() {
  const claims::retrying_recipe::rules r{.has_queue = true};
  const base::time_point now{1h};
  claims::retrying_recipe claim(r);
  claims::retrying_reply answer = renewal_of_granted(claim, now);
  claim.on(answer, now, timing_of_holder);
  claim.release(now, timing_of_holder);
  claim.on_cut(claim.epoch(), now, timing_of_holder);
  answer.to = claims::retrying_operation::release;
  answer.what = claims::retrying_reply::verdict::not_owner;
  answer.epoch = claim.epoch();
  const bool is_withdrawn = claim.on(answer, now, timing_of_holder).orphan;
  return is_withdrawn ? "" : "its place delays the waiters behind it";
}

// The holder's clock runs ahead of the store's by the margin, so it learns of the loss first.
std::string after_a_loss_the_ttl_runs_out() {
  fixture s;
  const auto granted = s.now();
  const auto held = s.acquire(s.open(""), by_hand(10s))->result();
  const auto next = s.acquire(s.open(""));
  s.pass(held.expires() - s.now(), next.get());
  if (held.held()) return "held at its deadline";
  if (next->done()) return "somebody enters before the ttl has run out";
  if (!s.passes_until(*next, 5s)) return "the lock never came free";
  return s.now() >= granted + 10s ? "" : "the store let go too early";
}

// The store would renew nothing for whoever waits for that answer any more.
std::string a_release_answers_the_renewal_before_it() {
  fixture s;
  auto held = s.acquire(s.open("ttl=60s&op-timeout=1h"))->result();
  s.store.set_latency(10s);
  cohort::blocked_confirmation renewal;
  detail::turn& mine = *detail::async_operation::turn_of(held);
  mine.home.begin_extend(mine, 60s, renewal);
  held.unlock();
  const bool is_answered = renewal.parker.signalled();
  if (!is_answered) s.pass(2h);  // so that it is not waited for when it is gone
  if (!is_answered) return "a released lease leaves a renewal that is waited for";
  return renewal.why.code == errc::not_held ? "" : "it is called something else";
}

// A lock that was handed over for a quarter of a second; no renewal of it is answered.
class handed_over final : public cohort_tests::a_cohort {
 public:
  int renewals_in_its_window() {
    cohort_tests::caller holder(30s);
    enter(holder);
    cohort::claim_record& claim = *said(cohort::claim_record::acquire);
    machine.on_granted(claim, {.number = 7,
                               .deadline = env.now() + 250ms,
                               .received_at = env.now(),
                               .provisional = true});
    complete_answered();
    int renewals = 0;
    for (int at = 0; at < 240; at += 10) {
      while (cohort::claim_record* const c = machine.effects().take_scheduled()) {
        c->pending_verbs = 0;
        ++renewals;
      }
      env.advance(10ms);
      tick();
    }
    machine.on_extended(claim, env.now() + 30s, claim.grant.ticket(), env.now());
    leave(holder);
    return renewals;
  }

 private:
  void TestBody() override {}
};

std::string a_handed_over_lock_is_renewed_more_than_once_in_its_window() {
  return handed_over().renewals_in_its_window() > 1 ? "" : "one lost reply loses the lock";
}

constexpr scenario of_lease[] = {
    {mutant::window_renewed_once, "memory",
     a_handed_over_lock_is_renewed_more_than_once_in_its_window},
    {mutant::deadline_from_reply, "memory", the_deadline_counts_from_the_send},
    {mutant::deadline_without_margin, "memory", the_deadline_leaves_room_for_drift},
    {mutant::held_without_clock, "memory", held_reads_the_clock},
    {mutant::late_renewal_shortens, "memory", a_renewal_shortens_no_lease},
    {mutant::late_answer_shortens, "memory", a_late_answer_takes_nothing_back},
    {mutant::place_of_the_lost_kept, "memory", a_lost_claim_is_withdrawn_from_the_queue},
    {mutant::place_of_the_released_kept, "memory", a_repeated_release_leaves_no_place_in_a_queue},
    {mutant::doubt_not_told, "memory", doubt_comes_before_the_deadline},
    {mutant::loss_not_told, "memory", loss_is_told_at_the_deadline},
    {mutant::renewal_starts_late, "memory", a_renewal_leaves_in_time},
    {mutant::renewal_not_repeated, "memory", a_lost_renewal_is_repeated_in_time},
    {mutant::extension_not_repeated, "memory", a_lost_extension_is_repeated_while_its_caller_waits},
    {mutant::loss_releases_early, "memory", after_a_loss_the_ttl_runs_out},
    {mutant::released_renewal_unanswered, "memory", a_release_answers_the_renewal_before_it},
    {mutant::renewal_revives_lost, "memory", what_is_lost_stays_lost},
};

}  // namespace

std::span<const scenario> lease_scenarios() { return of_lease; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::lease_scenarios() { return {}; }
#endif
