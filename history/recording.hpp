// Reads the recordings that clients leave (src/base/recording_format.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/recording_format.hpp"

namespace holdfast::history {

using base::recorded_clock;
using base::recorded_event;

struct moment {  // one instant by each clock, in nanoseconds
  std::int64_t boottime = 0, monotonic = 0, wall = 0;

  static moment now() noexcept;
};

struct recorded_lock {
  std::string name;
  std::uint32_t total_permits = 0;  // of a semaphore; 0: a lock
  unsigned lock_store = 0;          // kinds of locks that do not exclude each other differ in it

  bool operator==(const recorded_lock&) const = default;
};

struct client_event : recorded_event {
  static constexpr std::size_t unknown_lock = SIZE_MAX;  // newer names have overwritten its name
  std::size_t lock = unknown_lock;                       // in client_recording::locks
};

struct client_recording {
  std::string file;
  std::int64_t pid = 0;
  std::uint64_t process_start = 0, pid_namespace = 0;
  std::string boot, program, store;
  std::int64_t opened = 0;  // CLOCK_BOOTTIME
  bool is_coarse = false;   // its times are steps of a few milliseconds
  bool is_closed = false;   // by its program
  std::vector<recorded_lock> locks;
  // In order, their times by CLOCK_BOOTTIME whatever the recording's clock is.
  std::vector<client_event> events;
  std::uint64_t overwritten = 0;  // older events
  std::size_t torn = 0;  // events that were cut short: their writer was killed in the middle
};

// Reads one recording. Events after `until` are left out: what has led to them may be missing from
// a recording that was read before. `why` is set when it is not a recording, or of another version.
client_recording parse_recording(std::string_view bytes, const moment& until, std::string& why);

struct recordings {
  std::vector<client_recording> clients;
  std::size_t of_earlier_boots = 0;  // left out
  // One sentence for each directory and file that cannot be read.
  std::vector<std::string> unreadable;
};

// `folder`, $HOLDFAST_RECORDER, where it is a directory; else that of this user, and those of all
// users where this is root.
std::vector<std::string> recording_folders(std::string_view folder);
recordings read_recordings(std::span<const std::string> folders, const moment& until);

}  // namespace holdfast::history
