// Outages of a real server, shorter and longer than every timeout: waiters wait through them, one
// attempt does not. Most of these tests wait; ctest runs them beside each other.
#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

// Longer than the op-timeout, which ends whatever is bounded by it.
constexpr const char* patient = "?op-timeout=500ms&ttl=2s";

class redis_outage : public on_redis {};
class redis_outage_of : public on_redis,
                        public testing::WithParamInterface<std::chrono::milliseconds> {};

// Time passes while the server is away: that is what the test is about.
void stay_away(std::chrono::milliseconds d) { std::this_thread::sleep_for(d); }

struct waiters {  // a holder's lock, and those who wait for it at two clients
  waiters(const std::string& url, std::size_t each) {
    for (int i = 0; i < 2; ++i) clients.push_back(client::open(url));
    for (const client& c : clients)
      for (std::size_t i = 0; i < each; ++i)
        threads.emplace_back([this, m = c.mutex("x")] {
          std::error_code ec;
          lease held = m.acquire({}, {}, ec);
          held.unlock();
          (held || !ec ? granted : refused)++;
          if (ec) ADD_FAILURE() << ec.message();
        });
  }
  std::vector<client> clients;
  std::atomic<std::size_t> granted{0}, refused{0};
  std::vector<std::jthread> threads;
};

TEST_P(redis_outage_of, a_server_that_is_killed_and_restarted_serves_all_waiters) {
  redis_server server({.durable = true});
  const auto c = open_eventually(server.url() + patient);
  auto held = c.mutex("x").acquire();
  waiters all(server.url() + patient, 4);
  EXPECT_TRUE(eventually_queued(server, 2));
  server.kill_hard();
  stay_away(GetParam());
  server.start();
  EXPECT_EQ(all.granted + all.refused, 0u);
  held.unlock();
  all.threads.clear();
  EXPECT_EQ(all.granted, 8u);
}

INSTANTIATE_TEST_SUITE_P(kill, redis_outage_of, testing::Values(1s, 4s, 8s, 20s, 60s),
                         [](const auto& one) { return std::to_string(one.param / 1s) + "s"; });

// The time from its return to the last grant is not judged but by the suite's own limit: what is
// shown is that none of many short restarts makes anybody fail after the server is back.
TEST_F(redis_outage, a_short_restart_makes_no_waiter_fail_after_it) {
  redis_server server({.durable = true});
  const auto url = server.url() + "?op-timeout=1500ms&ttl=2s";
  for (int i = 0; i < 4; ++i) {
    auto held = client::open(url).mutex("x").acquire();
    waiters all(url, 4);
    EXPECT_TRUE(eventually_queued(server, 2));
    stay_away(1600ms);  // the wait is older than an op-timeout by now
    server.kill_hard();
    stay_away(300ms);
    server.start();
    held.unlock();
    all.threads.clear();
    EXPECT_EQ(all.granted, 8u);
  }
}

TEST_F(redis_outage, a_password_that_is_wrong_after_a_restart_ends_every_wait_at_once) {
  redis_server server({.durable = true});
  const auto c = client::open(server.url() + "?op-timeout=60s&ttl=1m");
  const auto other = client::open(server.url() + "?op-timeout=60s&ttl=1m");
  auto held = c.mutex("x").acquire();
  std::error_code queued;
  std::jthread waits([&] { (void)other.mutex("x").acquire({}, {}, queued); });
  EXPECT_TRUE(eventually_queued(server, 1));
  server.command({"CONFIG", "SET", "requirepass", "secret"});
  server.command({"CLIENT", "KILL", "TYPE", "normal"});
  server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  waits.join();
  EXPECT_EQ(queued, errc::refused) << queued.message();
  server.command({"CONFIG", "SET", "requirepass", ""});
}

// A release whose outcome is unknown, since the server wants a password from now on.
void release_unheard(redis_server& server, const client& c) {
  auto held = c.mutex("x").acquire();
  server.command({"CONFIG", "SET", "requirepass", "secret"});
  server.command({"CLIENT", "KILL", "TYPE", "normal"});
  server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  std::error_code ec;
  held.release(ec);
  EXPECT_EQ(ec, errc::outcome_unknown) << ec.message();
  EXPECT_EQ(server.command({"EXISTS", "x"}).number, 1);
}

// The release is repeated when the server is back: nothing is left then.
TEST_F(redis_outage, close_is_clean_after_a_password_that_was_wanted_for_a_while) {
  for (const bool closes_at_once : {false, true}) {
    redis_server server({.durable = true});
    auto c = client::open(server.url() + "?op-timeout=5s&ttl=10m&close-timeout=30s");
    release_unheard(server, c);
    server.command({"CONFIG", "SET", "requirepass", ""});
    const auto is_gone = [&] { return server.command({"EXISTS", "x"}).number == 0; };
    EXPECT_TRUE(closes_at_once || eventually(is_gone));
    EXPECT_TRUE(c.close());
    EXPECT_TRUE(is_gone());
  }
}

