// The server that a row of zookeeper/ runs against.
#pragma once
#include <string>

#include "row.hpp"
#include "testkit/servers/zookeeper_server.hpp"
#include "zookeeper/bare_cycles.hpp"

namespace bench {

enum class storage : unsigned char { memory, disk };

// Started by the row, after pinning: it shares the CPUs of the row. In memory nothing is synced.
class zookeeper_fixture {
 public:
  explicit zookeeper_fixture(storage s = storage::memory)  // throws row_skipped: not installed
      : server_([s] {
          if (!holdfast::testkit::zookeeper_server::installed())
            throw row_skipped(holdfast::testkit::zookeeper_server::not_installed);
          return holdfast::testkit::zookeeper_options{.tick = std::chrono::milliseconds{2000},
                                                      .is_measured = s == storage::memory,
                                                      .syncs = s == storage::disk,
                                                      .config = {"maxClientCnxns=0"}};
        }()) {
    (void)bare_cycles_in_flight(port(), 64, warm_up);
  }

  int port() const noexcept { return server_.port(); }
  std::string url(const std::string& query = {}) const { return server_.url() + query; }

 private:
  static constexpr seconds warm_up{3};  // of the server's Java machine
  holdfast::testkit::zookeeper_server server_;
};

}  // namespace bench
