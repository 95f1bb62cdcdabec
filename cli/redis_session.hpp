// A connection to a Redis server or a sentinel for the commands of an administrator, one after the
// other.
#pragma once
#include <holdfast/url.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cli/redis_credentials.hpp"
#include "testkit/servers/redis_link.hpp"

namespace holdfast::cli {

using redis_value = testkit::redis_reply;

// Each member throws std::runtime_error when the server is not reachable or sends no reply within
// five seconds. No error has a password in it.
class redis_session {
 public:
  redis_session(const url::endpoint& at, const redis_credentials&);

  redis_value command(const std::vector<std::string>& words);
  // Throws for a reply that is an error as well.
  redis_value checked_command(const std::vector<std::string>& words);

 private:
  void log_in(const redis_credentials&);
  [[noreturn]] void fail(const std::string& why) const;

  std::string address_;
  std::optional<testkit::redis_link> link_;
};

}  // namespace holdfast::cli
