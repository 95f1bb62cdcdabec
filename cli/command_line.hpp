// The options and the plain words of a command line, read by CLI11. Its headers stay in one
// translation unit: they take seconds to compile.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

// The words of a command line, cut at the first "--".
struct separated_words {
  std::vector<std::string> before;
  char** after = nullptr;  // behind the separator, with a null pointer at the end; null without one
};

// argv[0] is the command's own word. Overwrites in argv each byte that may belong to the password
// of a URL: everybody can read a command line with ps.
separated_words take_words(int argc, char** argv);

// An option as it was declared, under "-w,--wait", "--ttl" or "-c".
struct declared_option {
  std::string_view names;
  bool takes_value;
  // For each time that it is given; `option` is the name that stands there, for messages.
  std::function<void(std::string_view option, const std::string& value)> set;
};

class command_line {
 public:
  // Declare an option by a letter, a long name, or both. It may be repeated with the same value.
  void flag(std::string_view names, bool& to);
  void text(std::string_view names, std::optional<std::string>& to);
  void duration(std::string_view names, std::optional<std::chrono::nanoseconds>& to);
  // `hint`: ends the error about a value that is not a number.
  void number(std::string_view names, std::optional<std::uint32_t>& to, std::uint32_t lowest,
              std::uint32_t highest, std::string_view hint = {});

  // Long names may be cut short as long as only one fits. Throws usage_error, which never quotes
  // what may be a value of --url.
  void parse(const std::vector<std::string>& words);

  // -h or --help was given; then no option is set.
  bool asks_for_help() const noexcept { return asks_for_help_; }

  // The words that are neither options nor values, in their order; also after parse() has thrown.
  const std::vector<std::string>& plain_words() const noexcept { return plain_words_; }

 private:
  std::vector<declared_option> options_;
  std::vector<std::string> plain_words_;
  bool asks_for_help_ = false;
};

}  // namespace holdfast::cli
