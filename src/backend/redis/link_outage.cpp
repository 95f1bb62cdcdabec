// A link while its server is out of reach: who waits through it, who is told, and when it is tried
// again. server_errors.hpp has the rules.
#include <algorithm>
#include <utility>

#include "backend/redis/claim.hpp"
#include "backend/redis/link.hpp"
#include "backend/redis/link_answers.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using core::event_queue;
using core::failure;
using namespace std::chrono_literals;

namespace {

constexpr duration raise_pause_min = 20ms, raise_pause_max = 2s;

}  // namespace

void link::on_down(transport&, lane what, const failure& why, loss how, time_point now,
                   event_queue& events) {
  watch_outage(now);
  if (what == lane::commands) {
    raising_ = false;
    raise_at_ = core::never;
    collected_.park_unsent();
  }
  if (what == lane::renewals) {
    if (renewals_go_with_commands()) over_.tick_by(now);
    return;
  }
  if (how == loss::refused) fail_waiting(what, why, now, events);
  if (how == loss::not_reached) fail_attempts(what, why, now, events);
}

void link::put_off(std::string why, time_point now) {
  over_.note_put_off(std::move(why), now);
  watch_outage(now);
}

// When the waiters have waited through it for long enough.
void link::watch_outage(time_point now) {
  if (!over_.is_out()) return;
  const duration most = settings_.rules.outage_timeout;
  if (most == duration::max()) return;
  over_.tick_by(core::saturating_add(now, most - std::min(most, settings_.rules.op_timeout) / 8));
}

// The server will not have us: nobody is kept waiting for what only a mended URL can bring.
void link::fail_waiting(lane what, const failure& why, time_point now, event_queue& events) {
  const auto code = static_cast<errc>(why.code.value());
  claims_.for_each([&](claim& c) {
    const bool needs_it = what == lane::commands ? c.recipe().waits() : c.recipe().may_be_pushed();
    if (!needs_it) return;
    c.parked = operation::none;
    c.give_up(code, why.text, now, events);
  });
}

// There is nothing to connect to: one attempt has been made.
void link::fail_attempts(lane what, const failure& why, time_point now, event_queue& events) {
  const auto is_one = [&](const claim& c) {
    return c.recipe().is_attempt() && (what == lane::commands || c.parked == operation::join);
  };
  fail_parked(is_one, why, now, events);
}

void link::fail_unproven(const failure& why, time_point now, event_queue& events) {
  fail_parked([](const claim& c) { return grant_rules::needs_floor(c.parked, c.recipe().how()); },
              why, now, events);
}

template <class Which>
void link::fail_parked(Which which, const failure& why, time_point now, event_queue& events) {
  review_parked([&](claim& c) {
    if (!which(c)) return true;
    c.parked = operation::none;
    c.give_up(static_cast<errc>(why.code.value()), why.text, now, events);
    return false;
  });
}

void link::end_overdue(time_point now, event_queue& events) {
  review_parked([&](claim& c) {
    const time_point end = c.recipe().due(settings_.rules);
    const time_point last_try = c.recipe().last_try(settings_.rules);
    if (end <= now) {
      c.parked = operation::none;
      c.on([](recipe& r) { return r.on_overdue(); }, now, events);
      return false;
    }
    if (last_try <= now && !std::exchange(c.hurried, true)) hurry(now);
    over_.tick_by(last_try > now ? last_try : end);
    return true;
  });
}

// Waiters who have waited through the outage for an ?outage-timeout=.
void link::end_waits(time_point now, event_queue& events) {
  const duration most = settings_.rules.outage_timeout;
  if (most == duration::max() || over_.out_since() == core::never) return;
  time_point next = core::never;
  bool hurries = false;
  claims_.for_each([&](claim& c) {
    if (!c.recipe().is_waiter()) return;
    const time_point since = core::planted(core::mutant::outage_dated_back)
                                 ? c.recipe().waits_since()
                                 : std::max(over_.out_since(), c.recipe().waits_since());
    const time_point end = core::saturating_add(since, most);
    const time_point last_try = end - std::min(most, settings_.rules.op_timeout) / 8;
    if (end > now) {
      hurries = hurries || (last_try <= now && hurried_at_ < last_try);
      next = std::min(next, last_try > now ? last_try : end);
      return;
    }
    c.parked = operation::none;
    const failure why = over_.read_reach().trouble;
    c.give_up(errc::unavailable, "the outage lasts for longer than the outage-timeout: " + why.text,
              now, events);
  });
  over_.tick_by(next);
  if (!hurries) return;
  hurried_at_ = now;
  hurry(now);
}

core::reach link::read_reach() {
  const std::lock_guard guard(mutex());
  return over_.read_reach();
}

void link::hurry(time_point by) {
  over_.hurry(lane::commands, by);
  over_.hurry(lane::messages, by);
  if (raise_at_ == core::never || raise_at_ <= by) return;
  raise_at_ = by;
  over_.tick_by(by);
}

void link::hurry() noexcept {
  if (is_forked()) return;
  const std::lock_guard guard(mutex());
  if (!group_.is_stopped()) hurry(env().now());
}

// The server put it off.
void link::raise_later(time_point now) {
  const duration pause = std::min(raise_pause_max, raise_pause_min * (1 << std::min(raises_, 10u)));
  ++raises_;
  raise_at_ = now + core::jittered(env(), pause, 0.25);
  over_.tick_by(raise_at_);
}

void link::raise_if_due(time_point now) {
  if (raise_at_ > now) return over_.tick_by(raise_at_);
  raise_at_ = core::never;
  const bool is_wanted = std::ranges::any_of(parked_, [&](claims::claim_place p) {
    const claim* const c = claims_.at(p);
    return c && grant_rules::needs_floor(c->parked, c->recipe().how());
  });
  if (is_wanted && over_.is_ready(lane::commands) && !floor_.is_known()) raise(now);
}

}  // namespace holdfast::redis
