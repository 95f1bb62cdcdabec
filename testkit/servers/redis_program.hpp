// The redis-server that tests start: the one in PATH, or the file that the environment variable
// HOLDFAST_TEST_REDIS_SERVER names, which may be another version, or Valkey's server.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "testkit/servers/program.hpp"
#include "testkit/servers/redis_link.hpp"

namespace holdfast::testkit {

struct redis_program {
  std::string file;  // a path, or a name to be found in PATH
  bool is_valkey = false;
  int major = 0, minor = 0;
  bool has_tls = false;

  // Every version of Valkey counts as later than Redis 7.2, from which it was derived.
  bool is_at_least(int wanted_major, int wanted_minor) const noexcept;
};

// Inspects the program when it is called for the first time. Throws std::runtime_error when the
// program reports no version.
const redis_program& tested_redis();

// Connects until the started program answers, for half a minute. Returns nothing if it has ended
// instead: its port was taken, or a line of its configuration is wrong.
std::optional<redis_link> link_once_up(program&, const std::function<redis_link()>& connect);

}  // namespace holdfast::testkit
