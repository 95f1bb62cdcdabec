// Faults, and the account of them.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "contention/dice.hpp"
#include "history/history.hpp"

namespace holdfast::contention {

struct fault {
  std::string name;                   // "server.kill"
  std::function<void(dice&)> strike;  // blocks until the fault has ended
  // For so long after it two may hold a lock, because the backend promises no more. 0: never.
  std::chrono::milliseconds excuse{};
};

struct span_of_time {
  std::int64_t from = 0, to = 0;  // as in history/history.hpp
};

// Counts faults, and writes them into the history as remarks. Any thread may call.
class fault_log {
 public:
  explicit fault_log(const std::string& history_path) : history_(history_path) {}

  // Plays the fault.
  void strike(const fault&, dice&);
  void add(const history::record&);  // a kill
  std::map<std::string, std::uint64_t> counts() const;
  std::vector<span_of_time> excuses() const;

 private:
  mutable std::mutex mutex_;
  history::history_writer history_;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<span_of_time> excuses_;
};

// Plays one fault after another, with pauses between them.
void strike_until(std::chrono::steady_clock::time_point end, const std::vector<fault>&, fault_log&,
                  dice&);

}  // namespace holdfast::contention
