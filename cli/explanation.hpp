// The recordings of a lock on this machine, as a timeline, and the faults in it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "history/checker.hpp"
#include "history/turns.hpp"

#include "cli/process_state.hpp"

namespace holdfast::cli {

struct timeline_entry {
  std::int64_t time = 0;  // CLOCK_BOOTTIME, nanoseconds
  std::size_t client = 0;
  std::size_t lock = 0;    // in that client's locks
  const char* event = "";  // for programs
  std::string text;        // for people: "acquired it (token 1024)"
  std::int64_t token = 0;
};

struct explained_loss {
  history::recorded_turn turn;
  std::string why;  // "the process did not run for at least 14 s"
};

struct explanation {
  history::moment read_at;
  history::recordings from;
  std::vector<process_state> states;  // of the clients' processes
  history::recorded_turns turns;      // of the locks that were asked for
  std::vector<timeline_entry> timeline;
  std::vector<history::violation> violations;  // a process of theirs is the number of a turn
  std::vector<explained_loss> losses;
  // Turns that have not ended.
  std::vector<history::recorded_turn> held;       // the process exists
  std::vector<history::recorded_turn> abandoned;  // the process has ended

  const history::client_recording& client(std::size_t i) const { return from.clients[i]; }
  const std::string& lock_name(std::size_t client, std::size_t lock) const;
};

// Of all locks, or of those with the name. Clients without an event of them are left out.
explanation explain_locks(history::recordings, const history::moment& read_at,
                          std::string_view name);

}  // namespace holdfast::cli
