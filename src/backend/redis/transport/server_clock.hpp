// What the client knows of the server's clock and of its counter.
#pragma once
#include <cstdint>
#include <optional>

#include "backend/redis/recipes/protocol.hpp"

namespace holdfast::redis {

// A pair (our clock at a send, the server's when it answered) places a moment of the server on our
// clock without a round trip: never too late, since the answer is younger than the send.
class server_clock {
 public:
  void note(time_point sent, server_time at, time_point now) noexcept;
  // How long a waiter has to accept what it was handed: at least 250 ms, and eight round trips.
  duration window(duration ttl) const noexcept;
  bool is_fresh(time_point now, duration age_max) const noexcept;
  // Our time of a moment of the server, or nothing: no sample younger than `age_max`, or the
  // server's clock was set back since.
  std::optional<time_point> place(server_time at, time_point now, duration age_max) const noexcept;
  // How much more time has passed at the server than here since the last call, with drift taken
  // off: a machine that was stopped whole, or a clock that was set forward.
  duration leap(time_point sent, server_time at, time_point now) noexcept;
  duration round_trip() const noexcept { return round_trip_; }  // smoothed
  bool is_behind(std::int64_t number) const noexcept;  // the number is over a second ahead of it
  // The number is further ahead than it can be by now: it was spoilt, or the clock was set.
  bool is_far_behind(std::int64_t number, time_point now) const noexcept;

 private:
  time_point sent_{};
  server_time at_{};
  duration round_trip_{};  // smoothed
  time_point leap_sent_{};
  server_time leap_at_{};
};

// The number of a grant proves its place only above the floor that this connection has seen the
// counter lifted to, and above every number it has seen since.
class number_guard {
 public:
  bool has_floor() const noexcept { return floor_.has_value(); }
  void lift(std::int64_t floor) noexcept;
  void forget() noexcept;
  bool accept(std::int64_t number) noexcept;                // in the order of the replies
  std::int64_t last() const noexcept { return last_; }      // the highest that was accepted
  bool is_above_floor(std::int64_t number) const noexcept;  // of a push, which is in no order
  std::int64_t from_block(std::int64_t number) noexcept;    // a planted fault

 private:
  std::optional<std::int64_t> floor_;
  std::int64_t last_ = 0;
  std::int64_t block_ = 0, block_end_ = 0;
};

}  // namespace holdfast::redis
