// While the server is out of reach: which claims wait through it, which fail, and when it is tried
// again. transport/error_text.hpp has the rules.
#include <utility>

#include "backend/redis/layouts/string/deferred.hpp"

namespace holdfast::redis {

using core::event_queue;
using core::failure;

void string_layout::on_down(transport&, lane what, const failure& why, loss how, time_point now,
                            event_queue& events) {
  watch_outage(now);
  if (what == lane::commands) {
    is_raising_ = false;
    raise_at_ = core::never;
    collected_.defer_unsent();
  }
  if (what == lane::renewals) {
    if (renewals_.go_with_commands()) over_->tick_by(now);
    return;
  }
  if (how == loss::refused) fail_waiting(what, why, now, events);
  if (how == loss::not_reached) fail_attempts(what, why, now, events);
}

void string_layout::put_off(std::string why, time_point now) {
  over_->note_put_off(std::move(why), now);
  watch_outage(now);
}

// When the waiters have waited through it for long enough.
void string_layout::watch_outage(time_point now) {
  if (over_->is_unavailable()) over_->tick_by(claims_.first_end_of_wait(now));
}

// The server rejected our credentials: all waiters fail, because only a corrected URL can help.
void string_layout::fail_waiting(lane what, const failure& why, time_point now,
                                 event_queue& events) {
  const auto needs_it = [what](const claim& c) {
    return what == lane::commands ? c.recipe().waits() : c.recipe().may_be_pushed();
  };
  claims_.give_up(needs_it, static_cast<errc>(why.code.value()), why.text, now, events);
}

// There is nothing to connect to: one attempt has been made.
void string_layout::fail_attempts(lane what, const failure& why, time_point now,
                                  event_queue& events) {
  const auto is_one = [&](const claim& c) {
    return c.recipe().is_attempt() &&
           (what == lane::commands || c.deferred == operation::lock_or_queue);
  };
  fail_deferred(is_one, why, now, events);
}

void string_layout::fail_unproven(const failure& why, time_point now, event_queue& events) {
  fail_deferred(
      [](const claim& c) { return grant_rules::needs_floor(c.deferred, c.recipe().mode()); }, why,
      now, events);
}

template <class Which>
void string_layout::fail_deferred(Which which, const failure& why, time_point now,
                                  event_queue& events) {
  review_deferred([&](claim& c) {
    if (!which(c)) return true;
    c.deferred = operation::none;
    c.give_up(static_cast<errc>(why.code.value()), why.text, now, events);
    return false;
  });
}

void string_layout::end_overdue(time_point now, event_queue& events) {
  review_deferred([&](claim& c) {
    const time_point end = c.recipe().due(settings_.rules);
    const time_point last_try = c.recipe().last_try(settings_.rules);
    if (end <= now) {
      c.deferred = operation::none;
      c.on([](queueing_recipe& r) { return r.on_overdue(); }, now, events);
      return false;
    }
    if (last_try <= now && !std::exchange(c.hurried, true)) retry_by(now);
    over_->tick_by(last_try > now ? last_try : end);
    return true;
  });
}

void string_layout::end_waits(time_point now, event_queue& events) {
  const auto why = [this] { return over_->outage_text(); };
  const auto waits = claims_.end_waits(over_->out_since(), why, now, events);
  over_->tick_by(waits.due);
  if (waits.retry_now) retry_by(now);
}

void string_layout::retry_by(time_point by) {
  over_->retry_now(lane::commands, by);
  over_->retry_now(lane::messages, by);
  if (raise_at_ == core::never || raise_at_ <= by) return;
  raise_at_ = by;
  over_->tick_by(by);
}

}  // namespace holdfast::redis
