// One participant of a stress run: takes locks, works under them, and writes down what it was told.
#pragma once
#include <holdfast/holdfast.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "testkit/history.hpp"

namespace stress {

inline constexpr std::size_t lock_count = 3;
std::string lock_name(std::size_t);

// What the locks guard: takes no token below the largest it has seen. Lies in memory that the
// participants share.
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

class player {
 public:
  // `process` as in testkit/history.hpp. The references outlive it.
  player(const holdfast::client&, std::string process, holdfast::testkit::history_writer&,
         guarded_resource&, habits, std::uint64_t seed);

  void play();  // one lock, once

 private:
  holdfast::lease take(std::size_t lock);
  void work(std::size_t lock, const holdfast::lease&);
  void check(std::size_t lock, const holdfast::lease&);
  void write(std::size_t lock, const holdfast::lease&);
  void leave(std::size_t lock, holdfast::lease);
  holdfast::testkit::record begin(std::size_t lock, holdfast::testkit::operation) const;
  void end(holdfast::testkit::record, holdfast::testkit::result);
  std::uint64_t up_to(std::uint64_t most) { return numbers_() % (most + 1); }

  const std::string process_;
  holdfast::testkit::history_writer& history_;
  guarded_resource& resource_;
  const habits habits_;
  std::mt19937_64 numbers_;
  std::vector<holdfast::mutex> locks_;
};

// Of HOLDFAST_STRESS_SEED, else another one each time.
std::uint64_t seed_of_run();
// A folder, gone with the object.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace stress
