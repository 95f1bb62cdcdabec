// The recording of a client: its last lock events, in memory that the environment provides. Any
// thread appends, without a lock and without a system call. The environment's memory outlives the
// process (io/recording_file.hpp), so `holdfast explain` can read what a killed process did.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "base/fork.hpp"
#include "base/recording_format.hpp"

namespace holdfast::base {

class recording {
 public:
  static std::size_t bytes_for(std::uint32_t events) noexcept;

  virtual ~recording() = default;
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

  // The time of an event that happens now; `now`: the environment's clock, {} where it was not
  // read. A store whose grants have no deadlines reads no clock for an uncontended lock, and the
  // coarse clock takes a tenth of the time of the exact one.
  time_point time_of(environment& env, time_point now) const noexcept {
    if (is_coarse_) return env.coarse_now();
    return now != time_point{} ? now : env.now();
  }

  // When it was made, by its clock, in nanoseconds.
  std::int64_t began() const noexcept { return began_; }

  // Sets the event's sequence number and checksum.
  void append(const recorded_event&) noexcept;

  // The position of the name, for recorded_event::name. `known`: its position before, 0: none. A
  // name that newer ones will soon overwrite is stored again.
  std::uint64_t position_of(std::uint64_t known, std::string_view name,
                            const recorded_name& facts) noexcept;

  // Whether one more event of a kind that may be very frequent is appended: one per second.
  bool admits(time_point now, std::atomic<time_point>& next) noexcept;
  std::atomic<time_point> next_confirmation{}, next_refusal{}, end_of_lateness{};
  std::atomic<std::uint32_t> refusals_left_out{0};

 protected:
  // `memory` is zero, and as long as bytes_for(events). Completes the header.
  recording(std::span<std::byte> memory, const recording_header&, std::uint32_t events) noexcept;
  void mark_closed() noexcept;

 private:
  std::uint64_t store_name(std::string_view name, const recorded_name& facts) noexcept;

  recording_header& header_;
  std::byte* const names_;
  recorded_event* const events_;
  const std::uint64_t mask_;
  const unsigned generation_ = fork_generation();  // a fork's child appends nothing
  const bool is_coarse_;
  const std::int64_t began_;
};

// What the environment writes into the header.
struct recording_terms {
  std::string store;       // its URL, without secrets
  bool is_coarse = false;  // recorded_clock::coarse
};

}  // namespace holdfast::base
