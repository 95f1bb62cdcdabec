// The processes of a drill, and their faults.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/drill_figures.hpp"

namespace holdfast::cli {

inline constexpr const char* drill_worker_word = ":drill-worker";
inline constexpr const char* drill_prefix = "holdfast-drill/";
inline constexpr const char* own_failover = "auto";  // instead of a command

struct drill_terms {
  std::string url;  // with the ttl of the drill; secrets included
  bool has_connections = true;
  std::chrono::milliseconds length{};
  std::uint32_t workers = 4;
  std::uint64_t seed = 0;
  std::string failover;  // a command of the shell, or own_failover; "": none
};

struct drill_result {
  drill_figures figures;
  std::map<std::string, std::uint64_t> faults;
  std::vector<std::string> complaints;  // what workers reported, and what did not recover
  // Why no connection went through a proxy; empty: they did, or the store has no network.
  std::string obstacle;
};

// Throws lock_error: the store cannot be reached, or has locks of another drill.
drill_result run_drill(const drill_terms&, const std::stop_token&);

// argv[0] is the worker's word.
int run_drill_worker(int argc, char** argv);

}  // namespace holdfast::cli
