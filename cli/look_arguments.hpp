// The command lines of list, holders, wait, break, prune, diagnose and schema.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::cli {

enum class look : unsigned char { list, holders, wait, break_lock, prune, diagnose, schema };

struct look_arguments {
  std::string name;  // of list the prefix, which may be empty
  std::optional<std::string> url, owner;
  std::optional<std::chrono::nanoseconds> wait;
  std::optional<std::uint32_t> conflict_exit_code;
  bool json = false;
  bool quiet = false;
  bool help = false;  // nothing else is set then
};

// argv[0] is the command's word. Overwrites a password of --url in argv. Throws usage_error.
look_arguments parse_look_arguments(look, int argc, char** argv);

}  // namespace holdfast::cli
