// The loads under which every lock is measured.
#pragma once
#include <chrono>
#include <span>
#include <string_view>

namespace survey {

struct load {
  std::string_view name;
  std::string_view what;  // for the report
  unsigned workers;
  bool own_locks = false;               // each worker has a lock of its own; else all want one
  std::chrono::milliseconds hold{0};    // how long a worker keeps the lock
  std::chrono::milliseconds period{0};  // between the planned attempts of one worker; 0: none is
                                        // planned, a worker tries again at once
  bool is_random = false;               // the period is the mean of random, exponential ones
  std::chrono::milliseconds wait{1000};
  unsigned attempts = 0;  // ends the measurement; 0: its time does
  bool in_quick = false;
  bool keeps = false;  // one worker acquires the locks of half of them, to hold them together
};

std::span<const load> loads() noexcept;
const load* find_load(std::string_view name) noexcept;

// A client is one process of a real system: its workers share connections, and hand a lock over
// among themselves.
constexpr unsigned most_clients = 8;

}  // namespace survey
