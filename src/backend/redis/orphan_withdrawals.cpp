#include "backend/redis/orphan_withdrawals.hpp"

#include <algorithm>
#include <iterator>

#include "backend/redis/link.hpp"

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;

// Where an old connection cannot be ended, what it still carries arrives some time.
constexpr duration late_request_max = 2min;
constexpr duration pauses[] = {100ms, 1s, 10s, 1min};
// While the server refuses the withdrawal, the id is still queued, and others wait behind it.
constexpr duration refused_pause_max = 1s;

}  // namespace

void ledger::add(std::string_view lock, const owner_text& owner, duration ttl, time_point now) {
  items_.emplace_back(*this, lock, owner, core::saturating_add(now, ttl + late_request_max));
  items_.back().place = std::prev(items_.end());
  withdraw(items_.back(), now);
}

void ledger::withdraw(item& i, time_point now) {
  std::string bytes;
  append_leave(bytes, i.lock, view(i.owner));
  i.next = core::never;
  i.in_flight = home_.ask_special(i, std::move(bytes), now);
}

void ledger::resend(time_point now) {
  for (item& i : items_)
    if (!i.in_flight) withdraw(i, now);
}

time_point ledger::tend(time_point now) {
  time_point next = core::never;
  for (item& i : items_) {
    if (i.next <= now) withdraw(i, now);
    next = std::min(next, i.next);
  }
  return next;
}

void ledger::drop_all() noexcept { items_.clear(); }

void ledger::item::on_reply(const value& v, const reply_context& c) {
  const time_point now = c.now;
  in_flight = false;
  const reply r = read_released(v, {}).to_claim;
  if (r.what == reply::verdict::again) return home.withdraw(*this, now);
  const bool is_refused = v.is(value::kind::error);
  const bool is_final = home.home_.nothing_older_runs() && !is_refused;
  const duration pause = pauses[std::min<std::size_t>(answers++, std::size(pauses) - 1)];
  next = now + (is_refused ? std::min(pause, refused_pause_max) : pause);
  if (!is_final && next < until) return home.home_.tend_by(next);
  home.items_.erase(place);  // the item ends here
}

}  // namespace holdfast::redis
