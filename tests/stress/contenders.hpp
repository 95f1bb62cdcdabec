// Processes that play until they are told to end, and are killed and stopped at random meanwhile.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "history/history.hpp"
#include "participant.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace stress {

struct shared_state {  // in memory that all of them share
  guarded_resource resource;
  std::atomic<bool> over{false};
};

class contenders {
 public:
  // So many threads in each process, through one client. Histories are written to a folder of its
  // own.
  contenders(std::uint64_t seed, std::string url, int threads, casting);
  ~contenders();
  contenders(const contenders&) = delete;
  contenders& operator=(const contenders&) = delete;

  void add();
  void kill_one();
  void pause_one(std::chrono::milliseconds longest);
  bool finish();  // true when all have ended by themselves
  std::vector<holdfast::history::record> history() const;

 private:
  std::vector<pid_t>::iterator any();
  [[noreturn]] void run(std::uint64_t seed);

  std::mt19937_64 numbers_;
  const std::string url_;
  const int threads_;
  const casting cast_;
  holdfast::testkit::scratch_folder folder_;
  holdfast::history::history_writer report_;
  shared_state* shared_;
  std::vector<pid_t> all_;
};

}  // namespace stress
