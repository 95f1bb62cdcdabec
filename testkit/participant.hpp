// A participant of a run whose calls on locks are recorded.
#pragma once
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>

#include "history/history.hpp"

namespace holdfast::testkit {

using history::history_writer;
using history::operation;
using history::record;
using history::result;

// One that makes one call after another. The same seed makes the same choices.
class participant {
 public:
  // `process` as in history/history.hpp. The writer outlives it.
  participant(std::string process, history_writer&, std::uint64_t seed);
  participant(const participant&) = delete;
  participant& operator=(const participant&) = delete;
  virtual ~participant() = default;

  virtual void play() = 0;  // takes what it wants, once

 protected:
  record begin(const std::string& lock, operation) const;
  record begin(const std::string& lock, operation, const lease&) const;
  void end(record, result);
  // The end of an acquire; whether there is a lease.
  bool granted(record begun, const lease&, std::error_code);
  void work(std::chrono::microseconds longest);       // sleeps
  bool check(const std::string& lock, const lease&);  // held()
  void leave(const std::string& lock, lease);         // release() or unlock()

  const std::string& process() const noexcept { return process_; }
  std::uint64_t up_to(std::uint64_t most) { return numbers_() % (most + 1); }

 private:
  const std::string process_;
  history_writer& history_;
  std::mt19937_64 numbers_;
};

std::int64_t deadline_of(const lease&);  // for a record

}  // namespace holdfast::testkit
