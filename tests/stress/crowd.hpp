// Processes that play until they are told to end, and are killed and stopped at random meanwhile.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "player.hpp"
#include "testkit/history.hpp"

namespace stress {

struct shared_state {  // in memory that all of them share
  guarded_resource resource;
  std::atomic<bool> over{false};
};

class crowd {
 public:
  // What a process does until `over`; `me` is its name in the history.
  using role = std::function<void(const std::string& me, holdfast::testkit::history_writer&,
                                  shared_state&, std::uint64_t seed)>;

  // Histories are written to a folder of its own.
  crowd(std::uint64_t seed, role);
  ~crowd();
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  void add();
  void kill_one();
  void pause_one(std::chrono::milliseconds longest);
  bool finish();  // true when all have ended by themselves
  std::vector<holdfast::testkit::record> history() const;

 private:
  std::vector<pid_t>::iterator any();
  [[noreturn]] void run(std::uint64_t seed);

  std::mt19937_64 numbers_;
  const role role_;
  scratch_folder folder_;
  holdfast::testkit::history_writer report_;
  shared_state* shared_;
  std::vector<pid_t> all_;
};

}  // namespace stress
