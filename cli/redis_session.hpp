// A connection to a Redis server or a sentinel for the commands of an administrator, one after the
// other.
#pragma once
#include <holdfast/url.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "cli/file_descriptor.hpp"
#include "cli/redis_credentials.hpp"

namespace holdfast::cli {

struct redis_value {
  bool is_error = false;
  std::string text;  // of an error, a status, a number or a string; empty: nil
  std::vector<redis_value> items;
};

// Each member throws std::runtime_error when the server is not reachable, sends no reply within
// five seconds, or sends a malformed one. No error has a password in it.
class redis_session {
 public:
  redis_session(const url::endpoint& at, const redis_credentials&);

  redis_value command(const std::vector<std::string>& words);
  // Throws for a reply that is an error as well.
  redis_value checked_command(const std::vector<std::string>& words);

 private:
  void log_in(const redis_credentials&);
  [[noreturn]] void fail(const std::string& why) const;
  void send(const std::string& bytes);
  char next_byte();
  std::string next_line();
  std::string next_bytes(std::size_t count);
  redis_value next_value(int depth);
  long long number_in(const std::string& text) const;

  std::string address_;
  file_descriptor socket_;
  std::string received_;
  std::size_t read_ = 0;  // of received_
};

}  // namespace holdfast::cli
