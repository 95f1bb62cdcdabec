#include "backend/redis/transport/server_clock.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

void server_clock::note(time_point sent, server_time at, time_point received) noexcept {
  if (at == server_time::zero() || sent < sent_) return;
  const duration trip = received - sent;
  round_trip_ = round_trip_ == duration::zero() ? trip : (round_trip_ * 7 + trip) / 8;
  sent_ = sent;
  at_ = at;
}

bool server_clock::is_fresh(time_point now, duration age_max) const noexcept {
  return at_ != server_time::zero() && now - sent_ < age_max;
}

std::optional<time_point> server_clock::place(server_time at) const noexcept {
  if (at_ == server_time::zero() || at < at_) return std::nullopt;
  const duration since = at - at_;
  return sent_ + (since - since / 100);
}

std::optional<server_time> server_clock::last_seen() const noexcept {
  if (at_ == server_time::zero()) return std::nullopt;
  return at_;
}

std::optional<server_time> server_clock::latest(time_point now) const noexcept {
  if (at_ == server_time::zero()) return std::nullopt;
  const auto passed = std::chrono::ceil<server_time>(now - sent_);
  return at_ + passed + passed / 100;
}

duration server_clock::jump(time_point sent, server_time at, time_point now) noexcept {
  const time_point sent_before = std::exchange(jump_sent_, sent);
  const server_time at_before = std::exchange(jump_at_, at);
  if (at_before == server_time::zero()) return duration::zero();
  const duration here = now - sent_before, there = at - at_before;
  return std::max(duration::zero(), there - there / 100 - here);
}

}  // namespace holdfast::redis
