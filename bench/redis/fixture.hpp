// The server that a row of redis/ runs against.
#pragma once
#include <cstdint>
#include <string>

#include "testkit/servers/redis_server.hpp"

namespace bench {

// The number of commands so far, those that scripts called included.
std::uint64_t commands_of(holdfast::testkit::redis_server&);

void need_redis_server();  // throws std::runtime_error when it is not installed

// Started by the row, after pinning: it shares the CPUs of the row.
class redis_fixture {
 public:
  redis_fixture();  // throws as need_redis_server()

  int port() const noexcept { return server_.port(); }
  std::string url(const std::string& query = {}) const { return server_.url() + query; }
  // The one token of the BLPOP lock of bare_limits.hpp.
  void lay_out_token();
  // The number of requests so far: each command, each command of a transaction and each script
  // counts as one. Wrong if a transaction takes several locks: the server counts its commands like
  // those that scripts call.
  std::uint64_t requests();
  // The same with every command that a script called.
  std::uint64_t commands() { return commands_of(server_); }
  double cpu_seconds();  // of the server, so far

 private:
  holdfast::testkit::redis_server server_;
};

}  // namespace bench