// The lock is left until its lease runs out, and close() says so.
TEST_F(redis_outage, close_is_not_clean_while_a_password_is_wanted) {
  redis_server server({.durable = true});
  auto c = client::open(server.url() + "?op-timeout=5s&ttl=10m&close-timeout=1s");
  release_unheard(server, c);
  EXPECT_FALSE(c.close());
  EXPECT_EQ(server.command({"EXISTS", "x"}).number, 1);
}

TEST_F(redis_outage, one_attempt_fails_at_once_when_nothing_listens) {
  redis_server server({.durable = true});
  const auto c = client::open(server.url() + "?op-timeout=60s");
  auto mine = c.mutex("x"), another = c.mutex("y");
  server.kill_hard();
  for (int i = 0; i < 5; ++i) {
    const auto t = told_by([&] { (void)mine.try_acquire(); });
    EXPECT_EQ(t.code, errc::unavailable) << t.text;
    EXPECT_LT(t.took, 30s);
    const auto both = told_by([&] { (void)multi_mutex(mine, another).try_acquire(); });
    EXPECT_EQ(both.code, errc::unavailable) << both.text;
    EXPECT_LT(both.took, 30s);
  }
  const auto opened = told_by([&] { (void)client::open(server.url() + "?op-timeout=60s"); });
  EXPECT_EQ(opened.code, errc::unavailable) << opened.text;
  EXPECT_LT(opened.took, 30s);
}

TEST_F(redis_outage, open_ends_after_the_op_timeout_and_one_connection_after_the_connect_timeout) {
  redis_server server;
  tcp_proxy proxy(server.port());
  proxy.set_both({.swallow = true});
  const auto t =
      told_by([&] { (void)client::open(proxy.url() + "?op-timeout=300ms&connect-timeout=1h"); });
  EXPECT_EQ(t.code, errc::unavailable) << t.text;
  EXPECT_NE(t.text.find("op-timeout"), std::string::npos) << t.text;
  const auto before = proxy.counts().accepted;
  told opened;
  std::jthread opens([&] {
    const auto url = proxy.url() + "?op-timeout=1h&connect-timeout=100ms";
    opened = told_by([&] { (void)client::open(url); });
  });
  EXPECT_TRUE(eventually([&] { return proxy.counts().accepted >= before + 2; }));
  proxy.set_both({});
  opens.join();
  EXPECT_EQ(opened.code, std::error_code{}) << opened.text;
}

TEST_F(redis_outage, a_bound_that_ends_in_it_is_no_busy_lock_and_one_that_outlives_it_is_granted) {
  redis_server server({.durable = true});
  const auto c = client::open(server.url());
  const auto m = c.mutex("x");
  server.kill_hard();
  EXPECT_EQ(told_by([&] { (void)m.try_acquire_for(700ms); }).code, errc::unavailable);
  told late;
  bool is_granted = false;
  std::jthread waits([&] { late = told_by([&] { is_granted = bool(m.try_acquire_for(60s)); }); });
  stay_away(1200ms);
  server.start();
  waits.join();
  EXPECT_TRUE(is_granted) << late.text;
}

TEST_F(redis_outage, several_locks_are_waited_for_through_it) {
  redis_server server({.durable = true});
  const auto c = open_eventually(server.url() + patient);
  auto one = c.mutex("one"), two = c.mutex("two");
  server.kill_hard();
  told how;
  bool is_granted = false;
  std::jthread waits(
      [&] { how = told_by([&] { is_granted = bool(multi_mutex(one, two).acquire()); }); });
  stay_away(1500ms);
  server.start();
  waits.join();
  EXPECT_TRUE(is_granted) << how.text;
}

TEST_F(redis_outage, an_outage_timeout_ends_the_wait_and_not_before) {
  redis_server server({.durable = true});
  const auto c = open_eventually(server.url() + "?op-timeout=200ms&ttl=2s&outage-timeout=2s");
  auto held = c.mutex("x").acquire();
  const auto other = open_eventually(server.url() + "?op-timeout=200ms&ttl=2s&outage-timeout=2s");
  std::error_code ec;
  std::jthread waits([&] { (void)other.mutex("x").acquire({}, {}, ec); });
  EXPECT_TRUE(eventually_queued(server, 1));
  const auto begun = lease_clock::now();
  server.kill_hard();
  waits.join();
  EXPECT_EQ(ec, errc::unavailable) << ec.message();
  EXPECT_GE(lease_clock::now() - begun, 2s);
}

}  // namespace
}  // namespace holdfast::redis_test
