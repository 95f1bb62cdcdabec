#include "cohort/local_lock.hpp"

#include <exception>
#include <optional>
#include <utility>

#include "base/log.hpp"
#include "base/mutant.hpp"
#include "cohort/checked_request.hpp"
#include "cohort/client_impl.hpp"
#include "cohort/loss_text.hpp"

namespace holdfast::inline v0::detail {

using base::failure;
using cohort::claim_record;

namespace {

// Whether the event of a token that is made now has happened.
bool has_happened(const turn& t, std::stop_source turn::extra_fields::*of_event) noexcept {
  if (of_event == &turn::extra_fields::revocation) return t.of && t.of->grant.is_revoked();
  if (t.now.load() != turn::fate::held) return true;
  return of_event == &turn::extra_fields::doubt && t.doubted;
}

}  // namespace

local_lock::local_lock(client_impl& c, const cohort::lock_rules& rules, std::string_view name,
                       std::uint32_t permits)
    : client_(c), name_(name), permits_(permits), cohort_(*this, rules, c.connection().of(name)) {}

void local_lock::fail(std::string_view operation, failure why) const {
  throw lock_error(why.code, {std::string(operation), name_, client_.text(), std::move(why.text)});
}

void local_lock::fail_or_set(std::string_view operation, failure why, std::error_code* ec) const {
  if (!ec) fail(operation, std::move(why));
  *ec = why.code;
}

void local_lock::add_user() {
  const lock l(mutex_);
  if (users_++ > 0) return;
  client_.keep();
  keeps_client_ = true;
}

void local_lock::drop_user() noexcept {
  apply([](cohort::cohort&) {}, 1);
}

void local_lock::begin(cohort::waiter& w, wait_bound bound) noexcept {
  const bool timed = bound.what == wait_bound::kind::within;
  if (timed) w.until = base::saturating_add(client_.env().now(), bound.most);
  if (bound.what == wait_bound::kind::one_attempt) w.request.one_attempt = true;
  apply([&](cohort::cohort& c) {
    ++users_;  // for the turn that may be granted
    const bool dated = timed || client_.rules().counts || !c.is_idle();
    c.enter(w, dated ? client_.env().now() : base::time_point{});
    // A caller that does not block has its own request written.
    w.is_driver_notified = !w.thread && c.awaits_store() == &w;
  });
}

void local_lock::withdraw(cohort::waiter& w) noexcept {
  apply([&](cohort::cohort& c) { c.withdraw(w, errc::canceled, client_.env().now()); });
}

turn* local_lock::acquire(const checked_request& asked, wait_bound bound, std::stop_token stop,
                          failure& why) {
  cohort::blocked_waiter w;
  asked.put_into(w);
  begin(w, bound);
  if (rules().recording && !w.parker.signalled()) record_wait(w);
  const auto on_stop_request = [&] { withdraw(w); };
  std::optional<std::stop_callback<decltype(on_stop_request)>> on_stop;
  if (!w.parker.signalled() && stop.stop_possible())
    on_stop.emplace(std::move(stop), on_stop_request);
  cohort::wait(w.follower, driver());
  if (w.granted) return w.granted;
  drop_user();
  why = std::move(w.why);
  return nullptr;
}

// Of a caller that waits for the store. Most uncontended callers have their turn by now.
void local_lock::record_wait(cohort::waiter& w) noexcept {
  const lock l(mutex_);
  if (w.is_queued && w.recorded == base::time_point{}) cohort_.effects().record_wait(*this, w, {});
}

void local_lock::leave(turn& t, cohort::confirmation* report) noexcept {
  lock l(mutex_);
  ++threads_inside_;
  const base::time_point now = cohort_.needs_clock(t) ? client_.env().now() : base::time_point{};
  if (cohort_.should_poll(t, now)) {
    cohort::claim_record& c = *t.of;
    l.unlock();
    const bool others_wait = c.claim->others_wait();
    l.lock();
    cohort_.polled(c, others_wait, now);
  }
  cohort_.leave(t, report, now);
  run_effects(l, report ? 0 : 1);
}

void local_lock::unlock(turn& t) noexcept { leave(t, nullptr); }

void local_lock::begin_release(turn& t, cohort::confirmation& i) noexcept {
  i.until = base::saturating_add(client_.env().now(), client_.rules().options.op_timeout);
  leave(t, &i);
}

failure local_lock::release(turn& t) noexcept {
  const std::error_code lost = t.status();
  cohort::blocked_confirmation i;
  begin_release(t, i);
  return finish_release(i, lost);
}

failure local_lock::finish_release(cohort::blocked_confirmation& i, std::error_code lost) noexcept {
  cohort::wait(i.parker, driver());
  drop_user();
  if (lost) return {lost, {}};
  if (i.why.code == errc::not_held) return {errc::lost, std::move(i.why.text)};
  return std::move(i.why);
}

void local_lock::begin_extend(turn& t, base::duration ttl, cohort::confirmation& i) {
  const base::time_point now = client_.env().now();
  i.until = base::saturating_add(now, client_.rules().options.op_timeout);
  apply([&](cohort::cohort& c) { c.extend(t, ttl, i, now); });
}

failure local_lock::extend(turn& t, base::duration ttl) {
  cohort::blocked_confirmation i;
  begin_extend(t, ttl, i);
  cohort::wait(i.parker, driver());
  return std::move(i.why);
}

void local_lock::watch(turn& t, cohort::loss_watch& w) noexcept {
  apply([&](cohort::cohort& c) { c.effects().watch(t, w); });
}

void local_lock::end_watch(cohort::loss_watch& w) noexcept {
  apply([&](cohort::cohort& c) { c.effects().end_watch(w); });
}

failure local_lock::downgrade(turn& t) noexcept {
  failure why;
  const base::time_point now = client_.env().now();
  apply([&](cohort::cohort& c) { why = c.downgrade(t, now); });
  return why;
}

std::stop_token local_lock::token_of(turn& t, std::stop_source turn::extra_fields::*of_event) {
  const lock l(mutex_);
  std::stop_source& source = t.extras().*of_event;
  if (!source.stop_possible()) {
    source = std::stop_source();
    if (has_happened(t, of_event)) source.request_stop();
  }
  return source.get_token();
}

// Reads the clock: after a suspend the timer that marks turns as doubted may not have fired yet.
bool local_lock::is_in_doubt(const turn& t) {
  const base::time_point now = client_.env().now();
  const lock l(mutex_);
  return !t.of || t.doubted || t.of->grant.is_notice_due(t, now, rules());
}

int local_lock::native_handle(turn& t) noexcept {
  const lock l(mutex_);
  return t.of && t.of->claim ? t.of->claim->native_handle() : -1;
}

lock_mode local_lock::mode_of(const turn& t) noexcept {
  if (permits_ > 0) return lock_mode::permit;
  const lock l(mutex_);
  return t.is_share ? lock_mode::shared : lock_mode::exclusive;
}

std::uint32_t local_lock::permits_of(turn& t) noexcept {
  const lock l(mutex_);
  return t.permits();
}

std::string local_lock::owner(turn& t) {
  const lock l(mutex_);
  return t.of && t.of->claim ? t.of->claim->owner() : std::string();
}

// Reports the end of a claim, for the log and for client::close().
void local_lock::report_end(const claim_record& c, const failure& why) noexcept {
  bool is_awaited;
  {
    const lock l(mutex_);
    is_awaited = cohort_.is_release_awaited(c);
  }
  client_.report(name_, why, is_awaited);
}

void local_lock::close() noexcept {
  apply([](cohort::cohort& c) { c.close(); });
}

bool local_lock::has_verbs_left() noexcept {
  const lock l(mutex_);
  return is_running_verbs_ || cohort_.effects().has_scheduled();
}

std::string local_lock::why_lost(const turn& t) {
  if (t.status() != errc::lost) return {};
  turn::fate why;
  {
    const lock l(mutex_);
    why = t.now.load();
    // The deadline has passed; no tick has recorded it yet.
    if (why == turn::fate::held) why = t.fate_at_deadline();
  }
  return text_of_loss(why, rules(), connection());
}

void local_lock::notify(cohort::cohort_effects::notices& all) noexcept {
  if (!all.sources.empty()) client_.notify(std::move(all.sources));
  try {
    const std::string lease = "lease \"" + name_ + "\" at " + std::string(client_.place()) + ": ";
    const base::log_sink& log = rules().options.log;
    for (const turn::fate why : all.doubts)
      base::log(log, log_level::warning, lease + text_of_doubt(why, rules(), connection()));
    for (const turn::fate why : all.losses)
      base::log(log, log_level::warning, lease + text_of_loss(why, rules(), connection()));
  } catch (const std::exception&) {  // no memory for a log line: the stop tokens have reported it
  }
}

namespace {

void complete_all(cohort::completion* answered) noexcept {
  while (answered) {
    cohort::completion* const next =
        answered->next_answered;  // read first: complete() may destroy the call
    answered->complete();
    answered = next;
  }
}

}  // namespace

// Carries out the cohort's effects until none is left, then leaves. A thread that finds another one
// running verbs leaves its verbs to that thread.
void local_lock::run_effects(lock& l, unsigned users_to_drop) noexcept {
  cohort::cohort_effects& effects = cohort_.effects();
  bool has_timers = true;
  for (;;) {
    enlist();
    cohort::completion* const answered = effects.take_answered();
    claim_record* const c = is_running_verbs_ ? nullptr : effects.take_scheduled();
    const base::time_point arm = has_timers ? take_arm() : base::never;
    const bool has_effects =
        arm != base::never || effects.has_notices() || (needs_background_driver_ && !c);
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
bool local_lock::deliver_effects(lock& l, cohort::completion* answered,
                                 base::time_point arm) noexcept {
  const auto notices = cohort_.effects().take_notices();
  base::caller_driver* const to_attend = needs_background_driver_ ? driver() : nullptr;
  needs_background_driver_ = false;
  l.unlock();
  complete_all(answered);
  if (to_attend) to_attend->attend();
  const bool is_armed = arm == base::never || client_.timers().arm_no_later(*this, arm);
  if (notices) notify(*notices);
  l.lock();
  if (!is_armed && !base::planted(base::mutant::wait_without_timer)) refuse_timed_waits();
  return is_armed;
}

// For all callers: one that came since relied on the timer that was about to be armed.
void local_lock::refuse_timed_waits() noexcept {
  armed_at_ = base::never;  // the next caller tries again
  cohort_.refuse_timed_waits({errc::unavailable,
                              "no thread can be started to end the wait in time: raise the limit "
                              "of processes (ulimit -u)"},
                             client_.env().now());
}

// Notifies the driver which caller awaits the store now. A blocked caller may lead from here on; if
// it sleeps, the thread that sends the claim's verb or steps down as leader wakes it. For a caller
// that does not block another thread must lead.
void local_lock::enlist() noexcept {
  cohort::waiter* const w = cohort_.awaits_store();
  if (!w || std::exchange(w->is_driver_notified, true)) return;
  base::caller_driver* const d = driver();
  if (!d) return;
  if (w->thread) return d->enlist(*w->thread);
  needs_background_driver_ = true;
}

void local_lock::finish(lock& l, unsigned users_to_drop, cohort::completion* answered) noexcept {
  take_inline_answer(users_to_drop);
  --threads_inside_;
  users_ -= users_to_drop;
  const bool drops_client = users_ == 0 && keeps_client_;
  if (drops_client) keeps_client_ = false;
  client_impl& client = client_;
  const bool retires = is_unused() && !is_retiring_;
  if (retires) is_retiring_ = true;
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

bool local_lock::is_inside_verb() noexcept { return inline_answer::innermost != nullptr; }

void local_lock::take_inline_answer(unsigned& users_to_drop) noexcept {
  inline_answer* const s = inline_answer::innermost;
  if (!s || s->where != this || s->is_taken_over || cohort_.effects().has_scheduled()) return;
  s->is_taken_over = true;
  is_running_verbs_ = false;
  --threads_inside_;
  users_to_drop += s->users_to_drop;
}

// Runs c's pending verbs with the mutex unlocked meanwhile. False when the answer has done the
// rest: then this object may be gone.
bool local_lock::run_pending(lock& l, claim_record& c, unsigned users_to_drop) noexcept {
  const unsigned verbs = std::exchange(c.pending_verbs, 0);
  inline_answer inline_here{this, users_to_drop, false, inline_answer::innermost};
  inline_answer::innermost = &inline_here;
  if (verbs == claim_record::acquire) {
    const seam::acquire_request request = request_of(c);
    l.unlock();
    claim_of(c).acquire(request);
  } else if (verbs == claim_record::release && !cohort_.successor_of(c)) {
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
  claim_record* const next = verbs & claim_record::release ? cohort_.successor_of(c) : nullptr;
  if (next) next->pending_verbs &= static_cast<unsigned char>(~claim_record::acquire);
  const seam::acquire_request request = request_of(c);
  const seam::acquire_request next_request = next ? request_of(*next) : seam::acquire_request{};
  const base::duration ttl = c.grant.ttl();
  const std::uint32_t ticket = c.grant.ticket();
  l.unlock();
  seam::claim& claim = claim_of(c);
  if (verbs & claim_record::acquire) claim.acquire(request);
  if (verbs & claim_record::cancel) claim.cancel();
  if (verbs & claim_record::downgrade) claim.downgrade();
  if ((verbs & claim_record::check_waiters) && !(verbs & claim_record::release))
    claim.check_waiters();
  if (next) {
    const seam::successor successor{&claim_of(*next), next_request};
    claim.release(&successor);
  } else if (verbs & claim_record::release) {
    claim.release(nullptr);
  } else if (verbs & claim_record::renew) {
    claim.renew(ttl, ticket);
  }
}

seam::claim& local_lock::claim_of(claim_record& c) {
  if (!c.claim) c.claim = rules().locks->open(name_, c);
  return *c.claim;
}

seam::acquire_request local_lock::request_of(const claim_record& c) const noexcept {
  seam::acquire_request a{.one_attempt = c.one_attempt,
                          .ttl = c.grant.ttl(),
                          .mode = c.grant.mode(),
                          .permits = c.grant.permits(),
                          .total_permits = permits_};
  const cohort::waiter* const first = cohort_.awaits_store();
  if (first && c.now == claim_record::state::requesting) a.at = first->request.at;
  if (!c.extra) return a;
  a.note = c.extra->note;
  a.group = c.extra->group;
  return a;
}

// The time for which the client's timers must be armed earlier than they are; never: none.
base::time_point local_lock::take_arm() noexcept {
  const base::time_point next = cohort_.next_tick();
  if (next >= armed_at_) return base::never;
  armed_at_ = next;
  return next;
}

bool local_lock::pin() noexcept {
  const lock l(mutex_);
  armed_at_ = base::never;
  if (is_retiring_ && is_unused()) return false;
  ++threads_inside_;
  return true;
}

void local_lock::fire(base::time_point now) {
  lock l(mutex_);
  if (claim_record* const c = cohort_.lingering_unseen())
    is_running_verbs_ ? c->grant.poll_again(now) : poll(l, *c, now);
  cohort_.tick(now);
  run_effects(l, 0);
}

// No turn is inside; no other thread releases the grant meanwhile: this one runs the verbs.
void local_lock::poll(lock& l, claim_record& c, base::time_point now) {
  is_running_verbs_ = true;
  l.unlock();
  const bool others_wait = c.claim->others_wait();
  l.lock();
  is_running_verbs_ = false;
  cohort_.polled(c, others_wait, now);
}

}  // namespace holdfast::inline v0::detail
