#include "cohort/local_lock.hpp"

#include <utility>

#include "base/mutant.hpp"
#include "cohort/client_impl.hpp"

namespace holdfast::inline v0::detail {

using core::claim_record;
using core::failure;
using core::grant;

namespace {

void complete_all(core::completion* answered) noexcept {
  while (answered) {
    core::completion* const next =
        answered->next_answered;  // read first: complete() may destroy the call
    answered->complete();
    answered = next;
  }
}

}  // namespace

local_lock::local_lock(client_impl& c, std::string_view name, std::uint32_t permits)
    : client_(c), name_(name), permits_(permits), cohort_(*this, c.rules()) {}

// Carries out the cohort's effects until none is left, then leaves. A thread that finds another one
// running verbs leaves its verbs to that thread.
void local_lock::run_effects(lock& l, unsigned users_to_drop) noexcept {
  bool has_timers = true;
  for (;;) {
    enlist(nullptr);
    core::completion* const answered = cohort_.take_answered();
    claim_record* const c = is_running_verbs_ ? nullptr : cohort_.take_scheduled();
    const core::time_point arm = has_timers ? take_arm() : core::never;
    const bool has_effects = arm != core::never || cohort_.has_notices() || (attends_ && !c);
    if (!c && !has_effects) return finish(l, users_to_drop, answered);
    if (c) is_running_verbs_ = true;
    // Before the verbs: afterwards this object may be gone.
    if ((answered || has_effects) && !deliver_effects(l, answered, arm)) has_timers = false;
    if (!c) continue;
    if (!run_pending(l, *c, users_to_drop)) return;
    is_running_verbs_ = false;
  }
}

// False when a timer had to be armed and could not be.
bool local_lock::deliver_effects(lock& l, core::completion* answered,
                                 core::time_point arm) noexcept {
  const auto notices = cohort_.take_notices();
  core::caller_driver* const to_attend = attends_ ? client_.store().driver() : nullptr;
  attends_ = false;
  l.unlock();
  complete_all(answered);
  if (to_attend) to_attend->attend();
  const bool is_armed = arm == core::never || client_.timers().arm_no_later(*this, arm);
  if (notices) notify(*notices);
  l.lock();
  if (!is_armed) refuse_timed_waits();
  return is_armed;
}

// For all callers: one that came since relied on the timer that was about to be armed.
void local_lock::refuse_timed_waits() noexcept {
  armed_at_ = core::never;  // the next caller tries again
  if (core::planted(core::mutant::wait_without_timer)) return;
  cohort_.refuse_timed_waits({errc::unavailable,
                              "no thread can be started to end the wait in time: raise the limit "
                              "of processes (ulimit -u)"},
                             client_.env().now());
}

// Notifies the driver which caller awaits the store now. A blocked caller may lead from here on; if
// it sleeps, the thread that sends the claim's verb or steps down as leader wakes it. For a caller
// that does not block another thread must lead. `own`: this caller's thread does that itself.
void local_lock::enlist(const core::waiter* own) noexcept {
  core::waiter* const w = cohort_.awaits_store();
  if (!w || std::exchange(w->is_known_to_await, true)) return;
  core::caller_driver* const d = client_.store().driver();
  if (!d) return;
  if (w->thread) return d->enlist(*w->thread);
  if (w != own) attends_ = true;
}

void local_lock::finish(lock& l, unsigned users_to_drop, core::completion* answered) noexcept {
  take_inline_answer(users_to_drop);
  --visits_;
  users_ -= users_to_drop;
  const bool drops_client = users_ == 0 && keeps_;
  if (drops_client) keeps_ = false;
  client_impl& client = client_;
  const bool retires = unused() && !retiring_;
  if (retires) retiring_ = true;
  l.unlock();
  complete_all(answered);
  if (retires) client.retire(*this);
  if (drops_client) client.unkeep();
}

// A verb that a thread is running. When its answer comes from inside the verb and leaves nothing
// else to do, the rest of run_effects() is done together with the answer, under one locking: an
// uncontended lock or unlock then locks the local lock's mutex twice and not three times.
struct local_lock::inline_answer {
  local_lock* where;
  unsigned users_to_drop;
  bool is_taken_over = false;
  inline_answer* outer;

