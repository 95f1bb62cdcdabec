// Shared by the fault tests of Redis Sentinel.
#pragma once
#include <string>

#include "fixture.hpp"
#include "testkit/servers/sentinel_servers.hpp"

namespace holdfast::redis_test {

using testkit::sentinel_options;
using testkit::sentinel_servers;

// A master is replaced 1 to 3 s after it is killed. With longer op-timeouts than that, an attempt
// that is made meanwhile is granted later.
inline const sentinel_options quick_failover{.down_after = std::chrono::milliseconds{500}};

class on_sentinel : public on_redis {
 protected:
  static client open(const sentinel_servers& s, const std::string& more = "ttl=10m") {
    return client::open(s.url() + "?op-timeout=20s&retry-base=2ms&" + more);
  }
};

// Neither the sentinels nor the test can demote the server from here on: a former master stays a
// master that takes writes.
inline void forbid_demotion(redis_server& s) {
  s.command({"ACL", "SETUSER", "testkit", "-replicaof", "-slaveof"});
}

inline bool is_kept(redis_server& s, const std::string& name = "x") {
  return s.command({"EXISTS", name}).number != 0;
}

inline bool has_connections(redis_server& s) {
  const std::string all = s.command({"CLIENT", "LIST"}).text;
  for (const char* lane : {"commands ", "renewals ", "messages "})
    if (all.find(std::string(" name=holdfast-") + lane) != all.npos) return true;
  return false;
}

// That no client has its connections to the server any longer.
inline bool eventually_left(redis_server& s) {
  return eventually([&] { return !has_connections(s); });
}

// That the lease is held, and can be renewed at this server.
inline void expect_renewable_at(redis_server& s, lease& held, std::chrono::milliseconds ttl,
                                const std::string& name = "x") {
  std::error_code ec;
  held.extend(ttl, ec);
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_GT(held.remaining(), ttl / 2);
  expect_safe(held, s, name);
}

// That the lock becomes free for this client in time; releases it, and waits for the answer.
inline std::int64_t token_of_next(const client& c, const std::string& name = "x") {
  std::error_code ec;
  auto held = c.mutex(name).try_acquire_for(in_bounds, {}, {}, ec);
  EXPECT_TRUE(held) << ec.message();
  const std::int64_t token = held.token();
  held.release(ec);
  return token;
}

}  // namespace holdfast::redis_test
