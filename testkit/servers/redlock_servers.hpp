// Independent masters for Redlock, of a test's own.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "testkit/servers/redis_server.hpp"

namespace holdfast::testkit {

class redlock_servers {
 public:
  enum class history {
    long_running,  // their records were begun earlier, and nothing was lost since: all may vote
    fresh,         // just started, and empty
  };

  // Each keeps an append-only file, so that a restart with its data loses nothing.
  explicit redlock_servers(std::size_t count = 3, history = history::long_running,
                           const redis_options& = {.durable = true});

  std::string url() const;  // "redlock://127.0.0.1:PORT,..."
  std::size_t size() const noexcept { return all_.size(); }
  redis_server& operator[](std::size_t i) { return *all_[i]; }
  // As if it had run for long: what the record of a server in use says.
  static void give_record(redis_server&, long number = 1000, long max_ttl_ms = 60'000);

 private:
  std::vector<std::unique_ptr<redis_server>> all_;
};

}  // namespace holdfast::testkit
