#include "cli/redis_session.hpp"

#include <sys/socket.h>

#include <array>
#include <charconv>
#include <stdexcept>
#include <system_error>

#include "cli/server_address.hpp"

namespace holdfast::cli {
namespace {

constexpr long long longest_string = 16 << 20, most_items = 65'536;
constexpr std::size_t longest_line = 65'536;
constexpr int deepest_list = 8;
constexpr std::size_t piece_size = 4096;

std::string encoded_command(const std::vector<std::string>& words) {
  std::string out = '*' + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words)
    out += '$' + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return out;
}

}  // namespace

redis_session::redis_session(const url::endpoint& at, const redis_credentials& who)
    : address_(address_text(at)), socket_(connect_to(at)) {
  if (!socket_) fail("no connection");
  if (!who.password.empty()) log_in(who);
}

// The text of a refusal is left out: it may quote the words of the command.
void redis_session::log_in(const redis_credentials& who) {
  std::vector<std::string> words{"AUTH"};
  if (!who.user.empty()) words.push_back(who.user);
  words.push_back(who.password);
  const redis_value reply = command(words);
  if (reply.is_error)
    fail("the credentials of the URL were rejected (" + reply.text.substr(0, reply.text.find(' ')) +
         ')');
}

redis_value redis_session::command(const std::vector<std::string>& words) {
  send(encoded_command(words));
  return next_value(0);
}

redis_value redis_session::checked_command(const std::vector<std::string>& words) {
  redis_value reply = command(words);
  if (reply.is_error) fail(words.front() + ": " + reply.text);
  return reply;
}

void redis_session::fail(const std::string& why) const {
  throw std::runtime_error(address_ + ": " + why);
}

void redis_session::send(const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const auto n = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) fail("the connection takes no command");
    sent += static_cast<std::size_t>(n);
  }
}

char redis_session::next_byte() {
  if (read_ == received_.size()) {
    std::array<char, piece_size> piece{};
    const auto n = ::recv(socket_.get(), piece.data(), piece.size(), 0);
    if (n <= 0) fail("no reply");
    received_.assign(piece.data(), static_cast<std::size_t>(n));
    read_ = 0;
  }
  return received_[read_++];
}

std::string redis_session::next_line() {
  std::string line;
  while (!line.ends_with("\r\n")) {
    if (line.size() > longest_line) fail("a malformed reply");
    line += next_byte();
  }
  line.resize(line.size() - 2);
  return line;
}

std::string redis_session::next_bytes(std::size_t count) {
  std::string bytes;
  while (bytes.size() < count) bytes += next_byte();
  return bytes;
}

long long redis_session::number_in(const std::string& text) const {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) fail("a malformed reply");
  return number;
}

redis_value redis_session::next_value(int depth) {
  redis_value out;
  const std::string line = next_line();
  if (line.empty() || depth > deepest_list) fail("a malformed reply");
  const std::string rest = line.substr(1);
  if (line[0] == '$') {
    const long long length = number_in(rest);
    if (length > longest_string) fail("a reply that is too long");
    if (length < 0) return out;
    out.text = next_bytes(static_cast<std::size_t>(length));
    next_line();
  } else if (line[0] == '*') {
    const long long count = number_in(rest);
    if (count > most_items) fail("a reply that is too long");
    for (long long i = 0; i < count; ++i) out.items.push_back(next_value(depth + 1));
  } else if (line[0] == '+' || line[0] == '-' || line[0] == ':') {
    out.is_error = line[0] == '-';
    out.text = rest;
  } else {
    fail("a malformed reply");
  }
  return out;
}

}  // namespace holdfast::cli
