// What the program itself says: on standard error, one line at a time, "holdfast: " in front.
#pragma once
#include <exception>
#include <string>
#include <string_view>

namespace holdfast::cli {

// Notes, host names and arguments are written by others: control characters, direction marks and
// bytes that are no UTF-8 become '?', so that nothing of them can steer a terminal.
std::string printable(std::string_view text);

// Safe from any thread; never fails.
void say(std::string_view text) noexcept;

// To standard error, as it is.
void print_error(std::string_view text) noexcept;

// To standard output. The exit code: 0, or that of a pipe or disk that takes no more.
int print(std::string_view text);

// Sends the library's warnings through say().
void take_over_log() noexcept;

// The caller asked for something that cannot be: exit 64.
class usage_error : public std::exception {
 public:
  explicit usage_error(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace holdfast::cli
