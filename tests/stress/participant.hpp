// Participants of a stress run: their work under a lock, and the record of their calls.
#pragma once
#include <holdfast/holdfast.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "history/history.hpp"

namespace stress {

inline constexpr std::size_t lock_count = 3;
std::string lock_name(std::size_t);

// The resource that the locks guard: it accepts no token below the largest it has seen. Lies in
// memory that the participants share.
class guarded_resource {
 public:
  bool write(std::size_t lock, std::int64_t token) noexcept;

 private:
  std::array<std::atomic<std::int64_t>, lock_count> last_{};
};

struct habits {
  std::chrono::microseconds longest_work{2000};
  std::chrono::milliseconds longest_wait{50};  // of those waits that have a bound
};

class participant {
 public:
  // `process` as in history/history.hpp. The references outlive it.
  participant(std::string process, holdfast::history::history_writer&, guarded_resource&, habits,
              std::uint64_t seed);
  participant(const participant&) = delete;
  participant& operator=(const participant&) = delete;
  virtual ~participant() = default;

  virtual void play() = 0;  // takes what it wants, once

 protected:
  using record = holdfast::history::record;
  using operation = holdfast::history::operation;

  record begin(const std::string& lock, operation) const;
  record begin(const std::string& lock, operation, const holdfast::lease&) const;
  void end(record, holdfast::history::result);
  // The end of an acquire; whether there is a lease.
  bool granted(record begun, const holdfast::lease&, std::error_code);
  void work();
  void check(const std::string& lock, const holdfast::lease&);
  void write_under(std::size_t lock, const holdfast::lease&);
  void leave(const std::string& lock, holdfast::lease);

  std::chrono::milliseconds wait_limit();
  std::uint64_t up_to(std::uint64_t most) { return numbers_() % (most + 1); }

 private:
  const std::string process_;
  holdfast::history::history_writer& history_;
  guarded_resource& resource_;
  const habits habits_;
  std::mt19937_64 numbers_;
};

std::int64_t deadline_of(const holdfast::lease&);  // for a record

// Makes a participant for a client.
using casting =
    std::function<std::unique_ptr<participant>(const holdfast::client&, std::string process,
                                               holdfast::history::history_writer&,
                                               guarded_resource&, std::uint64_t seed)>;

template <class Participant>
casting cast_of(habits h = {}) {
  return [h](const holdfast::client& c, std::string process, auto& history, auto& resource,
             std::uint64_t seed) {
    return std::make_unique<Participant>(c, std::move(process), history, resource, h, seed);
  };
}

}  // namespace stress
