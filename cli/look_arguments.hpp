// The command lines of ls, show, wait, break, gc and doctor.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::cli {

enum class look : unsigned char { ls, show, wait, break_lock, gc, doctor };

struct look_arguments {
  std::string name;  // of ls the prefix, which may be empty
  std::optional<std::string> url, holder;
  std::optional<std::chrono::nanoseconds> wait;
  std::optional<std::uint32_t> conflict_exit_code;
  bool json = false;
  bool quiet = false;
  bool help = false;  // nothing else is set then
};

// argv[0] is the command's word. Overwrites a password of --url in argv. Throws usage_error.
look_arguments parse_look_arguments(look, int argc, char** argv);

}  // namespace holdfast::cli
