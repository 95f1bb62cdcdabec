// A worker: a process that plays until its standard input ends, or until it is killed.
#pragma once
#include <cstdint>
#include <string>

#include "torture/plant.hpp"

namespace holdfast::torture {

struct worker_terms {
  std::string url, name;
  std::string history, resource;  // paths
  std::uint64_t seed = 0;
  plant planted = plant::nothing;
};

inline constexpr int worker_threads = 3;
// The lines of its report on standard output.
inline constexpr const char* complaint_mark = "complaint: ";  // a violation that it found itself
inline constexpr const char* recovered_mark = "recovered";    // a grant after the line "calm"
inline constexpr const char* done_mark = "done";

// The exit code of the process.
int run_worker(const worker_terms&);

}  // namespace holdfast::torture
