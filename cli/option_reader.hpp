// The words of a command line, one after the other, and what they mean.
#pragma once
#include <getopt.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/message.hpp"

namespace holdfast::cli {

// One at a time: getopt keeps its place in global variables.
class option_reader {
 public:
  static constexpr int end = -1, plain = 1;

  // argv[0] is the command's own word. `letters` and `names` are getopt_long()'s; `names` ends with
  // an entry of zeros.
  option_reader(int argc, char** argv, const char* letters, const option* names);

  // The letter or number of the option that is next, `plain` for a word that is none, or `end`.
  // Throws usage_error without quoting what may be a value: a mistyped --url may hold a password.
  int next();
  char* value() const noexcept { return optarg; }  // of the option; or the plain word
  // What is left: after `end` the words behind "--", before it those that were not looked at.
  char** rest() const noexcept { return argv_ + optind; }
  bool saw_separator() const noexcept;  // after `end`

 private:
  int argc_;
  char** argv_;
  std::string letters_;
  const option* names_;
};

// `what` is the option's name, for the message of the usage_error.
std::chrono::nanoseconds duration_of(const char* what, std::string_view text);
std::uint32_t number_of(const char* what, std::string_view text, std::uint32_t least,
                        std::uint32_t most);

template <class T>
void set_once(std::optional<T>& to, T value, const char* what) {
  if (to && *to != value)
    throw usage_error(std::string(what) + " is given twice with different values; keep one");
  to = std::move(value);
}

}  // namespace holdfast::cli
