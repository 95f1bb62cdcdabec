#include "backend/memory/orphan_withdrawals.hpp"

#include <algorithm>

namespace holdfast::memory {

using namespace std::chrono_literals;

namespace {

constexpr duration pauses[] = {100ms, 1s, 10s, 60s};
constexpr duration margin = 2min;  // longer than any message was ever delayed

}  // namespace

orphan_withdrawals::~orphan_withdrawals() {
  if (wire_.is_forked()) return;
  const std::lock_guard guard(wire_.at().mutex);
  drop_all();
}

void orphan_withdrawals::add(entry& lock, owner_id who, time_point surely_over, time_point now,
                             event_queue& events) {
  ++lock.references;
  const time_point end = core::saturating_add(std::max(surely_over, now), margin);
  items_.emplace_front(*this, lock, who, end);
  items_.front().place = items_.begin();
  withdraw(items_.front(), now, events);
}

void orphan_withdrawals::withdraw(item& i, time_point now, event_queue& events) {
  const std::size_t last = std::size(pauses) - 1;
  const duration pause = pauses[std::min<std::size_t>(i.attempts++, last)];
  wire_.wake_at(i, core::saturating_add(now, core::jittered(wire_.env(), pause, 0.2)));
  request r;
  r.what = operation::leave;
  r.who = i.who;
  r.sent = now;
  wire_.send(i, i.lock, r, now, events);  // an answer inside send() ends the item
}

void orphan_withdrawals::item::on_reply(const reply&, time_point now, event_queue&) {
  home.drop(*this, now);
}

void orphan_withdrawals::item::on_wake(time_point now, event_queue& events) {
  if (now >= until) return home.drop(*this, now);
  home.withdraw(*this, now, events);
}

void orphan_withdrawals::drop(item& i, time_point now) {
  wire_.forget(i);
  wire_.at().data.detach(i.lock, now);
  items_.erase(i.place);
}

void orphan_withdrawals::drop_all() {
  const time_point now = wire_.env().now();
  while (!items_.empty()) drop(items_.front(), now);
}

}  // namespace holdfast::memory
