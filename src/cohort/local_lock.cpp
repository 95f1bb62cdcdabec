#include "cohort/local_lock.hpp"

#include <utility>

#include "base/mutant.hpp"
#include "cohort/client_impl.hpp"

namespace holdfast::inline v0::detail {

using core::conversation;
using core::failure;
using core::grant;

namespace {

void complete_all(core::call* answered) noexcept {
  while (answered) {
    core::call* const next = answered->next_answered;  // read first: then the call may be gone
    answered->complete();
    answered = next;
  }
}

}  // namespace

slot::slot(client_impl& c, std::string_view name, std::uint32_t permits)
    : permits_(permits), client_(c), name_(name), cohort_(*this, c.rules()) {}

// Does what the cohort has asked for until nothing is left, then leaves. A thread that finds
// another one speaking leaves its verbs to it.
void slot::settle(lock& l, unsigned users_to_drop) noexcept {
  bool has_timers = true;
  for (;;) {
    enlist(nullptr);
    core::call* const answered = cohort_.take_answered();
    conversation* const c = speaking_ ? nullptr : cohort_.take_todo();
    const core::time_point arm = has_timers ? take_arm() : core::never;
    const bool is_news = arm != core::never || cohort_.has_notices() || (attends_ && !c);
    if (!c && !is_news) return finish(l, users_to_drop, answered);
    if (c) speaking_ = true;
    // First: after speaking it may be gone.
    if ((answered || is_news) && !tell(l, answered, arm)) has_timers = false;
    if (!c) continue;
    if (!speak(l, *c, users_to_drop)) return;
    speaking_ = false;
  }
}

// False when a timer was to be armed and cannot be.
bool slot::tell(lock& l, core::call* answered, core::time_point arm) noexcept {
  const auto notices = cohort_.take_notices();
  core::driver* const to_attend = std::exchange(attends_, false) ? client_.store().lend() : nullptr;
  l.unlock();
  complete_all(answered);
  if (to_attend) to_attend->attend();
  const bool is_armed = arm == core::never || client_.timers().arm_no_later(*this, arm);
  if (notices) notify(*notices);
  l.lock();
  if (!is_armed) refuse_timed_waits();
  return is_armed;
}

// Of all callers: one that came since relied on the timer that was about to be armed.
void slot::refuse_timed_waits() noexcept {
  armed_at_ = core::never;  // whoever comes next tries again
  if (core::planted(core::mutant::wait_without_timer)) return;
  cohort_.refuse_timed_waits({errc::unavailable,
                              "no thread can be started to end the wait in time: raise the limit "
                              "of processes (ulimit -u)"},
                             client_.env().now());
}

// Notifies the driver which caller awaits the store now. A blocked one may lead from here on: if it
// has slept until now, whoever sends the claim's verb, or leaves the leadership, wakes it. For one
// that does not block somebody else has to lead. `own`: its thread does so itself.
void slot::enlist(const core::waiter* own) noexcept {
  core::waiter* const w = cohort_.awaits_store();
  if (!w || std::exchange(w->is_known_to_await, true)) return;
  core::driver* const d = client_.store().lend();
  if (!d) return;
  if (w->thread) return d->enlist(*w->thread);
  if (w != own) attends_ = true;
}

void slot::finish(lock& l, unsigned users_to_drop, core::call* answered) noexcept {
  take_over_speech(users_to_drop);
  --visits_;
  users_ -= users_to_drop;
  const bool lets_go = users_ == 0 && std::exchange(keeps_, false);
  client_impl& client = client_;
  const bool retires = unused() && !std::exchange(retiring_, true);
  l.unlock();
  complete_all(answered);
  if (retires) client.retire(*this);
  if (lets_go) client.unkeep();
}

// A verb that a thread is saying. When the answer comes from inside the verb and leaves nothing to
// do, what the speaker would do afterwards is done with the answer, under one lock: an uncontended
// lock or unlock then takes the slot's lock twice, not three times.
struct slot::speech {
  slot* where;
  unsigned users_to_drop;
  bool is_taken_over = false;
  speech* outer;

