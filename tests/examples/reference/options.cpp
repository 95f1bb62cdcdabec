#include <holdfast/holdfast.hpp>

#include <chrono>

using namespace std::chrono_literals;

holdfast::lease hold_for_a_minute_at_most(const holdfast::client& client) {
  const auto lock = client.mutex("import", {.ttl = 10s, .note = "the import"});
  return lock.acquire({.max_hold = 1min});  // ttl and note are those of the lock
}
