#include "tests/sim/redis/compared/two_servers.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <utility>

namespace holdfast::sim {
namespace {

std::chrono::microseconds clock_of_this_machine() {
  return std::chrono::floor<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

long long whole(std::string_view digits) {
  long long n = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return n;
}

long long number_after_kind(std::string_view text) { return whole(text.substr(1)); }

std::vector<std::string_view> answers(std::string_view resp) {
  std::vector<std::string_view> all;
  while (const std::size_t size = answer_length(resp)) {
    all.push_back(resp.substr(0, size));
    resp.remove_prefix(size);
  }
  if (!resp.empty()) all.push_back(resp);
  return all;
}

std::vector<std::string> sorted_lines(std::string_view resp) {
  std::vector<std::string> lines;
  for (std::size_t at = 0, end = 0; at < resp.size(); at = end + 1) {
    end = std::min(resp.find('\n', at), resp.size());
    lines.emplace_back(resp.substr(at, end - at));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Of leases of 100 seconds and more, of what is left of a window of ten seconds, and of the default
// window, which a claim gets whose own was removed with a note of the same id; in ms.
bool nearly(long long n, long long m) {
  constexpr long long default_window = 250;
  const long long least = std::min(n, m), apart = std::llabs(n - m);
  return (least > 50'000 && apart < 10'000) || (least > 7'000 && apart < 2'000) ||
         (std::max(n, m) <= default_window && least > default_window - 50);
}

// The digits at the front.
std::string_view number_at(std::string_view text) {
  return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
}

}  // namespace

bool same_but_for_times(std::string_view a, std::string_view b) {
  constexpr std::size_t microseconds = 16, most_milliseconds = 6;  // digits
  while (!a.empty() && !b.empty()) {
    const auto n = number_at(a), m = number_at(b);
    if (n.empty() != m.empty() || (n.empty() && a.front() != b.front())) return false;
    const bool times = n.size() == microseconds && m.size() == microseconds;
    const bool rest = n.size() <= most_milliseconds && m.size() <= most_milliseconds;
    if (n != m && !times && !(rest && nearly(whole(n), whole(m)))) return false;
    a.remove_prefix(std::max<std::size_t>(n.size(), 1));
    b.remove_prefix(std::max<std::size_t>(m.size(), 1));
  }
  return a.empty() && b.empty();
}

namespace {

bool same_answer(const command_words& command, std::string_view a, std::string_view b,
                 likeness how) {
  if (a == b) return true;
  if (command.front() == "SCAN") return sorted_lines(a) == sorted_lines(b);
  if (how == likeness::but_for_times) return same_but_for_times(a, b);
  if (command.front() != "PTTL" && command.front() != "TTL") return false;
  return nearly(number_after_kind(a), number_after_kind(b));
}

std::string on_one_line(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    if (c == '\r' || c == '\n') {
      shown += c == '\r' ? "\\r" : "\\n";
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string as_text(const command_words& command) {
  std::string text;
  for (const auto& word : command) text += "[" + on_one_line(word) + "] ";
  return text;
}

// Of two connections' answers to the commands and to a PING. With no commands, what was pushed.
std::string first_difference(const std::vector<command_words>& commands, std::string_view real,
                             std::string_view model, likeness how) {
  const auto theirs = answers(real), ours = answers(model);
  for (std::size_t i = 0; i < std::max(theirs.size(), ours.size()); ++i) {
    const command_words command = i < commands.size() ? commands[i] : command_words{"(pushed)"};
    const auto a = i < theirs.size() ? theirs[i] : "", b = i < ours.size() ? ours[i] : "";
    if (!same_answer(command, a, b, how))
      return as_text(command) + "\n  real:  " + on_one_line(a) + "\n  model: " + on_one_line(b) +
             "\n";
  }
  return {};
}

}  // namespace

std::string encoded(const command_words& command) {
  std::string bytes = "*" + std::to_string(command.size()) + "\r\n";
  for (const auto& word : command)
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return bytes;
}

std::size_t answer_length(std::string_view resp) {
  const std::size_t end = resp.find("\r\n");
  if (end == resp.npos) return 0;
  std::size_t length = end + 2;
  if (resp.front() == '$') {
    const long long size = number_after_kind(resp.substr(0, end));
    if (size >= 0) length += static_cast<std::size_t>(size) + 2;
  } else if (resp.front() == '*') {
    for (long long left = number_after_kind(resp.substr(0, end)); left > 0; --left) {
      const std::size_t one = length < resp.size() ? answer_length(resp.substr(length)) : 0;
      if (one == 0) return 0;
      length += one;
    }
  }
  return length <= resp.size() ? length : 0;
}

two_servers::two_servers() : model_(clock_of_this_machine) {}

void two_servers::make_replicas(bool replicas) {
  real_.command(replicas ? command_words{"REPLICAOF", "127.0.0.1", "1"}
                         : command_words{"REPLICAOF", "NO", "ONE"});
  model_.set_readonly(replicas);
}

two_servers::client::client(two_servers& servers)
    : servers_(servers),
      socket_(servers.real_.socket_path()),
      handle_(servers.model_.connect(*this)) {}

two_servers::client::~client() { servers_.model_.disconnect(handle_); }

std::string two_servers::client::differs(const std::vector<command_words>& commands, likeness how) {
  const std::string last = "step " + std::to_string(++servers_.steps_);
  return compared(commands, {"PING", last}, last + "\r\n", how);
}

std::string two_servers::client::begins(const std::vector<command_words>& commands) {
  return compared(commands, {"MULTI"}, "can not be nested\r\n", likeness::same);
}

// Of the commands and a last one, whose answer ends as no other one's.
std::string two_servers::client::compared(const std::vector<command_words>& commands,
                                          const command_words& last, std::string_view end,
                                          likeness how) {
  std::string bytes;
  for (const auto& command : commands) bytes += encoded(command);
  bytes += encoded(last);
  socket_.write(bytes);
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t size = 1 + servers_.numbers_() % 400;
    servers_.model_.receive(handle_, rest.substr(0, size));
    rest.remove_prefix(std::min(size, rest.size()));
  }
  const std::string real = socket_.read_until(end);
  const std::string model = std::exchange(got_, {});
  if (real == model) return {};
  return first_difference(commands, real, model, how);
}

std::string two_servers::client::last_words(std::string_view bytes) {
  socket_.write(bytes);
  servers_.model_.receive(handle_, bytes);
  const std::string real = socket_.read_until("nothing ends with this");
  const std::string model = std::exchange(got_, {});
  if (real == model && kicked_) return {};
  return "\n  real:  " + on_one_line(real) + "\n  model: " + on_one_line(model) + "\n";
}

}  // namespace holdfast::sim
