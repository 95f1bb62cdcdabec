// The real Redisson, raw commands and holdfast on the same servers.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "testkit/peers/redisson_peer.hpp"
#include "testkit/servers/redis_server.hpp"

namespace holdfast::redisson_test {

using testkit::redis_server;
using call = testkit::redisson_peer::call;

// The servers of a test, as both libraries and the test itself reach them.
struct deployment {
  deployment(redis_server& single) : deployment(single, single.url()) {}
  deployment(redis_server& with_x, std::string where) : server(with_x), url(std::move(where)) {}

  redis_server& server;     // that has the lock "x"
  std::string url;          // for holdfast, and for `open` of the driver
  bool is_sharded = false;  // the channels of locks
};

// Skips where the server or Redisson cannot be had.
class with_redisson : public testing::Test {
 protected:
  void SetUp() override;
};

// A client of Redisson, in the one JVM of this program; options as `open` of the driver has them.
// Its end stops it as a crash would: what it holds is left to its ttl.
class redisson_client {
 public:
  explicit redisson_client(const deployment&, const std::string& options = {});
  ~redisson_client();
  redisson_client(const redisson_client&) = delete;
  redisson_client& operator=(const redisson_client&) = delete;

  call send(const std::string& thread, const std::string& words) const;
  // What it answered; "failed: ..." where the command did.
  std::string ask(const std::string& thread, const std::string& words) const;
  std::string owner(const std::string& thread) const;  // its id in Redisson's hashes
  void crash();

 private:
  std::string name_, uuid_;
  bool open_ = true;
};

std::string text_of(const testkit::peer_answer&);

// The contents of the server, a line for each key, the names of `owners` in place of their ids:
//   x hash a=1 ttl
// Bytes that are no text are shown as their number: <16>.
using names = std::vector<std::pair<std::string, std::string>>;
std::string contents(redis_server&, const names& owners = {});

// Every message published from the start of its life on.
class message_log {
 public:
  explicit message_log(redis_server&);
  // All so far, a line each: "CHANNEL PAYLOAD".
  std::string heard(const names& owners = {});

 private:
  redis_server& server_;
  testkit::redis_link link_;
};

long long ttl_of(redis_server&, const std::string& key);
// How often clients called it since CONFIG RESETSTAT.
long long calls_of(redis_server&, const std::string& command);
bool is_subscribed(redis_server&, const std::string& channel);

}  // namespace holdfast::redisson_test
