#include "core/slot.hpp"

#include <optional>
#include <utility>

#include "core/client_impl.hpp"

namespace holdfast::inline v0::detail {

using core::conversation;
using core::failure;

namespace {

struct blocked_waiter final : core::waiter {
  core::parker parker;
  void complete() noexcept override { parker.signal(); }
};

struct blocked_inquiry final : core::inquiry {
  core::parker parker;
  void complete() noexcept override { parker.signal(); }
};

void complete_all(core::call* answered) noexcept {
  while (answered) {
    core::call* const next = answered->next_answered;  // read first: then the call may be gone
    answered->complete();
    answered = next;
  }
}

}  // namespace

slot::slot(client_impl& c, std::string_view name)
    : client_(c), name_(name), cohort_(*this, c.env(), c.rules()) {}

template <class Change>
void slot::step(Change change, unsigned users_to_drop) noexcept {
  lock l(mutex_);
  ++visits_;
  change();
  settle(l, users_to_drop);
}

// Does what the cohort has asked for until nothing is left, then leaves. A thread that finds another
// one speaking leaves its verbs to it.
void slot::settle(lock& l, unsigned users_to_drop) noexcept {
  for (;;) {
    core::call* const answered = cohort_.take_answered();
    conversation* const c = speaking_ ? nullptr : cohort_.take_todo();
    const core::time_point arm = take_arm();
    auto notices = cohort_.take_notices();
    if (!c && arm == core::never && !notices) return finish(l, users_to_drop, answered);
    if (c) speaking_ = true;
    if (!c || answered || arm != core::never || notices) {  // first: after speaking it may be gone
      l.unlock();
      complete_all(answered);
      if (arm != core::never) client_.timers().arm_no_later(*this, arm);
      if (notices) client_.notify(std::move(*notices));
      l.lock();
    }
    if (!c) continue;
    if (!speak(l, *c, users_to_drop)) return;
    speaking_ = false;
  }
}

void slot::finish(lock& l, unsigned users_to_drop, core::call* answered) noexcept {
  take_over_speech(users_to_drop);
  --visits_;
  users_ -= users_to_drop;
  std::shared_ptr<client_impl> kept;
  if (users_ == 0) kept = std::move(keeps_);
  const bool retires = unused() && !std::exchange(retiring_, true);
  l.unlock();
  complete_all(answered);
  if (retires) client_.retire(*this);
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
  conversation* const next = todo & conversation::release ? std::exchange(c.next, nullptr) : nullptr;
  const bool succession = next && (next->todo & conversation::acquire);
  if (succession) next->todo &= static_cast<unsigned char>(~conversation::acquire);
  const core::ask how = ask_of(c);
  const std::uint32_t ticket = c.ticket;
  l.unlock();
  core::claim& claim = claim_of(c);
  const bool one_verb = (todo & (todo - 1)) == 0 && !succession;
  speech said{one_verb ? this : nullptr, users_to_drop, false, speech::innermost};
  speech::innermost = &said;
  if (todo & conversation::acquire) claim.acquire(how);
  if (todo & conversation::cancel) claim.cancel();
  if (todo & conversation::release) {
    say_release(c, succession ? next : nullptr);
  } else if (todo & conversation::renew) {
    claim.renew(how.ttl, ticket);
  }
  speech::innermost = said.outer;
  if (said.is_taken_over) return false;
  l.lock();
  return true;
}

void slot::say_release(conversation& c, conversation* next) {
  if (!next) return c.claim->release(nullptr);
  const core::succession heir{&claim_of(*next), ask_of(*next)};
  c.claim->release(&heir);
}

core::claim& slot::claim_of(conversation& c) {
  if (!c.claim) c.claim = client_.rules().store->open({name_, core::mode::exclusive}, c);
  return *c.claim;
}

core::ask slot::ask_of(const conversation& c) const noexcept {
  return {c.one_attempt, c.ttl, c.note ? std::string_view(*c.note) : std::string_view()};
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
  cohort_.tick(now);
  settle(l, 0);
}

void slot::add_user(std::shared_ptr<client_impl> client) {
  const lock l(mutex_);
  if (users_++ == 0) keeps_ = std::move(client);
}

void slot::drop_user() noexcept {
  step([] {}, 1);
}

turn* slot::acquire(const core::ask& how, bool renews, wait_bound bound, std::stop_token stop,
                    failure& why) {
  blocked_waiter w;
  w.how = how;
  w.renews = renews;
  const bool timed = bound.what == wait_bound::kind::within;
  if (timed) w.until = core::saturating_add(client_.env().now(), bound.most);
  step([&] {
    ++users_;  // the turn to be
    cohort_.enter(w, timed || !cohort_.is_idle() ? client_.env().now() : core::time_point{});
  });
  if (!w.parker.signalled()) {
    const auto withdraw = [&] { step([&] { cohort_.withdraw(w, errc::canceled); }); };
    std::optional<std::stop_callback<decltype(withdraw)>> on_stop;
    if (stop.stop_possible()) on_stop.emplace(std::move(stop), withdraw);
    wait(w.parker);
  }
  if (w.granted) return w.granted;
  drop_user();
  why = std::move(w.why);
  return nullptr;
}

void slot::wait(core::parker& p) noexcept {
  if (p.signalled()) return;
  if (core::driver* const d = client_.rules().store->lend()) {
    d->run_until_signalled(p);
  } else {
    p.park();
  }
}

void slot::leave(turn& t, core::inquiry* report) noexcept {
  lock l(mutex_);
  ++visits_;
  const core::time_point now = cohort_.has_line() ? client_.env().now() : core::time_point{};
  bool others_wait = cohort_.wanted();
  if (client_.rules().can.wanted == core::wanted_by::silent) others_wait = true;
  if (client_.rules().can.wanted == core::wanted_by::poll && cohort_.is_live(t) &&
      cohort_.budget_is_spent(now)) {
    core::claim& claim = *t.of->claim;
    l.unlock();
    others_wait = claim.others_wait();
    l.lock();
  }
  cohort_.leave(t, others_wait, report, now);
  settle(l, report ? 0 : 1);
}

void slot::unlock(turn& t) noexcept { leave(t, nullptr); }

failure slot::release(turn& t) noexcept {
  const std::error_code lost = t.status();
  blocked_inquiry i;
  i.until = core::saturating_add(client_.env().now(), client_.rules().options.op_timeout);
  leave(t, &i);
  wait(i.parker);
  drop_user();
  if (lost) return {lost, {}};
  if (i.why.code == errc::not_held) return {errc::lost, std::move(i.why.text)};
  return std::move(i.why);
}

failure slot::extend(turn& t, core::duration ttl) {
  blocked_inquiry i;
  const core::time_point now = client_.env().now();
  i.until = core::saturating_add(now, client_.rules().options.op_timeout);
  step([&] { cohort_.extend(t, ttl, i, now); });
  wait(i.parker);
  return std::move(i.why);
}

std::stop_token slot::token_of(turn& t, std::stop_source turn::* which) {
  const lock l(mutex_);
  std::stop_source& source = t.*which;
  if (!source.stop_possible()) {
    source = std::stop_source();
    const bool is_lost = t.now.load() != turn::fate::held;
    if (is_lost || (which == &turn::doubt && t.doubted)) source.request_stop();
  }
  return source.get_token();
}

int slot::native_handle(turn& t) noexcept {
  const lock l(mutex_);
  return t.of && t.of->claim ? t.of->claim->native_handle() : -1;
}

void slot::close() noexcept {
  step([&] { cohort_.close(); });
}

void slot::granted(conversation& c, const core::grant& g) {
  step([&] { cohort_.on_granted(c, g); });
}
void slot::refused(conversation& c, failure why) {
  step([&] { cohort_.on_refused(c, std::move(why)); });
}
void slot::moved(conversation& c, core::time_point deadline, std::uint32_t ticket) {
  step([&] { cohort_.on_moved(c, deadline, ticket, client_.env().now()); });
}
void slot::lost(conversation& c) {
  step([&] { cohort_.on_lost(c, client_.env().now()); });
}
void slot::wanted(conversation& c) {
  step([&] { cohort_.on_wanted(c); });
}
void slot::ended(conversation& c, failure why) {
  if (why.code) client_.report(name_, why);
  step([&] { cohort_.on_ended(c, std::move(why)); });
}

}  // namespace holdfast::inline v0::detail

namespace holdfast::core {

void conversation::granted(const grant& g) { home.granted(*this, g); }
void conversation::refused(failure why) { home.refused(*this, std::move(why)); }
void conversation::moved(time_point d, std::uint32_t t) { home.moved(*this, d, t); }
void conversation::lost(std::error_code) { home.lost(*this); }
void conversation::wanted() { home.wanted(*this); }
void conversation::ended(failure why) { home.ended(*this, std::move(why)); }

}  // namespace holdfast::core
