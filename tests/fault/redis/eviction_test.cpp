// A server that may evict the keys of locks is named in the log when a client is opened.
#include "fixture.hpp"
#include "testkit/heard_warnings.hpp"

namespace holdfast::redis_test {
namespace {

class redis_eviction : public on_redis {};

TEST_F(redis_eviction, is_warned_of_once_where_it_can_happen) {
  redis_server server({.config = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}});
  testkit::heard_warnings heard;
  const auto c = client::open(server.url() + quick_with("ttl=1s"));
  EXPECT_TRUE(eventually([&] { return heard.that_mention("allkeys-lru") == 1; }));
  server.command({"CLIENT", "KILL", "TYPE", "normal"});
  c.mutex("x").acquire().release();
  EXPECT_EQ(heard.that_mention("maxmemory-policy"), 1u);
}

TEST_F(redis_eviction, is_warned_of_when_it_was_set_before_a_reconnect) {
  redis_server server;
  testkit::heard_warnings heard;
  const auto c = client::open(server.url() + quick_with("ttl=6s"));
  auto held = c.mutex("x").acquire();
  server.command({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
  server.command({"CONFIG", "SET", "maxmemory", "100mb"});
  server.command({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_TRUE(eventually([&] { return heard.that_mention("volatile-ttl") == 1; }));
}

// The answer comes before that to the counter's lift, which the first grant waits for.
TEST_F(redis_eviction, is_not_mentioned_where_nothing_is_evicted) {
  for (const char* const line : {"maxmemory-policy noeviction", "maxmemory-policy allkeys-lru"}) {
    const bool evicts_if_full = std::string_view(line).ends_with("lru");
    redis_server server({.config = {line, evicts_if_full ? "maxmemory 0" : "maxmemory 100mb"}});
    testkit::heard_warnings heard;
    client::open(server.url() + quick).mutex("x").acquire().release();
    EXPECT_EQ(heard.that_mention("maxmemory-policy"), 0u) << line;
  }
}

TEST_F(redis_eviction, is_not_warned_about_without_the_right_to_info) {
  redis_server server({.acl = "lock on >secret ~* &* +@all -info",
                       .default_user = false,
                       .config = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}});
  testkit::heard_warnings heard;
  const auto url = "redis://lock:secret@127.0.0.1:" + std::to_string(server.port()) + quick;
  client::open(url).mutex("x").acquire().release();
  EXPECT_EQ(heard.that_mention(""), 0u);
}

}  // namespace
}  // namespace holdfast::redis_test
