#include "backend/memory/recipe.hpp"

#include <algorithm>

#include "core/mutant.hpp"

namespace holdfast::memory {

using core::mutant;
using core::planted;
using core::saturating_add;
using namespace std::chrono_literals;

namespace {

constexpr duration nap = 30s;         // of those that are not first in line
constexpr duration back_off_max = 60s;

// What a lease of `ttl` is worth on a clock that may run a hundredth slower than the store's.
duration worth(duration ttl, duration skew) noexcept { return ttl - ttl / 100 - 2ms - skew; }

}  // namespace

actions recipe::acquire(bool one_attempt, duration ttl, time_point now, const terms& t) noexcept {
  ++epoch_;
  one_attempt_ = one_attempt;
  ttl_ = ttl;
  surely_over_ = {};
  actions out = ask(now, t);
  out.new_id = !planted(mutant::owner_id_reused);
  return out;
}

actions recipe::cancel(time_point now, const terms& t) noexcept {
  if (state_ != state::asked && state_ != state::unsure && state_ != state::queued) return {};
  return leave(state::leaving, now, t);
}

actions recipe::renew(duration ttl, time_point now, const terms& t) noexcept {
  if (state_ != state::held) return {};
  ttl_ = ttl;
  run_out_no_earlier(ttl, now, t);
  actions out;
  out.send = true;
  out.ask_for = operation::renew;
  return out;
}

actions recipe::release(time_point now, const terms& t) noexcept {
  if (state_ == state::lost) return become_fresh(tell::ended, errc::not_held);
  if (state_ != state::held) return {};
  return leave(state::releasing, now, t);
}

request recipe::to_send(operation what, time_point now) const noexcept {
  request r;
  r.what = what;
  r.one_attempt = one_attempt_;
  r.epoch = epoch_;
  r.ttl = ttl_;
  r.sent = now;
  return r;
}

// A first question, with what is due when no answer comes.
actions recipe::ask(time_point now, const terms& t) noexcept {
  state_ = state::asked;
  asked_since_ = now;
  attempts_ = 0;
  run_out_no_earlier(ttl_, now, t);
  return question(operation::ask, now, now + t.op_timeout, t);
}

actions recipe::ask_again(time_point now, const terms& t) noexcept {
  state_ = state::unsure;
  run_out_no_earlier(ttl_, now, t);
  return question(operation::ask, now, asked_since_ + t.op_timeout, t);
}

actions recipe::leave(state next, time_point now, const terms& t) noexcept {
  ++epoch_;
  state_ = next;
  asked_since_ = now;
  attempts_ = 0;
  return question(operation::leave, now, core::never, t);
}

// Asked again after an eighth of the op-timeout, then after twice as long each time.
actions recipe::question(operation what, time_point now, time_point until,
                         const terms& t) noexcept {
  const duration pause = std::min(t.op_timeout / 8 * (1 << std::min<int>(attempts_, 20)),
                                  std::max(back_off_max, t.op_timeout));
  if (attempts_ < 255) ++attempts_;
  actions out;
  out.send = true;
  out.ask_for = what;
  out.sleeps = true;
  out.wake = std::min(saturating_add(now, pause), until);
  out.spread = std::min(pause / 8, until - out.wake);
  return out;
}

// The store may get the request as late as an op-timeout after its send, and its clock may be slow.
void recipe::run_out_no_earlier(duration ttl, time_point now, const terms& t) noexcept {
  const time_point end = saturating_add(saturating_add(now, ttl), ttl / 100 + t.op_timeout);
  surely_over_ = std::max(surely_over_, end);
}

time_point recipe::deadline_of(const reply& r, time_point now, const terms& t) const noexcept {
  const time_point from = planted(mutant::deadline_from_reply) ? now : r.sent;
  return saturating_add(from, worth(r.ttl, t.clock_skew));
}

actions recipe::become_fresh(tell what, errc why) noexcept {
  state_ = state::fresh;
  ++epoch_;
  actions out;
  out.what = what;
  out.why = why;
  return out;
}

actions recipe::on(const reply& r, time_point now, const terms& t) noexcept {
  if (r.epoch != epoch_ && !planted(mutant::late_reply_accepted)) return {};
  switch (state_) {
    case state::asked:
    case state::unsure:
    case state::queued:
      return on_ask_reply(r, now, t);
    case state::held:
      return on_renew_reply(r, now, t);
    case state::releasing:
    case state::leaving:
      return on_leave_reply(r);
    case state::fresh:
    case state::lost:
      break;
  }
  return {};
}

actions recipe::on_ask_reply(const reply& r, time_point now, const terms& t) noexcept {
  actions out;
  switch (r.what) {
    case verdict::granted:
      state_ = state::held;
      number_ = r.number;
      deadline_ = deadline_of(r, now, t);
      others_wait_ = r.others_wait;
      out.what = tell::granted;
      return out;
    case verdict::busy:
      return become_fresh(tell::refused, errc::timed_out);
    case verdict::queued:
      state_ = state::queued;
      out.sleeps = true;
      out.wake = saturating_add(now, r.first ? std::min(r.lapse, nap) : nap);
      out.spread = r.first ? std::clamp<duration>(r.lapse / 20, 1ms, 250ms) : nap / 10;
      return out;
    case verdict::moved:
    case verdict::left:
    case verdict::not_owner:
      break;
  }
  return out;
}

actions recipe::on_renew_reply(const reply& r, time_point now, const terms& t) noexcept {
  actions out;
  if (r.what == verdict::not_owner) {
    state_ = state::lost;
    ++epoch_;
    out.what = tell::lost;
  } else if (r.what == verdict::moved) {
    deadline_ = deadline_of(r, now, t);
    out.what = tell::moved;
    if (r.others_wait) return notice_waiters(out);
  }
  return out;
}

// After a repetition "not the owner" is what a release that was heard the first time looks like.
actions recipe::on_leave_reply(const reply& r) noexcept {
  if (r.what != verdict::left && r.what != verdict::not_owner) return {};
  const bool had_it = state_ == state::leaving || r.what == verdict::left || attempts_ > 1;
  return become_fresh(tell::ended, had_it ? errc{} : errc::not_held);
}

actions recipe::notice_waiters(actions out) noexcept {
  if (others_wait_) return out;
  others_wait_ = true;
  out.what = static_cast<tell>(static_cast<unsigned>(out.what) |
                               static_cast<unsigned>(tell::wanted));
  return out;
}

actions recipe::on(const push& p, time_point now, const terms& t) noexcept {
  const bool asking = state_ == state::asked || state_ == state::unsure;
  switch (p.what) {
    case push::hint::handed:
      if (asking || state_ == state::queued) return ask(now, t);
      break;
    case push::hint::look:
      if (state_ == state::queued) {
        actions out;
        out.sleeps = true;
        out.wake = saturating_add(now, std::min(p.in, nap));
        out.spread = std::clamp<duration>(p.in / 20, 1ms, 250ms);
        return out;
      }
      break;
    case push::hint::wanted:
      if (state_ == state::held) return notice_waiters({});
      break;
    case push::hint::restarted:
      if (state_ == state::queued) return ask(now, t);
      if (waits()) return on_wake(now, t);
      break;
  }
  return {};
}

actions recipe::on_wake(time_point now, const terms& t) noexcept {
  const bool timed_out = now >= asked_since_ + t.op_timeout;
  switch (state_) {
    case state::asked:
    case state::unsure:
      if (timed_out || planted(mutant::unknown_acquire_dropped))
        return give_up(errc::unavailable);
      return ask_again(now, t);
    case state::queued:
      return ask(now, t);
    case state::leaving:
      if (timed_out) return give_up(errc::outcome_unknown);
      return question(operation::leave, now, asked_since_ + t.op_timeout, t);
    case state::releasing:
      if (now >= surely_over_ || planted(mutant::release_not_repeated))
        return give_up(errc::outcome_unknown);
      return question(operation::leave, now, surely_over_, t);
    case state::fresh:
    case state::held:
    case state::lost:
      break;
  }
  return {};
}

actions recipe::give_up(errc why) noexcept {
  if (!waits()) return {};
  const bool of_acquire = state_ != state::releasing && state_ != state::leaving;
  const bool may_be_there = state_ != state::releasing;  // a release was repeated long enough
  actions out = become_fresh(of_acquire ? tell::refused : tell::ended, why);
  out.clear = may_be_there && !planted(mutant::unknown_acquire_dropped);
  return out;
}

}  // namespace holdfast::memory
