// Measures all locks on all deployments, and keeps what is known so far in a file.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "survey/cell.hpp"
#include "survey/deployment.hpp"
#include "survey/machine.hpp"

namespace survey {

struct plan {
  bool is_quick = false;
  unsigned rounds = 3;
  std::chrono::duration<double> length{0.45};  // of one run
  unsigned repeats = 2;                        // of a run that other programs disturb
  std::vector<std::string> only{};  // "TOPOLOGY/LOCK/LOAD", * or nothing for any; none: all
  std::string url{};                // of the user's own servers; empty: they are started
  bool with_peers = false;          // also the locks of other libraries

  static plan quick();
  bool wants(std::string_view topology, std::string_view lock, std::string_view load) const;
};

struct results {
  bool is_quick = false, is_complete = false, with_peers = false;
  std::string url{};  // without its password
  std::vector<std::string> only{};
  machine where{};
  std::vector<std::pair<std::string, std::string>> versions{};
  std::vector<cell> cells{};

  bool continues(const plan&) const;  // an unfinished run of the same plan
  cell& cell_of(std::string_view topology, std::string_view lock, std::string_view load);
};

// A run is disturbed when other programs use this part of the machine.
constexpr double disturbed_from = 0.15;

// Runs what the results lack, saves them to the file after each run, and shows its progress on the
// standard error.
void run_survey(const plan&, results&, const std::string& file);

}  // namespace survey
