// A client reports a restart of its server in its metrics and in the log.
#include "fixture.hpp"
#include "testkit/heard_warnings.hpp"
#include "testkit/no_descriptors.hpp"

namespace holdfast::redis_test {
namespace {

class redis_reach : public on_redis {};

TEST_F(redis_reach, follows_restarts_in_the_metrics_and_in_one_line_each) {
  redis_server server({.durable = true});
  testkit::heard_warnings heard;
  const auto c = client::open(server.url() + "?metrics=1&ttl=10m");
  const auto series = [&](const std::string& name, unsigned value) {
    const std::string line = name + "{backend=\"" + server.url() + "\"} " + std::to_string(value);
    return to_prometheus(c.metrics()).find('\n' + line + '\n') != std::string::npos;
  };
  // Why, is what is seen first: a connection that ends, or one that was about to be made.
  const std::string lost =
      ": the connection is lost: 127.0.0.1:" + std::to_string(server.port()) + ": ";
  const auto held = c.mutex("x").acquire();  // only a client that holds a lock is warned
  for (unsigned restarts = 0; restarts < 3; ++restarts) {
    EXPECT_TRUE(eventually([&] { return series("holdfast_connected", 1); }));
    EXPECT_TRUE(series("holdfast_reconnects_total", restarts));
    EXPECT_TRUE(eventually([&] {
      return heard.that_mention(lost) == restarts &&
             heard.that_mention(": connected again after ") == restarts;
    })) << heard.text();
    server.kill_hard();
    EXPECT_TRUE(eventually([&] { return series("holdfast_connected", 0); }));
    EXPECT_TRUE(series("holdfast_reconnects_total", restarts));
    server.start();
  }
  EXPECT_TRUE(held.held());
}

// The holder knows that another client waits, and so nothing is awaited over two of its
// connections: nobody would read there that the server has gone.
TEST_F(redis_reach, a_restart_is_over_when_every_connection_is_there_again) {
  redis_server server({.durable = true});
  testkit::heard_warnings heard;
  const std::string url = server.url() + "/0";  // its lines in the log are not those of the other
  const std::string lost = url + ": the connection is lost";
  const auto c = client::open(url + "?metrics=1&ttl=15s"), other = client::open(server.url());
  auto held = c.mutex("x").acquire();
  waiting_thread waits(other);
  EXPECT_TRUE(eventually_queued(server, 1));
  EXPECT_TRUE(eventually([&] { return c.metrics().renewals_confirmed >= 1; }));
  for (unsigned restarts = 1; restarts <= 2; ++restarts) {
    server.kill_hard();
    EXPECT_TRUE(eventually([&] { return heard.that_mention(lost) == restarts; }));
    server.start();
    EXPECT_TRUE(eventually(
        [&] { return heard.that_mention(url + ": connected again after ") == restarts; }));
  }
  held.release();
  waits.served().release();
  EXPECT_EQ(heard.that_mention(lost), 2u);
}

// The other connections stay open; each must be seen to answer.
TEST_F(redis_reach, the_loss_of_one_connection_is_over_when_it_is_there_again) {
  redis_server server;
  testkit::heard_warnings heard;
  const std::string url = server.url() + "/0";
  const auto c = client::open(url + "?metrics=1&ttl=15s");
  const auto held = c.mutex("x").acquire();
  EXPECT_TRUE(eventually([&] { return c.metrics().renewals_confirmed >= 1; }));
  for (unsigned cuts = 1; cuts <= 2; ++cuts) {
    server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
    EXPECT_TRUE(
        eventually([&] { return heard.that_mention(url + ": connected again after ") == cuts; }));
    EXPECT_EQ(heard.that_mention(url + ": the connection is lost"), cuts);
    EXPECT_TRUE(eventually([&] { return c.metrics().connected; }));
    EXPECT_EQ(c.metrics().reconnects, cuts);
  }
  EXPECT_TRUE(held.held());
}

// The connection for renewals is made with the first one; without it they go with the commands.
TEST_F(redis_reach, a_first_renewal_needs_no_descriptor) {
  redis_server server;
  const auto c = client::open(server.url() + "?metrics=1&ttl=60s");
  const auto held = c.mutex("x").acquire({.ttl = 6s});
  const testkit::no_descriptors none;
  EXPECT_TRUE(eventually([&] { return c.metrics().renewals_confirmed >= 2; }));
  EXPECT_TRUE(held.held());
}

TEST_F(redis_reach, an_open_without_a_descriptor_is_an_error) {
  redis_server server;
  const testkit::no_descriptors none;
  std::error_code ec;
  const auto c = client::open(server.url(), ec);
  EXPECT_EQ(ec, errc::unavailable);
}

}  // namespace
}  // namespace holdfast::redis_test
