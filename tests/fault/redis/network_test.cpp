// A network that resets, swallows, delays and delivers late.
#include <future>

#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_network : public on_redis {};

struct behind_a_proxy {
  redis_server server;
  tcp_proxy proxy{server.port()};
  client other = client::open(server.url() + quick_with("ttl=1m"));
  client mine(const std::string& options = {}) {
    return client::open(proxy.url() + quick_with("ttl=900ms" + options));
  }
};

TEST_F(redis_network, resets_at_any_moment_break_no_promise) {
  redis_server server;
  tcp_proxy proxy(server.port());
  {
    const auto url = quick_with("ttl=1s");
    contenders all({proxy.url() + url, proxy.url() + url, server.url() + url},
                   {.check = {.wake_bound = in_bounds, .lapse = 2s}});
    for (int i = 0; i < 60; ++i) {
      proxy.reset_all();
      all.wait_for_plays(10);
    }
  }
  expect_nothing_left(server);
}

TEST_F(redis_network, cuts_in_the_middle_of_everything_break_no_promise) {
  redis_server server;
  tcp_proxy proxy(server.port());
  {
    const auto url = quick_with("ttl=1s");
    contenders all({proxy.url() + url, proxy.url() + url, server.url() + url},
                   {.check = {.wake_bound = in_bounds, .lapse = 2s}});
    std::mt19937_64 numbers(7);
    for (int i = 0; i < 150; ++i) {
      proxy.cut_after(i % 2 ? direction::to_client : direction::to_server, numbers() % 3000);
      all.wait_for_plays(4);
    }
  }
  expect_nothing_left(server);
}

TEST_F(redis_network, a_holder_that_is_cut_off_knows_before_the_next_one_enters) {
  behind_a_proxy on;
  const auto c = on.mine();
  auto held = c.mutex("x").acquire();
  const auto token = held.token();
  on.proxy.set_both({.swallow = true});
  auto next = on.other.mutex("x").acquire();
  // The very first instruction after the grant of the next one.
  EXPECT_FALSE(held.held());
  EXPECT_GT(next.token(), token);
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  EXPECT_TRUE(held.doubt_token().stop_requested());
  on.proxy.set_both({});
  EXPECT_TRUE(next.held());
}

TEST_F(redis_network, half_open_connections_hang_nobody) {
  behind_a_proxy on;
  const auto c = on.mine("&close-timeout=500ms");
  c.mutex("warm").acquire().release();
  on.proxy.set_both({.swallow = true});
  for (int i = 0; i < 2; ++i) {
    const auto t = told_by([&] { (void)c.mutex("x").try_acquire(); });
    EXPECT_EQ(t.code, outcome::unavailable) << t.text;
    EXPECT_LT(t.took, in_bounds);
  }
  // Whether it hears within its time that nobody answers is a matter of chance.
  const auto t = told_by([&] { EXPECT_FALSE(c.mutex("x").try_acquire_for(100ms)); });
  EXPECT_TRUE(!t.code || t.code == errc::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  on.proxy.set_both({});
  std::error_code ec;
  lease held;
  EXPECT_TRUE(eventually([&] { return bool(held = c.mutex("x").acquire({}, {}, ec)); }))
      << ec.message();
}

TEST_F(redis_network, a_waiter_that_is_cut_off_does_not_hold_up_the_others) {
  behind_a_proxy on;
  const auto c = on.mine();
  auto first = on.other.mutex("x").acquire();
  std::jthread cut_off([&](std::stop_token stop) {
    std::error_code ignored;
    const auto mine = c.mutex("x").acquire({}, std::move(stop), ignored);
  });
  EXPECT_TRUE(eventually_queued(on.server, 1));
  on.proxy.set_both({.swallow = true});
  first.release();
  // The lock goes to the one that cannot hear it for the time it has to answer, and then on.
  const auto second = on.other.mutex("x").try_acquire_for(in_bounds);
  EXPECT_TRUE(second);
  cut_off.request_stop();
  on.proxy.reset_all();
  on.proxy.set_both({});
}

// PUBLISH counts the clients that listen at that moment: the release removes the waiter.
TEST_F(redis_network, a_waiter_that_is_removed_while_it_does_not_listen_is_served) {
  behind_a_proxy on;
  const auto c = client::open(on.proxy.url() + quick_with("ttl=1m"));
  auto held = on.other.mutex("x").acquire();
  auto next =
      std::async(std::launch::async, [m = c.mutex("x")] { return m.try_acquire_for(in_bounds); });
  EXPECT_TRUE(eventually_queued(on.server, 1));
  on.proxy.refuse(true);
  on.server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  held.release();
  EXPECT_TRUE(eventually_queued(on.server, 0));
  EXPECT_EQ(on.server.command({"EXISTS", "x"}).number, 0);
  on.proxy.refuse(false);
  EXPECT_TRUE(next.get());
}

TEST_F(redis_network, what_arrives_late_leaves_no_orphan) {
  behind_a_proxy on;
  const auto c = open_eventually(on.proxy.url() + "?op-timeout=1s&retry-base=2ms&ttl=10m");
  for (int i = 0; i < 5; ++i) {
    on.proxy.set(direction::to_server, {.hold = true});
    const auto t = told_by([&] { (void)c.mutex("x").try_acquire(); });
    EXPECT_EQ(t.code, outcome::unavailable) << t.text;
    on.proxy.set(direction::to_server, {});
    // The old connection's requests are delivered now; whatever they did is undone.
    std::error_code ec;
    lease held;
    EXPECT_TRUE(eventually([&] {
      return bool(held = c.mutex("x").try_acquire_for(1s, {}, {}, ec));
    })) << ec.message()
        << ' ' << to_text(on.server.command({"GET", "x"}));
    expect_safe(held, on.server, "x");
    held.release(ec);
    const auto is_free = [&] { return to_text(on.server.command({"GET", "x"})) == "(nil)"; };
    EXPECT_TRUE(ec ? eventually(is_free) : is_free()) << ec.message();
  }
}

TEST_F(redis_network, a_late_renewal_does_not_bring_a_lost_lease_back) {
  behind_a_proxy on;
  const auto c = on.mine();
  auto held = c.mutex("x").acquire();
  on.proxy.set_both({.hold = true});
  auto next = on.other.mutex("x").acquire();
  EXPECT_FALSE(held.held());
  on.proxy.set_both({});
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(held.held());
    EXPECT_TRUE(next.held());
    expect_safe(next, on.server, "x");
    on.other.mutex("y").acquire().release();
  }
  std::error_code ec;
  held.release(ec);
  EXPECT_EQ(ec, outcome::lost);
  EXPECT_TRUE(next.held());
}

TEST_F(redis_network, delay_makes_it_slower_and_nothing_else) {
  redis_server server;
  tcp_proxy proxy(server.port());
  proxy.set_both({.delay = 30ms});
  contenders all({proxy.url() + "?ttl=1s", proxy.url() + "?ttl=1s"},
                 {.check = {.wake_bound = in_bounds}, .least_granted = 10});
  all.wait_for_plays(60);
}

TEST_F(redis_network, a_server_out_of_reach_is_reported_at_once_and_found_again) {
  behind_a_proxy on;
  const auto c = on.mine();
  c.mutex("x").acquire().release();
  on.proxy.refuse(true);
  on.proxy.reset_all();
  const auto t = told_by([&] { (void)c.mutex("x").try_acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  on.proxy.refuse(false);
  lease held;
  std::error_code ec;
  EXPECT_TRUE(eventually([&] { return bool(held = c.mutex("x").acquire({}, {}, ec)); }));
}

}  // namespace
}  // namespace holdfast::redis_test
