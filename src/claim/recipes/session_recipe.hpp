// The base of recipes whose grants live as long as a session: how a claim is removed from the
// store, and how events of the session affect a grant. Pure, as claim/recipe.hpp says.
//
//   phase     | event                   | next    | effects
//   ----------+-------------------------+---------+----------------------------------------------
//   acquiring | cancel                  | leaving | send remove
//             | wake, after an          | idle    | refused (unavailable); orphan. Only of one
//             | op-timeout              |         | attempt: a waiter waits through an outage
//   held      | the session's deadline  | held    | extended
//             | moved                   |         |
//             | out of reach            | held    | doubtful
//             | the session is lost     | lost    | lost (timed_out)
//             | release                 | leaving | send remove
//   lost      | release                 | idle    | ended (not_held)
//   leaving   | done, gone              | idle    | ended, or refused
//             | failed                  | leaving | send remove, later each time
//             | failed: no right to it  | idle    | ended or refused (refused); orphan
//             | cut                     | leaving | send remove
//             | the session is lost     | idle    | ended (outcome_unknown), or refused
//             | wake, after an          | idle    | ended (outcome_unknown), or refused; orphan
//             | op-timeout              |         |
//
// Each recipe derives from it and says how a claim is acquired, and what ends a grant besides.
#pragma once
#include <holdfast/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/mutant.hpp"
#include "claim/recipe.hpp"

namespace holdfast::claims {

// Verdict: at least done, gone (what was to be removed is not there) and failed.
template <class Operation, class Verdict>
struct session_reply {
  using operation = Operation;
  using verdict = Verdict;
  Operation to{};
  Verdict what = Verdict::failed;
  bool others_wait = false;
  bool is_there = false;    // failed: something of this claim may be at the store
  bool is_revoked = false;  // the holder is asked to release the lock
  errc why{};               // failed
  std::uint32_t epoch = 0;
  std::uint32_t ticket = 0;
  std::int64_t number = 0;            // of what is stored for this claim; 0: nothing is
  time_point deadline = base::never;  // of the session
  duration term{};                    // what one confirmation of it is worth
};

// Reply: a session_reply. Its operation: at least none and remove.
template <class Reply>
class session_recipe {
 public:
  using reply = Reply;
  using operation = typename Reply::operation;
  using verdict = typename Reply::verdict;
  using step = effects<operation>;
  using timing = claims::timing;

  static step renew(duration, time_point, const timing&) noexcept { return {}; }
  static step downgrade(time_point, const timing&) noexcept { return {}; }
  step cancel(time_point now, const timing& t) noexcept {
    return phase_ == phase::acquiring ? leave({}, now, t) : step{};
  }
  step release(time_point now, const timing& t) noexcept {
    if (phase_ == phase::lost) return become_idle(claim_event::ended, errc::not_held);
    return is_held() ? leave({}, now, t) : step{};
  }
  step on_deadline(time_point deadline) noexcept {
    if (!is_held()) return {};
    deadline_ = deadline;
    is_doubtful_ = false;
    return {.event = claim_event::extended};
  }
  step on_doubtful() noexcept {
    if (!is_held()) return {};
    is_doubtful_ = true;
    return {.event = claim_event::doubtful};
  }
  // Ends a wait for an answer at once.
  step give_up(errc why) noexcept {
    if (!waits()) return {};
    if (is_leaving()) return overdue();
    step out = become_idle(claim_event::refused, why);
    out.orphan = !base::planted(base::mutant::unknown_acquire_dropped);
    return out;
  }

  std::uint32_t epoch() const noexcept { return epoch_; }
  bool waits() const noexcept { return phase_ == phase::acquiring || is_leaving(); }
  bool is_idle() const noexcept { return phase_ == phase::idle; }
  bool is_waiter() const noexcept { return !one_attempt_ && phase_ == phase::acquiring; }
  time_point waits_since() const noexcept { return waits_since_; }  // a waiter: its acquire
  bool is_attempt() const noexcept { return one_attempt_ && phase_ == phase::acquiring; }
  bool is_held() const noexcept { return phase_ == phase::held; }
  bool is_leaving() const noexcept { return phase_ == phase::leaving; }
  // The parts that certainly existed and whose removal is not in doubt.
  bool is_first_removal() const noexcept {
    const bool is_first = attempts_ == 0 || base::planted(base::mutant::removal_by_path_repeated);
    return is_leaving() && was_held_ && is_first;
  }
  bool others_wait() const noexcept { return others_wait_; }
  bool is_doubtful() const noexcept { return is_doubtful_; }
  seam::grant granted() const noexcept {
    return {.number = number_,
            .deadline = deadline_,
            .received_at = since_,
            .waiters_unknown = !others_wait_,
            .lease_term = term_};
  }

 protected:
  enum class phase : unsigned char { idle, acquiring, held, lost, leaving };

