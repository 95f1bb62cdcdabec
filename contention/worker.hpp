// A worker: a process that plays until its standard input ends, or until it is killed.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "contention/locks.hpp"
#include "contention/plant.hpp"

namespace holdfast::contention {

struct worker_terms {
  std::string url, name;
  name_scheme locks;
  std::chrono::milliseconds ttl{};
  std::string history, resource;  // paths
  std::uint64_t seed = 0;
  plant planted = plant::nothing;
  // The seed determines the worker's linger= and turns=, and a ttl= of 1 s up to `ttl`.
  bool draws_options = false;
};

inline constexpr int worker_threads = 3;
// The lines of its standard input. Its end ends the worker.
inline constexpr char calm_letter = 'c';  // the faults have ended
inline constexpr char cut_letter = 'x';   // shut down all connections
// The lines of its report on standard output.
inline constexpr const char* complaint_mark = "complaint: ";  // a violation that it found itself
inline constexpr const char* recovered_mark = "recovered";    // a grant after the line "calm"
inline constexpr const char* done_mark = "done";

// The exit code of the process.
int run_worker(const worker_terms&);

}  // namespace holdfast::contention
