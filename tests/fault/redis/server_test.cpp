// A server that restarts, forgets, stalls or refuses.
#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_server_fault : public on_redis {};

TEST_F(redis_server_fault, a_restart_without_data_is_a_loss_and_tokens_go_on_growing) {
  redis_server server;
  const auto c = client::open(server.url() + quick_with("ttl=900ms"));
  const auto other = client::open(server.url() + quick);
  auto held = c.mutex("x").acquire();
  const auto token = held.token();
  server.restart(false);
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  EXPECT_FALSE(held.held());
  EXPECT_EQ(held.status(), errc::lost);
  auto next = other.mutex("x").acquire();
  EXPECT_GT(next.token(), token);
  std::error_code ec;
  held.release(ec);
  EXPECT_EQ(ec, outcome::lost);
  EXPECT_TRUE(next.held());
  expect_safe(next, server, "x");
}

TEST_F(redis_server_fault, a_durable_server_keeps_leases_over_a_restart) {
  redis_server server({.durable = true});
  const auto c = client::open(server.url() + quick_with("ttl=20s"));
  const auto other = client::open(server.url() + quick);
  auto held = c.mutex("x").acquire();
  const auto token = held.token();
  server.restart(true);
  EXPECT_TRUE(held.held());
  const auto before = held.expires();
  EXPECT_TRUE(eventually([&] {
    std::error_code ec;
    held.extend(30s, ec);
    return !ec;
  }));
  EXPECT_GT(held.expires(), before);
  EXPECT_EQ(held.token(), token);
  expect_safe(held, server, "x");
  EXPECT_FALSE(other.mutex("x").try_acquire_for(3s));
  held.release();
  EXPECT_GT(other.mutex("x").acquire().token(), token);
}

TEST_F(redis_server_fault, a_waiter_survives_restarts_of_the_server) {
  redis_server server({.durable = true});
  const auto c = client::open(server.url() + quick_with("ttl=20s"));
  const auto other = client::open(server.url() + quick_with("ttl=20s"));
  auto held = c.mutex("x").acquire();
  waiting_thread waiter(other);
  for (int i = 0; i < 3; ++i) server.restart(true);
  EXPECT_FALSE(waiter.is_served());
  held.unlock();
  waiter.served();
}

TEST_F(redis_server_fault, forgotten_scripts_are_loaded_again) {
  redis_server server;
  {
    contenders all({server.url(), server.url()}, {.check = {.wake_bound = in_bounds}});
    for (int i = 0; i < 100; ++i) {
      server.command({"SCRIPT", "FLUSH"});
      all.wait_for_plays(3);
    }
  }
  expect_nothing_left(server);
}

TEST_F(redis_server_fault, killed_connections_cost_nothing_but_time) {
  redis_server server;
  {
    contenders all({server.url() + quick, server.url() + quick, server.url() + quick},
                   {.check = {.wake_bound = in_bounds, .lapse = 30s}});
    for (int i = 0; i < 60; ++i) {
      const char* const kind = i % 3 == 0 ? "pubsub" : "normal";
      server.command({"CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"});
      all.wait_for_plays(10);
    }
  }
  expect_nothing_left(server);
}

TEST_F(redis_server_fault, a_waiter_whose_messages_were_cut_off_is_served_at_the_release) {
  redis_server server;
  const auto c = client::open(server.url());
  const auto other = client::open(server.url() + quick);
  auto held = c.mutex("x").acquire();
  waiting_thread waiter(other);
  EXPECT_TRUE(eventually_queued(server, 1));
  server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  held.release();
  waiter.served();
}

TEST_F(redis_server_fault, a_pause_of_the_server_is_on_the_holder_s_account) {
  redis_server server;
  const auto c = client::open(server.url() + "?ttl=400ms&op-timeout=3s");
  const auto m = c.mutex("x");
  for (int i = 0; i < 3; ++i) {
    server.command({"CLIENT", "PAUSE", "600", "ALL"});
    std::error_code ec;
    auto held = m.acquire({}, {}, ec);
    ASSERT_FALSE(ec) << ec.message();
    if (held.held()) expect_safe(held, server, "x");
    held.release(ec);
  }
  // Held over a pause that is longer than the lease: the key runs out at the server meanwhile.
  auto held = m.acquire();
  server.command({"CLIENT", "PAUSE", "1000", "ALL"});
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
}

