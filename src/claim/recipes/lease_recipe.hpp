// The base of recipes whose grants are leases, renewed one by one: the life of a grant, and how a
// claim waits for an answer. Pure, as claim/recipe.hpp says.
//
//   state       | event                      | next | effects
//   ------------+----------------------------+------+----------------------------------------------
//   held        | renew                      | held | send renew
//               | done                       | held | extended: its send + ttl - drift
//               | not owner                  | lost | lost
//               | downgrade: done            | held | the repetition ends
//               | downgrade: refused         | held | sleep, then send it again
//               | others wait                | held | wanted, once
//               | moved: the store is        | held | doubtful, until a renewal is done
//               | another server now         |      |
//   any         | refused: not now           | same | sleep, longer each time, and once more until
//               |                            |      | just before the request is overdue
//   acquiring   | overdue, given up          | idle | refused; orphan
//   releasing,  | overdue, given up          | idle | ended (outcome_unknown); orphan
//   withdrawing |                            |      |
//
//   fact           | is set by             | is cleared by           | while it is set
//   ---------------+-----------------------+-------------------------+--------------------------
//   others_wait    | wanted, or a reply    | each recipe's release   | wanted is not reported
//                  |                       | or next grant           | again
//   is_doubtful    | moved                 | done, the next grant    | the lease is in doubt
//   is_downgrading | downgrade             | done, lost, release     | downgrade is sent again
//   is_downgraded  | downgrade             | the next acquire        | the grant is a reader's
//
// Each recipe derives from it and defines how a claim acquires and releases the lock. A waiter,
// which makes more than one attempt, is never overdue: it waits through an outage.
#pragma once
#include <holdfast/error.hpp>

#include <algorithm>
#include <cstdint>

#include "base/mutant.hpp"
#include "claim/recipe.hpp"
#include "claim/recipes/back_off.hpp"
#include "seam/client_options.hpp"

namespace holdfast::claims {

// State: at least idle, held, lost, releasing and withdrawing. Operation: at least renew.
template <class State, class Operation>
class lease_recipe {
 public:
  using state = State;
  using operation = Operation;
  using step = effects<Operation>;

  step renew(duration ttl, time_point, const timing&) noexcept {
    if (!is_held()) return {};
    ttl_ = ttl;
    return send(operation::renew);
  }
  // The store is another server now, which may not know the lease.
  step on_moved() noexcept {
    if (!is_held() || base::planted(base::mutant::moved_lease_undoubted)) return {};
    is_doubtful_ = true;
    return {.event = claim_event::doubtful};
  }
  step give_up(errc why) noexcept {
    if (!waits()) return {};
    step out = is_leaving() ? become_idle(claim_event::ended, errc::outcome_unknown)
                            : become_idle(claim_event::refused, why);
    out.orphan = true;
    return out;
  }

  state now_in() const noexcept { return state_; }
  std::uint32_t epoch() const noexcept { return epoch_; }
  bool is_idle() const noexcept { return state_ == state::idle; }
  bool is_held() const noexcept { return state_ == state::held; }
  bool waits() const noexcept { return !is_idle() && !is_held() && state_ != state::lost; }
  // Waits for the lock for as long as it takes.
  bool is_waiter() const noexcept { return !one_attempt_ && is_acquiring(); }
  // Makes one attempt, which is not answered yet.
  bool is_attempt() const noexcept { return one_attempt_ && is_acquiring(); }
  bool is_downgraded() const noexcept { return is_downgraded_; }
  duration ttl() const noexcept { return ttl_; }
  bool others_wait() const noexcept { return others_wait_; }
  bool is_doubtful() const noexcept { return is_doubtful_; }
  // With the deadline of the last renewal.
  seam::grant granted() const noexcept {
    return {.number = number_, .deadline = deadline_, .received_at = phase_began_};
  }
  // When its request is overdue; never: it waits.
  time_point due(const timing& t) const noexcept {
    const bool is_bounded =
        waits() && (!is_waiter() || base::planted(base::mutant::waiter_given_up));
    return is_bounded ? base::saturating_add(phase_began_, t.op_timeout) : base::never;
  }
  // When to send it for the last time before that: early enough for a connection to be opened and
  // for an answer.
  time_point last_try(const timing& t) const noexcept {
    const time_point end = due(t);
    return end == base::never ? end : end - t.op_timeout / 8;
  }

 protected:
  bool is_leaving() const noexcept {
    return state_ == state::releasing || state_ == state::withdrawing;
  }
  bool is_acquiring() const noexcept { return waits() && !is_leaving(); }
  bool is_late(std::uint32_t epoch) const noexcept {
    return epoch != epoch_ && !base::planted(base::mutant::late_reply_accepted);
  }

