// Failovers by Redis Sentinel: the master is killed, stopped, restarted without its data, or
// replaced while it is healthy.
#include "sentinel_fixture.hpp"

namespace holdfast::redis_test {
namespace {

using namespace std::chrono_literals;

class redis_sentinel_failover : public on_sentinel {};

redis_server& kill_master(sentinel_servers& s) {
  s.wait_until_copied();
  s.master().kill_hard();
  return s.wait_until_promoted();
}

TEST_F(redis_sentinel_failover, a_holder_keeps_its_lock_when_the_master_is_killed) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s), other = open(s);
  auto held = mine.mutex("x").acquire();
  redis_server& next = kill_master(s);
  EXPECT_FALSE(other.mutex("x").try_acquire());
  expect_renewable_at(next, held, 20min);
  EXPECT_FALSE(other.mutex("x").try_acquire());
}

// With no call of the holder's.
TEST_F(redis_sentinel_failover, the_renewals_of_a_lock_continue_at_the_promoted_server) {
  constexpr auto ttl = 15s;
  sentinel_servers s(quick_failover);
  const auto held = open(s, "ttl=15s").mutex("x").acquire();
  const auto first = held.expires();
  redis_server& next = kill_master(s);
  EXPECT_TRUE(eventually([&] { return !held.held() || held.expires() > first + ttl; }));
  EXPECT_TRUE(held.held());
  expect_safe(held, next, "x");
}

TEST_F(redis_sentinel_failover, readers_and_permits_are_kept_when_the_master_is_killed) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s), other = open(s);
  auto reads = mine.shared_mutex("x").acquire_shared();
  auto permit = mine.semaphore("y", 1).acquire();
  kill_master(s);
  for (lease* each : {&reads, &permit}) {
    std::error_code ec;
    each->extend(20min, ec);
    EXPECT_FALSE(ec) << ec.message();
  }
  EXPECT_FALSE(other.shared_mutex("x").try_acquire());
  EXPECT_FALSE(other.semaphore("y", 1).try_acquire());
  EXPECT_TRUE(other.shared_mutex("x").try_acquire_shared());
}

// As if the master had been killed before it had passed the lock on.
TEST_F(redis_sentinel_failover, a_lock_that_the_promoted_server_does_not_know_is_lost) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s), other = open(s);
  const auto held = mine.mutex("x").acquire();
  s.wait_until_copied();
  for (std::size_t i = 1; i < s.servers; ++i) {
    s.server(i).command({"CONFIG", "SET", "replica-read-only", "no"});
    EXPECT_EQ(s.server(i).command({"DEL", "x"}).number, 1);
  }
  s.master().kill_hard();
  s.wait_until_promoted();
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  EXPECT_TRUE(held.loss_token().stop_requested());
  EXPECT_GT(token_of_next(other), held.token());
}

TEST_F(redis_sentinel_failover, a_waiter_waits_through_it_and_is_served) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s), other = open(s);
  auto held = mine.mutex("x").acquire();
  waiting_thread waiter(other);
  EXPECT_TRUE(eventually_queued(s.master(), 1));
  kill_master(s);
  EXPECT_TRUE(eventually([&] { return token_of_next(mine, "y") != 0; }));  // mine has moved
  EXPECT_FALSE(waiter.is_served());
  const auto token = held.token();
  held.unlock();
  EXPECT_GT(waiter.served().token(), token);
}

TEST_F(redis_sentinel_failover, a_release_without_a_master_is_repeated_at_the_promoted_server) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s), other = open(s);
  auto held = mine.mutex("x").acquire();
  waiting_thread waiter(other);
  EXPECT_TRUE(eventually_queued(s.master(), 1));
  s.wait_until_copied();
  s.master().kill_hard();
  held.unlock();
  s.wait_until_promoted();
  EXPECT_TRUE(waiter.served().held());
}

TEST_F(redis_sentinel_failover, an_attempt_made_without_a_master_is_granted_by_the_promoted) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s);
  const auto before = token_of_next(mine);
  s.wait_until_copied();
  s.master().kill_hard();
  EXPECT_GT(mine.mutex("x").acquire().token(), before);
  const auto fresh = open(s);  // before the sentinels name the promoted server to all
  EXPECT_GT(token_of_next(fresh), before);
}

