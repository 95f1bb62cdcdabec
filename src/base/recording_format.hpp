// The format of a recording: the last lock events of one client, in a file that the client maps.
// docs/internals/recorder.md describes it.
//
//   header    one page
//   names     a ring of the names of locks: recorded_name, the bytes of the name, to 8 bytes
//   events    a ring of recorded_event
//
// All numbers are in the byte order of the machine. A file of another version is not read.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace holdfast::base {

inline constexpr std::array<char, 8> recording_magic = {'H', 'O', 'L', 'D', 'R', 'E', 'C', '\n'};
inline constexpr std::uint32_t recording_version = 1;
inline constexpr std::uint32_t recorded_events_default = 4096;
inline constexpr std::uint32_t recorded_name_bytes = 128 * 1024;

enum class recorded_clock : std::uint32_t {
  boottime = 1,  // CLOCK_BOOTTIME
  // CLOCK_MONOTONIC_COARSE: the same tick for all processes of the machine. Two events of one tick
  // have the same time; of two ticks the earlier event has the earlier time.
  coarse = 2,
};

struct recording_header {
  std::array<char, 8> magic = recording_magic;
  std::uint32_t version = recording_version;
  std::uint32_t header_bytes = 0;  // up to the names
  std::uint32_t name_bytes = 0;    // of the ring of names
  std::uint32_t events = 0;        // of the ring of events, a power of two
  std::uint32_t event_bytes = 0;   // sizeof(recorded_event)
  recorded_clock clock = recorded_clock::boottime;
  std::int64_t pid = 0;
  std::uint64_t process_start = 0;  // field 22 of /proc/PID/stat: a later process may have the pid
  std::uint64_t pid_namespace = 0;  // its inode number
  std::int64_t opened = 0;          // nanoseconds of CLOCK_BOOTTIME
  std::int64_t opened_wall = 0;     // the same moment, nanoseconds since 1970
  std::int64_t opened_coarse = 0;   // the same moment, CLOCK_MONOTONIC
  std::array<char, 40> boot{};      // /proc/sys/kernel/random/boot_id
  std::array<char, 64> program{};   // its name, as ps(1) shows it
  std::array<char, 1024> store{};   // the URL, without secrets and without options of the client
  // Written while the client runs.
  alignas(64) std::uint64_t appended = 0;  // events, since the client was opened
  std::uint64_t names_end = 0;             // bytes of names, since the client was opened
  std::uint64_t closed = 0;                // 1: the client was closed
};
static_assert(sizeof(recording_header) <= 4096);

struct recorded_name {
  std::uint64_t position = 0;  // bytes of names before it; it is at this modulo the ring's size
  std::uint32_t total_permits = 0;  // of a semaphore; 0: a lock
  std::uint16_t lock_store = 0;     // in one store, names of different numbers are different locks
  std::uint16_t bytes = 0;          // of the name that follows
};
static_assert(sizeof(recorded_name) == 16);

struct recorded_event {
  enum class kind : std::uint8_t {
    asked = 1,  // a caller has to wait
    granted,    // `since`: when it was asked for, 0 when the grant was immediate
    // A grant. `since`: when it was granted, rounded up to a millisecond; 0: not known, of a share
    // and of permits. `reason`: an ending.
    ended,
    refused,     // `since`: when it was asked for; `reason`: the errc
    doubted,     // the holder was notified that it may lose the lock
    confirmed,   // the lock was renewed, or the session; not each time
    late,        // a timer that was due at `since` ran
    downgraded,  // an exclusive grant, to a shared one with the same token; `since` as of ended
  };
  enum class ending : std::uint8_t {
    released,
    ran_out,     // no renewal was confirmed before the deadline
    hold_ended,  // max_hold was reached
    taken,       // the store reports another owner
    forgotten,   // the store reports no owner
    closed,      // the client was closed
  };

  std::uint64_t sequence = 0;  // the first event of the client has 1
  std::int64_t time = 0;       // nanoseconds of the header's clock
  std::int64_t since = 0;
  std::int64_t deadline = 0;  // of the grant, CLOCK_BOOTTIME; the greatest number: none
  std::int64_t token = 0;     // 0: none
  std::uint64_t name = 0;     // recorded_name::position of the lock's name
  std::uint64_t details = 0;  // pack()
  std::uint64_t checksum = 0;

  // permits: of a semaphore; of refused: the number of refusals that the event stands for.
  static constexpr std::uint64_t pack(kind k, unsigned mode, unsigned reason,
                                      std::uint32_t permits) noexcept {
    return static_cast<std::uint64_t>(k) | std::uint64_t{mode} << 8 | std::uint64_t{reason} << 16 |
           std::uint64_t{permits} << 32;
  }
  constexpr kind what() const noexcept { return static_cast<kind>(details & 0xff); }
  constexpr unsigned mode() const noexcept { return details >> 8 & 0xff; }  // lock_mode
  constexpr unsigned reason() const noexcept { return details >> 16 & 0xffff; }
  constexpr std::uint32_t permits() const noexcept {
    return static_cast<std::uint32_t>(details >> 32);
  }

  // The checksum of the event with that sequence number, which a torn event does not match. All
  // members are words: a byte written into a word that is read at once stalls the processor.
  constexpr std::uint64_t sum_as(std::uint64_t number) const noexcept {
    const std::array words{std::bit_cast<std::uint64_t>(time),
                           std::bit_cast<std::uint64_t>(since),
                           std::bit_cast<std::uint64_t>(deadline),
                           std::bit_cast<std::uint64_t>(token),
                           name,
                           details};
    std::uint64_t sum = ~number;
    int turn = 0;
    for (const std::uint64_t w : words) sum ^= std::rotl(w, turn += 9);
    return sum;
  }
};
static_assert(sizeof(recorded_event) == 64);

}  // namespace holdfast::base
