#include "history/history.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>
#include <tuple>

namespace holdfast::history {
namespace {

constexpr std::array<std::string_view, 8> operation_words = {"acquire",   "renew", "release",
                                                             "check",     "write", "kill",
                                                             "downgrade", "notice"};
constexpr std::array<std::string_view, 5> result_words = {"ok", "refused", "busy", "unknown",
                                                          "lost"};
constexpr std::string_view plain_marks = "-._~/:@";

bool stands_for_itself(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         plain_marks.find(static_cast<char>(c)) != std::string_view::npos;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Walks through the fields of one line.
class fields {
 public:
  fields(std::string_view text, std::size_t line) : rest_(text), line_(line) {}

  [[noreturn]] void wrong(const std::string& why) const { throw malformed_history(line_, why); }

  std::string_view next(const char* what) {
    if (done_) wrong("the field " + std::string(what) + " is missing");
    const auto space = rest_.find(' ');
    const auto field = rest_.substr(0, space);
    done_ = space == std::string_view::npos;
    rest_ = done_ ? std::string_view{} : rest_.substr(space + 1);
    if (field.empty()) wrong("the field " + std::string(what) + " is empty");
    return field;
  }

  std::string text(const char* what) {
    const auto field = next(what);
    std::string decoded;
    for (std::size_t i = 0; i < field.size(); ++i) {
      if (stands_for_itself(static_cast<unsigned char>(field[i]))) {
        decoded += field[i];
        continue;
      }
      const int high = i + 2 < field.size() ? hex_value(field[i + 1]) : -1;
      const int low = high < 0 ? -1 : hex_value(field[i + 2]);
      if (field[i] != '%' || low < 0) wrong("the field " + std::string(what) + " is not encoded");
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
    return decoded;
  }

  std::int64_t number(const char* what) {
    const auto field = next(what);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size() || value < 0)
      wrong("the field " + std::string(what) + " is not a number from 0 to 2^63-1");
    return value;
  }

  template <class Enum, std::size_t N>
  Enum word(const char* what, const std::array<std::string_view, N>& words) {
    const auto field = next(what);
    for (std::size_t i = 0; i < N; ++i)
      if (words[i] == field) return static_cast<Enum>(i);
    wrong("the field " + std::string(what) + " says '" + encode(field) + "'");
  }

  std::int64_t deadline() {
    if (rest_.substr(0, rest_.find(' ')) != "-") return number("deadline");
    next("deadline");
    return no_deadline;
  }

  void how(record& r) {
    if (done_) return;
    if (rest_ == "shared" || rest_ == "planted") {
      (next("how") == "shared" ? r.shared : r.planted) = true;
      return;
    }
    const auto slash = std::min(rest_.find('/'), rest_.size());
    r.permits = permits(rest_.substr(0, slash));
    r.of = permits(rest_.substr(std::min(slash + 1, rest_.size())));
    if (r.permits > r.of) wrong("there are more permits than there are");
    done_ = true;
  }

  void end() const {
    if (!done_) wrong("there are more than nine fields");
  }

 private:
  std::uint32_t permits(std::string_view text) const {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value == 0)
      wrong("the field how is not shared, planted or permits such as 2/5");
    return value;
  }

  std::string_view rest_;
  std::size_t line_;
  bool done_ = false;
};

}  // namespace

bool record::operator==(const record& other) const noexcept {
  const auto all = [](const record& r) {
    return std::tie(r.process, r.lock, r.what, r.call, r.back, r.outcome, r.token, r.deadline,
                    r.shared, r.permits, r.of, r.planted);
  };
  return all(*this) == all(other);
}

std::int64_t history_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

std::string encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (stands_for_itself(byte))
      encoded += c;
    else
      encoded.append({'%', digits[byte >> 4], digits[byte & 15]});
  }
  return encoded;
}

std::string to_line(const record& r) {
  std::string line = encode(r.process) + ' ' + encode(r.lock) + ' ';
  line += operation_words.at(static_cast<std::size_t>(r.what));
  line += ' ' + std::to_string(r.call) + ' ' + std::to_string(r.back) + ' ';
  line += result_words.at(static_cast<std::size_t>(r.outcome));
  line += ' ' + std::to_string(r.token) + ' ';
  line += r.deadline == no_deadline ? "-" : std::to_string(r.deadline);
  if (r.shared) line += " shared";
  if (r.of != 0) line += ' ' + std::to_string(r.permits) + '/' + std::to_string(r.of);
  if (r.planted) line += " planted";
  return line;
}

malformed_history::malformed_history(std::size_t line, const std::string& why)
    : std::runtime_error("line " + std::to_string(line) + " of the history: " + why), line_(line) {}

record parse_line(std::string_view text, std::size_t line) {
  fields field(text, line);
  record r;
  r.process = field.text("process");
  r.lock = field.text("lock");
  r.what = field.word<operation>("operation", operation_words);
  r.call = field.number("call");
  r.back = field.number("return");
  r.outcome = field.word<result>("result", result_words);
  r.token = field.number("token");
  r.deadline = field.deadline();
  field.how(r);
  field.end();
  if (r.back < r.call) field.wrong("it returned before it was called");
  r.line = line;
  return r;
}

history_file parse_history(std::string_view text) {
  history_file all;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto end = text.find('\n');
    all.torn = end == std::string_view::npos;
    if (all.torn) break;
    const auto one = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (!one.starts_with('#')) all.records.push_back(parse_line(one, line));
  }
  return all;
}

history_file read_history(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad())
    throw std::system_error(errno, std::generic_category(), "cannot read the history " + path);
  return parse_history(text.view());
}

history_writer::history_writer(const std::string& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_ < 0)
    throw std::system_error(errno, std::generic_category(), "cannot write the history " + path);
}

history_writer::~history_writer() { ::close(file_); }

void history_writer::add(const record& r) { write_line(to_line(r) + '\n'); }

void history_writer::remark(const std::string& text) { write_line("# " + text + '\n'); }

void history_writer::write_line(const std::string& line) {
  const auto written = ::write(file_, line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size()))
    throw std::system_error(written < 0 ? errno : ENOSPC, std::generic_category(),
                            "a record of the history was not written");
}

}  // namespace holdfast::history
