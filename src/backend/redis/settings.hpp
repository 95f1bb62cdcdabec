// What a redis: URL says.
#pragma once
#include <optional>
#include <string>

#include "backend/redis/recipes/queueing.hpp"
#include "base/network.hpp"
#include "seam/registry.hpp"

namespace holdfast::redis {

struct settings {
  core::address where;
  std::optional<core::tls_terms> tls;
  std::string user;
  std::string password;
  int database = 0;
  std::string prefix;     // of every key of a lock
  duration retry_base{};  // the first pause before a new connection, after which it doubles
  duration connect_timeout{};
  terms rules;
  std::string text;  // the URL without secrets
  std::string host;  // of this machine, for those who look at the lock
  std::int64_t process = 0;
};

// Throws lock_error (bad_url, bad_option).
settings read_settings(const core::opening&);

}  // namespace holdfast::redis