// The client's connections to it work again, and it takes writes, until the sentinels demote it:
// here they never do.
TEST_F(redis_sentinel_failover, a_stopped_master_that_continues_after_the_promotion_is_left) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s), other = open(s);
  auto held = mine.mutex("x").acquire();
  token_of_next(other, "y");
  s.wait_until_copied();
  redis_server& former = s.master();
  forbid_demotion(former);
  former.stop();
  redis_server& next = s.wait_until_promoted();
  former.go_on();
  EXPECT_TRUE(eventually_left(former));
  EXPECT_EQ(former.info("role"), "master");
  expect_renewable_at(next, held, 20min);
  EXPECT_FALSE(other.mutex("x").try_acquire());
  token_of_next(other, "y");
}

// A probe is under way to the stopped master when the sentinels name another one.
TEST_F(redis_sentinel_failover, a_stopped_master_is_left_although_a_probe_awaits_its_reply) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s, "ttl=10m&probe=200ms&connect-timeout=60s");
  auto held = mine.mutex("x").acquire();
  s.wait_until_copied();
  redis_server& former = s.master();
  forbid_demotion(former);
  former.stop();
  redis_server& next = s.wait_until_promoted();
  s.wait_until_published();
  EXPECT_TRUE(eventually([&] { return has_connections(next); }));
  former.go_on();
  EXPECT_TRUE(eventually_left(former));
  expect_renewable_at(next, held, 20min);
}

TEST_F(redis_sentinel_failover, a_healthy_master_is_left_once_the_sentinels_name_another) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s), other = open(s);
  auto held = mine.mutex("x").acquire();
  waiting_thread waiter(other);
  EXPECT_TRUE(eventually_queued(s.master(), 1));
  s.wait_until_copied();
  redis_server& former = s.master();
  forbid_demotion(former);
  s.fail_over();
  redis_server& next = s.wait_until_promoted();
  EXPECT_TRUE(eventually_left(former));
  EXPECT_EQ(former.info("role"), "master");
  expect_renewable_at(next, held, 20min);
  EXPECT_FALSE(waiter.is_served());
  held.unlock();
  EXPECT_TRUE(waiter.served().held());
}

// The former master and its new one lose nothing. The sentinels notice half a minute later that
// their master is a replica, and then promote any of the servers.
TEST_F(redis_sentinel_failover, no_lock_is_lost_by_the_failover_of_the_servers_themselves) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s), other = open(s);
  auto held = mine.mutex("x").acquire();
  s.server(0).fail_over_to(s.server(1));
  EXPECT_TRUE(mine.mutex("y").try_acquire_for(2min));
  EXPECT_TRUE(other.mutex("z").try_acquire_for(2min));
  EXPECT_FALSE(other.mutex("x").try_acquire_for(1ms));
  EXPECT_TRUE(held.held());
}

TEST_F(redis_sentinel_failover, a_former_master_that_is_started_without_its_data_is_refused) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s);
  const auto held = mine.mutex("x").acquire();
  redis_server& former = s.master();
  redis_server& next = kill_master(s);
  former.start();
  forbid_demotion(former);
  s.wait_until_published();
  next.command({"CLIENT", "KILL", "TYPE", "normal"});
  const auto fresh = open(s);
  EXPECT_FALSE(fresh.mutex("x").try_acquire());
  token_of_next(mine, "y");
  EXPECT_EQ(former.info("role"), "master");
  EXPECT_EQ(former.command({"KEYS", "*"}).items.size(), 0u);
  EXPECT_TRUE(held.held());
}

TEST_F(redis_sentinel_failover, contenders_exclude_each_other_through_three_failovers) {
  sentinel_servers s(quick_failover);
  const auto url = s.url() + quick + "&ttl=20s";
  contenders all({url, url}, {.longest_work = 20ms});
  for (int round = 0; round < 3; ++round) {
    all.wait_for_plays(30);
    redis_server& former = s.master();
    kill_master(s);
    all.wait_for_plays(30);
    former.start();
    s.wait_until_replica(former);
  }
}

}  // namespace
}  // namespace holdfast::redis_test