  static step send(operation op) noexcept { return {.send = op}; }
  void begin(const seam::acquire_request& request) noexcept {
    ttl_ = request.ttl;
    one_attempt_ = request.one_attempt;
    is_downgraded_ = false;
  }
  // Here it sends a first request of its kind; replies to earlier ones do not count any more.
  void turn_to(state next, time_point now) noexcept {
    ++epoch_;
    state_ = next;
    phase_began_ = now;
    attempts_ = 0;
    is_downgrading_ = false;
  }
  step become_held(std::int64_t number, time_point deadline, time_point now) noexcept {
    if (!base::planted(base::mutant::late_reply_accepted)) ++epoch_;
    state_ = state::held;
    is_doubtful_ = false;
    phase_began_ = now;
    number_ = number;
    deadline_ = deadline;
    return {.sleeps = true, .event = claim_event::granted};
  }
  step become_idle(claim_event event, errc why) noexcept {
    ++epoch_;
    state_ = state::idle;
    return {.sleeps = true, .event = event, .why = why};
  }
  // Until then the lease is this claim's that was requested at `sent`.
  static time_point deadline_of(duration ttl, time_point sent, time_point now,
                                const timing& t) noexcept {
    if (!t.runs_out) return base::never;
    const time_point from = base::planted(base::mutant::deadline_from_reply) ? now : sent;
    return base::saturating_add(from, seam::worth(ttl, t.clock_skew));
  }
  step extend(time_point deadline) noexcept {
    deadline_ = deadline;
    is_doubtful_ = false;
    return {.event = claim_event::extended};
  }
  step lose(errc why) noexcept {
    state_ = state::lost;
    is_downgrading_ = false;
    return {.event = claim_event::lost, .why = why == errc{} ? errc::lost : why};
  }
  // Another client waits for what is held.
  step note_others(step out = {}) noexcept {
    if (others_wait_) return out;
    others_wait_ = true;
    out.event = out.event | claim_event::wanted;
    return out;
  }
  void begin_downgrade() noexcept {
    is_downgrading_ = is_downgraded_ = true;
    attempts_ = 0;
  }

  // A reply without an outcome is ignored: the core repeats the renewal. A renewal for a shorter
  // ttl than the last one was sent before it, and shortens no lease (docs/safety.md, rule 1): a
  // later deadline that is known already stays.
  template <class Reply>
  step on_renew_reply(const Reply& r, time_point now, const timing& t) noexcept {
    using verdict = typename Reply::verdict;
    if (!is_held()) return {};
    if (r.what == verdict::done) {
      const time_point end = deadline_of(r.ttl, r.sent, now, t);
      const bool is_older = r.ttl < ttl_ && !base::planted(base::mutant::late_answer_shortens);
      return extend(is_older ? std::max(end, deadline_) : end);
    }
    return r.what == verdict::not_owner ? lose(r.why) : step{};
  }
  // A refusal shows nothing of what the server stores: the request is repeated until the server
  // executes it, or the lease ends.
  template <class Reply>
  step on_downgrade_reply(const Reply& r, time_point now, const timing& t) noexcept {
    using verdict = typename Reply::verdict;
    if (!is_held() || !is_downgrading_) return {};
    if (r.what == verdict::not_owner) return lose(r.why);
    if (r.what != verdict::done) return pause(now, t);
    is_downgrading_ = false;
    return {};
  }
  // Before a request is sent again that was not executed.
  step pause(time_point now, const timing& t) noexcept {
    const duration d = doubled(failed_pause_min, attempts_, failed_pause_max);
    count_up(attempts_);
    step out{.sleeps = true, .wake = now + d, .spread = d / 4};
    const time_point last = last_try(t);
    if (out.wake + out.spread < last) return out;
    out.wake = now < last ? last : std::min(out.wake, due(t));
    out.spread = {};
    return out;
  }

  duration ttl_{};
  std::int64_t number_ = 0;
  time_point deadline_ = base::never;
  // The first send of the request that is not answered yet; held: the grant.
  time_point phase_began_{};
  std::uint32_t epoch_ = 0;
  std::uint8_t attempts_ = 0;  // at the request that is not answered yet
  state state_ = state::idle;
  bool one_attempt_ : 1 = false;
  bool others_wait_ : 1 = false;
  bool is_doubtful_ : 1 = false;     // held, and not confirmed since the store moved
  bool is_downgrading_ : 1 = false;  // held, and not answered yet
  bool is_downgraded_ : 1 = false;   // of this grant, even before the server has answered
};

}  // namespace holdfast::claims
