// The client's knowledge of the server's clock.
#pragma once
#include <cstdint>
#include <optional>

#include "backend/redis/server_time.hpp"

namespace holdfast::redis {

// A pair (our clock at a send, the server's when it answered) places a moment of the server on our
// clock without a round trip: never too late, since the answer is younger than the send.
class server_clock {
 public:
  // Zero for `at`: the answer had no time in it.
  void note(time_point sent, server_time at, time_point received) noexcept;
  bool is_fresh(time_point now, duration age_max) const noexcept;
  // Our time of a moment of the server, or nothing: no sample is known, or the server's clock was
  // set back since.
  std::optional<time_point> place(server_time at) const noexcept;
  std::optional<server_time> last_seen() const noexcept;             // of the last sample
  std::optional<server_time> latest(time_point now) const noexcept;  // it can show by now
  // How much more time has passed at the server than here since the last call, with drift taken
  // off: a machine that was stopped whole, or a clock that was set forward.
  duration jump(time_point sent, server_time at, time_point now) noexcept;
  time_point jump_since() const noexcept { return jump_sent_; }  // of the last call
  duration round_trip() const noexcept { return round_trip_; }   // smoothed

 private:
  time_point sent_{};
  server_time at_{};
  duration round_trip_{};
  time_point jump_sent_{};
  server_time jump_at_{};
};

}  // namespace holdfast::redis
