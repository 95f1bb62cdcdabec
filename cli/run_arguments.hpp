// The command line of `holdfast run`.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

struct run_arguments {
  std::vector<std::string> names;
  bool shared = false;
  std::optional<std::uint32_t> permits, taken;  // of a semaphore: how many there are, and to take
  char** command = nullptr;                     // ends with a null pointer
  bool nonblock = false;
  std::optional<std::chrono::nanoseconds> wait;
  std::optional<std::uint32_t> conflict_exit_code;
  std::optional<std::chrono::nanoseconds> ttl, grace;
  std::optional<std::string> note, url;
  bool no_renew = false;
  bool close = false;
  bool quiet = false;
  bool verbose = false;
  bool exclusive = false;  // said; without -s and -p it is the default
  bool help = false;       // nothing else is set then
};

// The names as a message shows them: "a, b".
std::string shown_names(const run_arguments&);

// argv[0] is the word "run". Overwrites a password of --url in argv, also when it throws
// usage_error, which never quotes what may hold one.
run_arguments parse_run_arguments(int argc, char** argv);

}  // namespace holdfast::cli