TEST_F(redis_server_fault, writes_that_are_paused_hold_nobody_for_ever) {
  redis_server server;
  const auto c = client::open(server.url() + quick);
  server.command({"CLIENT", "PAUSE", "60000", "WRITE"});
  const auto t = told_by([&] { (void)c.mutex("x").try_acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  server.command({"CLIENT", "UNPAUSE"});
  EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", "x"}).number == 0; }));
  c.mutex("x").acquire().release();
}

TEST_F(redis_server_fault, a_request_to_a_stopped_server_is_withdrawn_when_it_runs_again) {
  redis_server server;
  const auto c = client::open(server.url() + quick_with("ttl=10m"));
  server.stop();
  const auto t = told_by([&] { (void)c.mutex("x").try_acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  server.go_on();
  // Whatever of it is done when the server wakes is undone: the lease would last ten minutes.
  EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", "x"}).number == 0; }));
  auto held = c.mutex("x").acquire();
  expect_safe(held, server, "x");
}

TEST_F(redis_server_fault, a_server_out_of_memory_grants_nothing_and_still_renews_and_releases) {
  redis_server server;
  const auto c = client::open(server.url() + quick_with("ttl=6s"));
  const auto other = client::open(server.url() + quick);
  auto held = c.mutex("x").acquire();
  server.command({"CONFIG", "SET", "maxmemory", "1"});
  const auto t = told_by([&] { (void)other.mutex("y").try_acquire(); });
  EXPECT_EQ(t.code, errc::unavailable) << t.text;
  EXPECT_NE(t.text.find("memory"), std::string::npos) << t.text;
  const auto before = held.expires();
  EXPECT_TRUE(eventually([&] { return held.expires() > before || !held.held(); }));
  EXPECT_TRUE(held.held());
  held.release();
  EXPECT_EQ(server.command({"EXISTS", "x"}).number, 0);
  server.command({"CONFIG", "SET", "maxmemory", "0"});
  other.mutex("y").acquire().release();
}

TEST_F(redis_server_fault, a_waiter_is_served_though_the_server_ran_out_of_memory_meanwhile) {
  redis_server server;
  const auto c = client::open(server.url());
  const auto other = client::open(server.url());
  auto held = c.mutex("x").acquire();
  waiting_thread waiter(other);
  EXPECT_TRUE(eventually_queued(server, 1));
  server.command({"CONFIG", "SET", "maxmemory", "1"});
  held.release();
  EXPECT_TRUE(eventually([&] { return waiter.is_served(); }));
  server.command({"CONFIG", "SET", "maxmemory", "0"});
}

TEST_F(redis_server_fault, a_replica_grants_nothing_and_tokens_grow_when_it_leads_again) {
  redis_server server;
  const auto c = client::open(server.url() + quick);
  const auto m = c.mutex("x");
  auto first = m.acquire();
  const auto token = first.token();
  first.release();
  server.command({"REPLICAOF", "127.0.0.1", "1"});
  const auto t = told_by([&] { (void)m.try_acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  server.command({"REPLICAOF", "NO", "ONE"});
  std::error_code ec;
  lease again;
  EXPECT_TRUE(eventually([&] { return bool(again = m.acquire({}, {}, ec)); })) << ec.message();
  EXPECT_GT(again.token(), token);
}

TEST_F(redis_server_fault, writes_without_enough_replicas_are_reported_as_refused) {
  redis_server server;
  const auto c = client::open(server.url() + quick);
  server.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
  const auto t = told_by([&] { (void)c.mutex("x").try_acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  server.command({"CONFIG", "SET", "min-replicas-to-write", "0"});
  c.mutex("x").acquire().release();
}

TEST_F(redis_server_fault, a_script_of_somebody_that_does_not_end_is_waited_for_in_bounds) {
  redis_server server({.config = {"lua-time-limit 20"}});
  const auto c = client::open(server.url() + quick);
  auto busy = server.link();
  busy.send({"EVAL", "while true do end", "0"});
  EXPECT_TRUE(eventually([&] { return server.command({"PING"}).is_error(); }));
  const auto t = told_by([&] { (void)c.mutex("x").try_acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  server.command({"SCRIPT", "KILL"});
  EXPECT_TRUE(busy.receive().is_error());
  c.mutex("x").acquire().release();
}

TEST_F(redis_server_fault, everything_forgotten_at_once_gives_no_two_grants_one_token) {
  redis_server server;
  const auto c = client::open(server.url() + quick);
  std::int64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    auto held = c.mutex("x").acquire();
    EXPECT_GT(held.token(), last);
    last = held.token();
    server.command({"FLUSHALL"});
    std::error_code lost;
    held.release(lost);
  }
}

}  // namespace
}  // namespace holdfast::redis_test