  bool is_acquiring() const noexcept { return phase_ == phase::acquiring; }
  bool is_late(const reply& r) const noexcept {
    return r.epoch != epoch_ && !base::planted(base::mutant::late_reply_accepted);
  }
  time_point due(const timing& t) const noexcept {
    const bool waits_on = is_waiter() && !base::planted(base::mutant::waiter_given_up);
    return waits() && !waits_on ? base::saturating_add(since_, t.op_timeout) : base::never;
  }
  step ask(operation op, const timing& t) noexcept {
    ++epoch_;
    attempts_ = 0;
    return {.sleeps = true, .send = op, .wake = due(t)};
  }
  // Under a new owner: an older request of this claim is another's from here on.
  step begin(operation op, const timing& t) noexcept {
    phase_ = phase::acquiring;
    number_ = 0;
    refusal_ = {};
    others_wait_ = is_doubtful_ = is_revoked_ = false;
    step out = ask(op, t);
    out.new_owner = !base::planted(base::mutant::owner_id_reused);
    return out;
  }
  step leave(errc refusal, time_point now, const timing& t) noexcept {
    was_held_ = is_held();
    phase_ = phase::leaving;
    refusal_ = refusal;
    since_ = now;
    return ask(operation::remove, t);
  }
  void begin_wait(const seam::acquire_request& request, time_point now) noexcept {
    one_attempt_ = request.one_attempt;
    since_ = waits_since_ = now;
  }
  step become_held(const reply& r, time_point now) noexcept {
    ++epoch_;  // what else was asked is of no interest
    phase_ = phase::held;
    since_ = now;
    number_ = r.number;
    deadline_ = r.deadline;
    term_ = r.term;
    others_wait_ = r.others_wait;
    return {.sleeps = true, .event = claim_event::granted};
  }
  step become_idle(claim_event event, errc why) noexcept { return end(phase::idle, event, why); }
  // Parts that are left at the store block the waiters while the session lives. The server removes
  // all parts of a lost session.
  step become_lost(errc why) noexcept {
    step out = end(phase::lost, claim_event::lost, why);
    out.orphan = why == errc::not_held && !base::planted(base::mutant::nodes_of_the_lost_kept);
    return out;
  }
  step end_leaving(errc why) noexcept {
    if (refusal_ != errc{}) return become_idle(claim_event::refused, refusal_);
    return become_idle(claim_event::ended, why);
  }
  step overdue() noexcept {
    step out = is_leaving() ? end_leaving(errc::outcome_unknown)
                            : become_idle(claim_event::refused, errc::unavailable);
    out.orphan = !base::planted(base::mutant::unknown_acquire_dropped);
    return out;
  }
  // `r` answers a remove; `last`: until then it is repeated.
  step on_removed(const reply& r, time_point now, const timing& t) noexcept {
    if (r.what == verdict::done) return end_leaving({});
    if (r.what == verdict::gone)
      return end_leaving(was_held_ && attempts_ == 0 ? errc::not_held : errc{});
    return r.why == errc::refused ? end_refused(r.why) : remove_later(now, t);
  }
  // There is no right to remove: the caller learns it, and the removal goes on without a claim.
  step end_refused(errc why) noexcept {
    const bool is_refusal = refusal_ != errc{};
    step out = become_idle(is_refusal ? claim_event::refused : claim_event::ended, why);
    out.orphan = !base::planted(base::mutant::unknown_acquire_dropped);
    return out;
  }
  step remove_later(time_point now, const timing& t) noexcept {
    constexpr duration first = std::chrono::milliseconds{50};
    constexpr int doublings_max = 6;
    const duration pause = first * (1 << std::min<int>(attempts_, doublings_max));
    note_attempt();
    return {.sleeps = true, .wake = std::min(now + pause, due(t))};
  }
  step remove_again() noexcept {
    note_attempt();
    return {.send = operation::remove};
  }
  // Woken: the time is up, or a removal that failed or was cut is sent again. `removes`: one is
  // under way.
  step on_time(time_point now, const timing& t, bool removes) noexcept {
    if (!waits()) return {};
    if (due(t) <= now) return overdue();
    if (!removes) return {};
    return {.sleeps = true, .send = operation::remove, .wake = due(t)};
  }
  step end_with_session() noexcept {
    if (is_held()) return become_lost(errc::timed_out);
    return is_leaving() ? end_leaving(errc::outcome_unknown) : step{};
  }
  // Another client wants the lock that is held.
  step note_others() noexcept {
    if (!is_held() || others_wait_) return {};
    others_wait_ = true;
    return {.event = claim_event::wanted};
  }
  // Another client requests the lock that is held.
  step note_request(const reply& r) noexcept {
    if (!r.is_revoked || is_revoked_) return {};
    is_revoked_ = true;
    return {.event = claim_event::revocation};
  }

  std::int64_t number_ = 0;
  time_point deadline_ = base::never;  // of the session
  time_point since_{};                 // of the attempt, of the grant, of the removal
  time_point waits_since_{};           // the acquire
  duration term_{};
  std::uint32_t epoch_ = 0;
  errc refusal_{};             // leaving: why it is refused at the end; 0: it is ended
  std::uint8_t attempts_ = 0;  // at a removal that failed or was cut
  phase phase_ = phase::idle;
  bool one_attempt_ : 1 = false;
  bool others_wait_ : 1 = false;
  bool is_doubtful_ : 1 = false;
  bool was_held_ : 1 = false;
  bool is_revoked_ : 1 = false;  // of this attempt or grant; reported once

 private:
  void note_attempt() noexcept {
    if (attempts_ < 255) ++attempts_;
  }
  step end(phase next, claim_event event, errc why) noexcept {
    ++epoch_;
    phase_ = next;
    is_doubtful_ = false;
    return {.sleeps = true, .event = event, .why = why};
  }
};

}  // namespace holdfast::claims