  static thread_local inline_answer* innermost;
};

thread_local local_lock::inline_answer* local_lock::inline_answer::innermost = nullptr;

void local_lock::take_inline_answer(unsigned& users_to_drop) noexcept {
  inline_answer* const s = inline_answer::innermost;
  if (!s || s->where != this || s->is_taken_over || cohort_.has_scheduled()) return;
  s->is_taken_over = true;
  is_running_verbs_ = false;
  --visits_;
  users_to_drop += s->users_to_drop;
}

// Runs c's pending verbs with the mutex unlocked meanwhile. False when the answer has done the
// rest: then this object may be gone.
bool local_lock::run_pending(lock& l, claim_record& c, unsigned users_to_drop) noexcept {
  const unsigned verbs = std::exchange(c.pending_verbs, 0);
  inline_answer inline_here{this, users_to_drop, false, inline_answer::innermost};
  inline_answer::innermost = &inline_here;
  if (verbs == claim_record::acquire) {
    const core::acquire_request how = request_of(c);
    l.unlock();
    claim_of(c).acquire(how);
  } else if (verbs == claim_record::release && !c.next) {
    l.unlock();
    c.claim->release(nullptr);
  } else {
    const bool is_one_verb = (verbs & (verbs - 1)) == 0 && verbs != claim_record::release;
    if (!is_one_verb) inline_here.where = nullptr;  // more verbs follow an answer
    run_verbs(l, c, verbs);
  }
  inline_answer::innermost = inline_here.outer;
  if (inline_here.is_taken_over) return false;
  l.lock();
  return true;
}

void local_lock::run_verbs(lock& l, claim_record& c, unsigned verbs) noexcept {
  claim_record* next = verbs & claim_record::release ? std::exchange(c.next, nullptr) : nullptr;
  if (next && !(next->pending_verbs & claim_record::acquire)) next = nullptr;
  if (next) next->pending_verbs &= static_cast<unsigned char>(~claim_record::acquire);
  const core::acquire_request how = request_of(c);
  const core::acquire_request next_request = next ? request_of(*next) : core::acquire_request{};
  const core::duration ttl = c.ttl;
  const std::uint32_t ticket = c.ticket;
  l.unlock();
  core::claim& claim = claim_of(c);
  if (verbs & claim_record::acquire) claim.acquire(how);
  if (verbs & claim_record::cancel) claim.cancel();
  if (verbs & claim_record::downgrade) claim.downgrade();
  if ((verbs & claim_record::peek_line) && !(verbs & claim_record::release)) claim.peek_line();
  if (next) {
    const core::successor successor{&claim_of(*next), next_request};
    claim.release(&successor);
  } else if (verbs & claim_record::release) {
    claim.release(nullptr);
  } else if (verbs & claim_record::renew) {
    claim.renew(ttl, ticket);
  }
}

core::claim& local_lock::claim_of(claim_record& c) {
  if (!c.claim) c.claim = client_.rules().store->open(name_, c);
  return *c.claim;
}

core::acquire_request local_lock::request_of(const claim_record& c) const noexcept {
  core::acquire_request a;
  a.one_attempt = c.one_attempt;
  a.ttl = c.ttl;
  a.mode = c.mode;
  a.permits = c.permits;
  a.total_permits = permits_;
  if (c.now == claim_record::state::requesting) a.at = c.turns_end;
  if (!c.extra) return a;
  a.note = c.extra->note;
  a.group = c.extra->group;
  return a;
}

// The time for which the client's timers must be armed earlier than they are; never: none.
core::time_point local_lock::take_arm() noexcept {
  const core::time_point next = cohort_.next_tick();
  if (next >= armed_at_) return core::never;
  armed_at_ = next;
  return next;
}

bool local_lock::pin() noexcept {
  const lock l(mutex_);
  armed_at_ = core::never;
  if (retiring_ && unused()) return false;
  ++visits_;
  return true;
}

void local_lock::fire(core::time_point now) {
  lock l(mutex_);
  if (claim_record* const c = cohort_.lingering_unseen(); c && !is_running_verbs_) poll(l, *c, now);
  cohort_.tick(now);
  run_effects(l, 0);
}

// No turn is inside; nobody else releases the grant meanwhile, because this thread runs the verbs.
void local_lock::poll(lock& l, claim_record& c, core::time_point now) {
  is_running_verbs_ = true;
  l.unlock();
  const bool others_wait = c.claim->others_wait();
  l.lock();
  is_running_verbs_ = false;
  cohort_.polled(c, others_wait, now);
}

void local_lock::on_granted(claim_record& c, const grant& g) {
  step([&] {
    grant seen = g;
    const bool undated = g.seen == core::time_point{};
    if (undated && cohort_.clock_matters()) seen.seen = client_.env().now();
    cohort_.on_granted(c, seen);
  });
}
void local_lock::on_refused(claim_record& c, const failure& why) {
  step([&] { cohort_.on_refused(c, why); });
}
void local_lock::on_extended(claim_record& c, core::time_point deadline, std::uint32_t ticket) {
  step([&] { cohort_.on_extended(c, deadline, ticket, client_.env().now()); });
}
void local_lock::on_doubtful(claim_record& c) {
  step([&] { cohort_.on_doubtful(c, client_.env().now()); });
}
void local_lock::on_lost(claim_record& c, std::error_code why) {
  step([&] { cohort_.on_lost(c, why); });
}
void local_lock::on_wanted(claim_record& c) {
  step([&] { cohort_.on_wanted(c); });
}
void local_lock::on_revocation_requested(claim_record& c) {
  step([&] { cohort_.on_revocation_requested(c); });
}
void local_lock::on_ended(claim_record& c, const failure& why) {
  if (why.code) {
    bool is_awaited;
    {
      const lock l(mutex_);
      is_awaited = cohort_.is_release_awaited(c);
    }
    client_.report(name_, why, is_awaited);
  }
  step([&] { cohort_.on_ended(c, why); });
}

}  // namespace holdfast::inline v0::detail

namespace holdfast::core {

void claim_record::on_granted(const grant& g) { home.on_granted(*this, g); }
void claim_record::on_refused(failure why) { home.on_refused(*this, why); }
void claim_record::on_extended(time_point d, std::uint32_t t) { home.on_extended(*this, d, t); }
void claim_record::on_doubtful() { home.on_doubtful(*this); }
void claim_record::on_lost(std::error_code why) { home.on_lost(*this, why); }
void claim_record::on_wanted() { home.on_wanted(*this); }
void claim_record::on_revocation_requested() { home.on_revocation_requested(*this); }
void claim_record::on_ended(failure why) { home.on_ended(*this, why); }

}  // namespace holdfast::core
