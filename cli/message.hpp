// The program's own messages: one line each, on standard error, starting with "holdfast: ".
#pragma once
#include <holdfast/error.hpp>

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

// The sentence of an error of the library: what failed is named by the command's word.
std::string text_of(const lock_error&);

// Sends the library's warnings through say().
void take_over_log() noexcept;

// For --quiet: leaves out that a lock directory was created. Called before the first client opens.
void leave_out_notices() noexcept;

// The caller asked for something that cannot be: exit 64.
class usage_error : public std::exception {
 public:
  explicit usage_error(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace holdfast::cli
