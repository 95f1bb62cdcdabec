// The server that a row of redis/ runs against.
#pragma once
#include <cstdint>
#include <string>

#include "testkit/servers/redis_server.hpp"

namespace bench {

// Started by the row, after pinning: it shares the CPUs of the row.
class redis_stage {
 public:
  redis_stage();  // throws std::runtime_error when redis-server is not installed

  int port() const noexcept { return server_.port(); }
  std::string url(const std::string& query = {}) const { return server_.url() + query; }
  // The one token of the BLPOP lock of bare_limits.hpp.
  void lay_out_token();
  // What clients have asked for so far: each command, transaction part and script is one. Right as
  // long as no transaction takes several locks: the server counts what is in it as it counts what
  // scripts call.
  std::uint64_t requests();
  // The same with every command that a script called.
  std::uint64_t commands();
  double cpu_seconds();  // of the server, so far

 private:
  holdfast::testkit::redis_server server_;
};

}  // namespace bench
