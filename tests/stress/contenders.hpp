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

#include "history/history.hpp"
#include "participant.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace stress {

struct shared_state {  // in memory that all of them share
  guarded_resource resource;
  std::atomic<bool> over{false};
};

struct harassment {
  int processes;
  int kills;  // at least
  std::chrono::milliseconds apart, longest_pause;
};

class contenders {
 public:
  // So many threads in each process, through one client. Histories are written to a folder of its
  // own.
  contenders(std::uint64_t seed, std::string url, int threads, casting);
  ~contenders();
  contenders(const contenders&) = delete;
  contenders& operator=(const contenders&) = delete;

  using judge = std::function<bool(const std::vector<holdfast::history::record>&)>;

  // Starts the processes, and kills and stops one after another until the history shows `enough`,
  // however slow the machine is; gives up after ten times the kills asked for. Then ends the rest:
  // true when all of those have ended by themselves.
  bool harass(const harassment&, const judge& enough);
  std::vector<holdfast::history::record> history() const;

 private:
  void add();
  void kill_one();
  void pause_one(std::chrono::milliseconds longest);
  bool finish();
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
