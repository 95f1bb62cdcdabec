#include "backend/redis/transport/server_clock.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::redis {

using core::mutant;
using core::planted;
using namespace std::chrono_literals;

namespace {

constexpr duration window_min = 250ms;

}  // namespace

void server_clock::note(time_point sent, server_time at, time_point now) noexcept {
  if (at == server_time::zero() || sent < sent_) return;
  const duration trip = now - sent;
  round_trip_ = round_trip_ == duration::zero() ? trip : (round_trip_ * 7 + trip) / 8;
  sent_ = sent;
  at_ = at;
}

duration server_clock::window(duration ttl) const noexcept {
  return std::min(ttl, std::max(window_min, round_trip_ * 8));
}

bool server_clock::is_fresh(time_point now, duration age_max) const noexcept {
  return at_ != server_time::zero() && now - sent_ < age_max;
}

std::optional<time_point> server_clock::place(server_time at, time_point now,
                                              duration age_max) const noexcept {
  if (at_ == server_time::zero() || at < at_) return std::nullopt;
  if (!is_fresh(now, age_max) && !planted(mutant::old_sample_accepted)) return std::nullopt;
  const duration since = at - at_;
  return sent_ + (since - since / 100);
}

duration server_clock::leap(time_point sent, server_time at, time_point now) noexcept {
  const time_point sent_before = std::exchange(leap_sent_, sent);
  const server_time at_before = std::exchange(leap_at_, at);
  if (at_before == server_time::zero()) return duration::zero();
  const duration here = now - sent_before, there = at - at_before;
  return std::max(duration::zero(), there - there / 100 - here);
}

bool server_clock::is_behind(std::int64_t number) const noexcept {
  return at_ != server_time::zero() && number > (at_ + 1s).count();
}

bool server_clock::is_far_behind(std::int64_t number, time_point now) const noexcept {
  if (at_ == server_time::zero()) return false;
  const auto passed = std::chrono::ceil<server_time>(now - sent_);
  return number > (at_ + passed + passed / 100 + 1s).count();
}

void number_guard::lift(std::int64_t floor) noexcept {
  floor_ = floor;
  last_ = std::max(last_, floor);
}

void number_guard::forget() noexcept {
  if (planted(mutant::floor_kept)) return;
  floor_.reset();
}

bool number_guard::accept(std::int64_t number) noexcept {
  if (planted(mutant::floor_kept)) return true;
  if (!floor_ || number <= *floor_ || number <= last_ || number > number_max) return false;
  last_ = number;
  return true;
}

bool number_guard::is_above_floor(std::int64_t number) const noexcept {
  return floor_ && number > *floor_ && number <= number_max;
}

std::int64_t number_guard::from_block(std::int64_t number) noexcept {
  constexpr std::int64_t size = 16;
  if (block_ == block_end_) block_end_ = (block_ = number) + size;
  return block_++;
}

}  // namespace holdfast::redis