  static thread_local speech* innermost;
};

thread_local slot::speech* slot::speech::innermost = nullptr;

void slot::take_over_speech(unsigned& users_to_drop) noexcept {
  speech* const s = speech::innermost;
  if (!s || s->where != this || s->is_taken_over || cohort_.has_todo()) return;
  s->is_taken_over = true;
  speaking_ = false;
  --visits_;
  users_to_drop += s->users_to_drop;
}

// Says to c's claim what is due; the lock is let go meanwhile. False when the answer has done the
// rest: then the slot may be gone.
bool slot::speak(lock& l, conversation& c, unsigned users_to_drop) noexcept {
  const unsigned todo = std::exchange(c.todo, 0);
  speech said{this, users_to_drop, false, speech::innermost};
  speech::innermost = &said;
  if (todo == conversation::acquire) {
    const core::ask how = ask_of(c);
    l.unlock();
    claim_of(c).acquire(how);
  } else if (todo == conversation::release && !c.next) {
    l.unlock();
    c.claim->release(nullptr);
  } else {
    const bool is_one_verb = (todo & (todo - 1)) == 0 && todo != conversation::release;
    if (!is_one_verb) said.where = nullptr;  // more is said after an answer
    say_all(l, c, todo);
  }
  speech::innermost = said.outer;
  if (said.is_taken_over) return false;
  l.lock();
  return true;
}

void slot::say_all(lock& l, conversation& c, unsigned todo) noexcept {
  conversation* next = todo & conversation::release ? std::exchange(c.next, nullptr) : nullptr;
  if (next && !(next->todo & conversation::acquire)) next = nullptr;
  if (next) next->todo &= static_cast<unsigned char>(~conversation::acquire);
  const core::ask how = ask_of(c);
  const core::ask heirs = next ? ask_of(*next) : core::ask{};
  const core::duration ttl = c.ttl;
  const std::uint32_t ticket = c.ticket;
  l.unlock();
  core::claim& claim = claim_of(c);
  if (todo & conversation::acquire) claim.acquire(how);
  if (todo & conversation::cancel) claim.cancel();
  if (todo & conversation::downgrade) claim.downgrade();
  if ((todo & conversation::peek_line) && !(todo & conversation::release)) claim.peek_line();
  if (next) {
    const core::succession heir{&claim_of(*next), heirs};
    claim.release(&heir);
  } else if (todo & conversation::release) {
    claim.release(nullptr);
  } else if (todo & conversation::renew) {
    claim.renew(ttl, ticket);
  }
}

core::claim& slot::claim_of(conversation& c) {
  if (!c.claim) c.claim = client_.rules().store->open(name_, c);
  return *c.claim;
}

core::ask slot::ask_of(const conversation& c) const noexcept {
  core::ask a;
  a.one_attempt = c.one_attempt;
  a.ttl = c.ttl;
  a.how = c.how;
  a.permits = c.permits;
  a.of = permits_;
  if (c.now == conversation::state::asking) a.at = c.turns_end;
  if (!c.extra) return a;
  a.note = c.extra->note;
  a.with = c.extra->with;
  return a;
}

// When the client's timers must be told of an earlier time than they have, that time.
core::time_point slot::take_arm() noexcept {
  const core::time_point next = cohort_.next_tick();
  if (next >= armed_at_) return core::never;
  armed_at_ = next;
  return next;
}

bool slot::pin() noexcept {
  const lock l(mutex_);
  armed_at_ = core::never;
  if (retiring_ && unused()) return false;
  ++visits_;
  return true;
}

void slot::fire(core::time_point now) {
  lock l(mutex_);
  if (conversation* const c = cohort_.lingering_unseen(); c && !speaking_) poll(l, *c, now);
  cohort_.tick(now);
  settle(l, 0);
}

// Nobody is inside who keeps the grant; it is not given back meanwhile because nobody else speaks.
void slot::poll(lock& l, conversation& c, core::time_point now) {
  speaking_ = true;
  l.unlock();
  const bool others_wait = c.claim->others_wait();
  l.lock();
  speaking_ = false;
  cohort_.polled(c, others_wait, now);
}

void slot::granted(conversation& c, const grant& g) {
  step([&] {
    grant seen = g;
    const bool undated = g.seen == core::time_point{};
    if (undated && cohort_.clock_matters()) seen.seen = client_.env().now();
    cohort_.on_granted(c, seen);
  });
}
void slot::refused(conversation& c, const failure& why) {
  step([&] { cohort_.on_refused(c, why); });
}
void slot::moved(conversation& c, core::time_point deadline, std::uint32_t ticket) {
  step([&] { cohort_.on_moved(c, deadline, ticket, client_.env().now()); });
}
void slot::lost(conversation& c, std::error_code why) {
  step([&] { cohort_.on_lost(c, why); });
}
void slot::wanted(conversation& c) {
  step([&] { cohort_.on_wanted(c); });
}
void slot::ended(conversation& c, const failure& why) {
  if (why.code) client_.report(name_, why);
  step([&] { cohort_.on_ended(c, why); });
}

}  // namespace holdfast::inline v0::detail

namespace holdfast::core {

void conversation::granted(const grant& g) { home.granted(*this, g); }
void conversation::refused(failure why) { home.refused(*this, why); }
void conversation::moved(time_point d, std::uint32_t t) { home.moved(*this, d, t); }
void conversation::lost(std::error_code why) { home.lost(*this, why); }
void conversation::wanted() { home.wanted(*this); }
void conversation::ended(failure why) { home.ended(*this, why); }

}  // namespace holdfast::core
