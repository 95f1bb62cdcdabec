// The holders of locks and their times, put together from the recordings of several clients.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/history.hpp"
#include "history/recording.hpp"

namespace holdfast::history {

// Times are nanoseconds of CLOCK_BOOTTIME, as in the recordings.
struct recorded_turn {
  std::size_t client = 0;  // whose recording it is
  std::size_t lock = 0;    // in that client's locks
  std::uint64_t sequence = 0;
  unsigned mode = 0;  // lock_mode
  std::uint32_t permits = 0;
  std::int64_t token = 0;
  std::int64_t asked = 0;  // 0: the grant was immediate, or when it was asked for is not known
  std::int64_t granted = 0;
  std::int64_t deadline = no_deadline;  // the last one that is known
  std::int64_t ended = no_deadline;     // no_deadline: it has not ended, as far as is recorded
  recorded_event::ending ending = recorded_event::ending::released;
  bool was_downgraded = false;  // it ended when its holder became a reader
  // From here on the recording has a hole, in which the turn may have ended.
  std::int64_t certain_until = no_deadline;

  bool has_ended() const noexcept { return ended != no_deadline; }
  bool is_lost() const noexcept {
    return has_ended() && ending != recorded_event::ending::released &&
           ending != recorded_event::ending::closed;
  }
};

struct recorded_wait {
  std::size_t client = 0, lock = 0;
  unsigned mode = 0;
  std::int64_t asked = 0;
};

struct recorded_turns {
  std::vector<recorded_turn> turns;  // by `granted`
  std::vector<recorded_wait> waits;  // that have not ended
  std::size_t without_name = 0;      // events of locks whose names were overwritten
};

recorded_turns find_turns(std::span<const client_recording>);

// The time for which a client's process was not executed before `loss`: a timer was as late as
// this when it ran. Nothing: it ran.
struct standstill {
  std::int64_t from = 0, to = 0;
};
std::optional<standstill> standstill_before(std::int64_t loss, const client_recording&);

// Equal for two locks that exclude each other. Clients whose URLs differ are taken for clients of
// different stores.
std::string identity_of(const client_recording&, const recorded_lock&);

// For check() of history/checker.hpp. The process of a record is the number of its turn.
//
//   has_ended[i]  whether the process of client i has ended. A turn that it had not ended itself
//                 lasted to its last event at least, and no longer counts after that
std::vector<record> records_of(const recorded_turns&, std::span<const client_recording>,
                               const std::vector<bool>& has_ended);

}  // namespace holdfast::history
