// Failovers of a Redis Cluster: a master is killed, stopped, or replaced while it is healthy.
#include <gmock/gmock.h>

#include "cluster_fixture.hpp"

namespace holdfast::redis_test {
namespace {

// Masters go on serving their slots while another one is replaced.
const cluster_options partial_coverage{.full_coverage = false};

class redis_cluster_failover : public on_cluster {
 protected:
  // A lock that one client holds and another one waits for.
  struct awaited_lock {
    awaited_lock() { EXPECT_TRUE(eventually_queued(c.server(former), 1)); }

    cluster_servers c;
    const client mine = open(c), other = open(c);
    lease held = mine.mutex("x").acquire();
    const std::size_t former = master_of(c, "x");
    waiting_thread waiter{other};
  };
};

TEST_F(redis_cluster_failover, a_holder_keeps_its_lock_when_the_master_is_killed) {
  cluster_servers c;
  const auto mine = open(c), other = open(c);
  auto held = mine.mutex("x").acquire();
  const std::size_t next = kill_master(c, master_of(c, "x"));
  EXPECT_FALSE(other.mutex("x").try_acquire());
  expect_renewable_at(c.server(next), held, 20min);
  EXPECT_FALSE(other.mutex("x").try_acquire());
}

TEST_F(redis_cluster_failover, the_locks_of_every_layout_are_kept_when_the_master_is_killed) {
  cluster_servers c;
  std::vector<client> mine, others;
  std::vector<lease> held;
  const auto name = [](const std::string& layout) { return "{x}." + layout; };
  for (const std::string layout : layouts_of_a_cluster) {
    mine.push_back(open(c, "ttl=10m&layout=" + layout));
    others.push_back(open(c, "ttl=10m&layout=" + layout));
    held.push_back(mine.back().mutex(name(layout)).acquire());
  }
  const std::size_t next = kill_master(c, master_of(c, "x"));
  std::size_t i = 0;
  for (const std::string layout : layouts_of_a_cluster) {
    EXPECT_FALSE(others[i].mutex(name(layout)).try_acquire()) << layout;
    expect_renewable_at(c.server(next), held[i], 20min, name(layout));
    held[i].release();
    EXPECT_TRUE(others[i].mutex(name(layout)).try_acquire_for(in_bounds)) << layout;
    ++i;
  }
}

// With no call of the holder's.
TEST_F(redis_cluster_failover, the_renewals_of_a_lock_continue_at_the_promoted_server) {
  constexpr auto ttl = 15s;
  cluster_servers c;
  const auto mine = open(c, "ttl=15s");
  const auto held = mine.mutex("x").acquire();
  const auto first = held.expires();
  const std::size_t next = kill_master(c, master_of(c, "x"));
  EXPECT_TRUE(eventually([&] { return !held.held() || held.expires() > first + ttl; }));
  expect_held(held);
  expect_safe(held, c.server(next), "x");
}

TEST_F(redis_cluster_failover, readers_and_permits_are_kept_when_the_master_is_killed) {
  cluster_servers c;
  const auto mine = open(c), other = open(c);
  auto reads = mine.shared_mutex("x").acquire_shared();
  auto permit = mine.semaphore("{x}.permits", 1).acquire();
  kill_master(c, master_of(c, "x"));
  for (lease* each : {&reads, &permit}) {
    std::error_code ec;
    each->extend(20min, ec);
    EXPECT_FALSE(ec) << ec.message();
  }
  EXPECT_FALSE(other.shared_mutex("x").try_acquire());
  EXPECT_FALSE(other.semaphore("{x}.permits", 1).try_acquire());
  EXPECT_TRUE(other.shared_mutex("x").try_acquire_shared());
}

// The master has not passed the lock on when it is killed.
TEST_F(redis_cluster_failover, a_lock_that_the_promoted_server_does_not_know_is_lost) {
  cluster_servers c;
  const auto mine = open(c), other = open(c);
  token_of_next(mine);
  const std::size_t former = master_of(c, "x");
  c.wait_until_copied(former);
  c.server(c.replica_of(former)).command({"CONFIG", "SET", "masteruser", "nobody"});
  c.server(former).command({"CLIENT", "KILL", "TYPE", "replica"});
  const auto held = mine.mutex("x").acquire();
  c.server(former).kill_hard();
  const std::size_t next = c.wait_until_failed_over(former);
  ASSERT_FALSE(is_kept(c.server(next)));
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  EXPECT_FALSE(held.held());
  EXPECT_GT(token_of_next(other), held.token());
}

TEST_F(redis_cluster_failover, a_waiter_waits_through_it_and_is_served) {
  awaited_lock at;
  auto& [c, mine, other, held, former, waiter] = at;
  const std::size_t next = kill_master(c, former);
  expect_renewable_at(c.server(next), held, 20min);
  EXPECT_FALSE(waiter.is_served());
  const auto token = held.token();
  held.unlock();
  EXPECT_GT(waiter.served().token(), token);
}

TEST_F(redis_cluster_failover, a_release_without_a_master_is_repeated_at_the_promoted_server) {
  awaited_lock at;
  auto& [c, mine, other, held, former, waiter] = at;
  c.wait_until_copied(former);
  c.server(former).kill_hard();
  held.unlock();
  c.wait_until_failed_over(former);
  EXPECT_TRUE(waiter.served().held());
}

TEST_F(redis_cluster_failover, an_attempt_made_without_a_master_is_granted_by_the_promoted) {
  for (const bool full_coverage : {true, false}) {
    cluster_servers c({.full_coverage = full_coverage});
    const auto mine = open(c);
    const auto before = token_of_next(mine);
    const std::size_t former = master_of(c, "x");
    c.wait_until_copied(former);
    c.server(former).kill_hard();
    EXPECT_GT(mine.mutex("x").acquire().token(), before);
    const auto fresh = open(c);
    EXPECT_GT(token_of_next(fresh), before);
  }
}

// Also before one of the masters has detected the failure.
TEST_F(redis_cluster_failover, the_locks_of_other_masters_are_not_disturbed) {
  cluster_servers c(partial_coverage);
  const auto mine = open(c), other = open(c);
  const auto names = names_at_each(c);
  auto here = mine.mutex(names[0]).acquire();
  const auto kept = mine.mutex(names[1]).acquire();
  const auto play = [&] {
    EXPECT_FALSE(other.mutex(names[1]).try_acquire());
    for (const client& each : {mine, other}) token_of_next(each, names[2]);
  };
  c.wait_until_copied(0);
  c.server(0).kill_hard();
  for (int i = 0; i < 50; ++i) play();
  const std::size_t next = c.wait_until_failed_over(0);
  for (int i = 0; i < 50; ++i) play();
  EXPECT_FALSE(kept.doubt_token().stop_requested());
  expect_held(kept);
  expect_renewable_at(c.server(next), here, 20min, names[0]);
}

// All nodes answer CLUSTERDOWN until the replica is promoted.
TEST_F(redis_cluster_failover, with_full_coverage_the_locks_of_all_masters_are_kept) {
  cluster_servers c;
  const auto mine = open(c), other = open(c);
  const auto names = names_at_each(c);
  std::vector<lease> held;
  for (const std::string& name : names) held.push_back(mine.mutex(name).acquire());
  waiting_thread waiter(other, names[1]);
  EXPECT_TRUE(eventually_queued(c.server(1), 1, names[1]));
  kill_master(c, 0);
  for (std::size_t i = 0; i < names.size(); ++i) {
    expect_renewable_at(c.server(master_of(c, names[i])), held[i], 20min, names[i]);
    expect_not_granted(other, names[i]);
    token_of_next(other, '{' + names[i] + "}.2");
  }
  EXPECT_FALSE(waiter.is_served());
  held[1].unlock();
  EXPECT_TRUE(waiter.served().held());
}

// It becomes a replica, and refuses every command from then on.
TEST_F(redis_cluster_failover, a_stopped_master_that_continues_after_the_promotion_is_left) {
  cluster_servers c;
  const auto mine = open(c), other = open(c);
  auto held = mine.mutex("x").acquire();
  const std::size_t former = master_of(c, "x");
  token_of_next(other, "{x}.2");
  c.wait_until_copied(former);
  c.server(former).stop();
  const std::size_t next = c.wait_until_failed_over(former);
  c.server(former).go_on();
  EXPECT_FALSE(other.mutex("x").try_acquire());
  expect_renewable_at(c.server(next), held, 20min);
  token_of_next(other, "{x}.2");
  EXPECT_TRUE(eventually_left(c.server(former)));
  expect_held(held);
}

TEST_F(redis_cluster_failover, a_waiter_is_served_after_its_master_was_stopped_and_replaced) {
  awaited_lock at;
  auto& [c, mine, other, held, former, waiter] = at;
  c.wait_until_copied(former);
  c.server(former).stop();
  const std::size_t next = c.wait_until_failed_over(former);
  expect_renewable_at(c.server(next), held, 20min);
  held.unlock();
  EXPECT_TRUE(waiter.served().held());
  c.server(former).go_on();
  c.wait_until_replica(former);
  EXPECT_FALSE(mine.mutex("x").try_acquire());
  expect_renewable_at(c.server(next), waiter.served(), 20min);
}

TEST_F(redis_cluster_failover, no_lock_is_lost_when_a_healthy_master_is_replaced) {
  cluster_servers c;
  const auto mine = open(c), other = open(c);
  auto held = mine.mutex("x").acquire();
  std::size_t master = master_of(c, "x");
  for (int round = 0; round < 2; ++round) {  // there and back
    waiting_thread waiter(other);
    EXPECT_TRUE(eventually_queued(c.server(master), 1));
    c.fail_over(master);
    const std::size_t next = c.wait_until_failed_over(master);
    expect_renewable_at(c.server(next), held, 20min);
    EXPECT_FALSE(waiter.is_served());
    const auto token = held.token();
    held.unlock();
    EXPECT_GT(waiter.served().token(), token);
    waiter.served().release();
    EXPECT_TRUE(eventually_left(c.server(master)));
    c.wait_until_replica(master);
    master = next;
    held = mine.mutex("x").acquire();
  }
}

TEST_F(redis_cluster_failover, a_client_reaches_nodes_that_its_url_does_not_name) {
  cluster_servers c;
  const std::size_t former = master_of(c, "x");
  const auto mine = client::open(
      "redis+cluster://127.0.0.1:" + std::to_string(c.server(former).port()) + "?op-timeout=20s");
  const auto token = token_of_next(mine);
  kill_master(c, former);
  EXPECT_GT(token_of_next(mine), token);
  for (const std::string name : {"a", "b", "c", "d", "e"}) token_of_next(mine, name);
}

TEST_F(redis_cluster_failover, a_master_that_is_started_again_without_its_data_is_not_asked) {
  cluster_servers c;
  const auto mine = open(c), other = open(c);
  auto held = mine.mutex("x").acquire();
  const std::size_t former = master_of(c, "x");
  const std::size_t next = kill_master(c, former);
  c.server(former).start();
  EXPECT_FALSE(open(c).mutex("x").try_acquire());
  c.wait_until_replica(former);
  expect_renewable_at(c.server(next), held, 20min);
  EXPECT_FALSE(other.mutex("x").try_acquire());
  kill_master(c, next);  // back to the former
  expect_renewable_at(c.server(former), held, 30min);
}

TEST_F(redis_cluster_failover, over_tls_a_holder_keeps_its_lock) {
  if (!redis_server::has_tls()) GTEST_SKIP() << redis_server::no_tls;
  cluster_servers c({.tls = true});
  const auto ca = "ttl=10m&tls-ca=" + c.tls_files().certificate("ca");
  const auto mine = open(c, ca), other = open(c, ca);
  auto held = mine.mutex("x").acquire();
  const std::size_t next = kill_master(c, master_of(c, "x"));
  expect_renewable_at(c.server(next), held, 20min);
  EXPECT_FALSE(other.mutex("x").try_acquire());
}

TEST_F(redis_cluster_failover, contenders_exclude_each_other_while_each_master_is_killed) {
  cluster_servers c;
  const auto url = c.url() + quick + "&ttl=20s";
  contenders all({url, url}, {});
  for (std::size_t master = 0; master < 3; ++master) {
    all.wait_for_plays(30);
    kill_master(c, master);
    all.wait_for_plays(30);
    c.server(master).start();
    c.wait_until_replica(master);
  }
}

TEST_F(redis_cluster_failover, contenders_exclude_each_other_while_healthy_masters_are_replaced) {
  cluster_servers c(partial_coverage);
  const auto url = c.url() + quick + "&ttl=20s";
  contenders all({url, url}, {});
  for (std::size_t master = 0; master < 3; ++master) {
    all.wait_for_plays(30);
    c.fail_over(master);
    const std::size_t next = c.wait_until_failed_over(master);
    all.wait_for_plays(30);
    c.wait_until_replica(master);
    c.fail_over(next);
    c.wait_until_failed_over(next);
  }
  all.wait_for_plays(30);
}

// replicas=: nothing counts that a failover may lose.
class redis_cluster_replicas : public on_cluster {};

TEST_F(redis_cluster_replicas, a_lock_that_is_granted_is_at_the_replica_of_its_master) {
  cluster_servers c;
  const auto mine = open(c, "replicas=1");
  for (const std::string& name : names_at_each(c)) {
    redis_server& replica = c.server(c.replica_of(master_of(c, name)));
    testkit::redis_link as_reader = replica.link();
    as_reader.command({"READONLY"});
    for (int i = 0; i < 20; ++i) {
      const auto held = mine.mutex(name).acquire();
      EXPECT_EQ(as_reader.command({"EXISTS", name}).number, 1) << name;
    }
  }
}

// The test does not wait until the replica has the lock.
TEST_F(redis_cluster_replicas, a_lock_survives_the_death_of_its_master_right_after_its_grant) {
  cluster_servers c({.replicas = 2});
  const auto mine = open(c, "ttl=10m&replicas=1"), other = open(c);
  const std::size_t former = master_of(c, "x");
  auto held = mine.mutex("x").acquire();
  c.server(former).kill_hard();
  const std::size_t next = c.wait_until_failed_over(former);
  EXPECT_TRUE(is_kept(c.server(next)));
  EXPECT_FALSE(other.mutex("x").try_acquire());
  expect_renewable_at(c.server(next), held, 20min);
}

// It replies OK to all requests that it received while it was stopped.
TEST_F(redis_cluster_replicas, a_stopped_master_grants_nothing_that_counts_when_it_continues) {
  cluster_servers c({.replicas = 2});
  const auto mine = open(c, "ttl=10m&replicas=1"), other = open(c, "ttl=10m&replicas=1");
  const std::size_t former = master_of(c, "x");
  token_of_next(mine);
  c.wait_until_copied(former);
  c.server(former).stop();
  waiting_thread waiter(mine);
  c.wait_until_failed_over(former);
  auto held = other.mutex("x").try_acquire_for(in_bounds);
  c.server(former).go_on();
  c.wait_until_replica(former);
  EXPECT_FALSE(held && waiter.is_served());
  if (held) held.release();
  EXPECT_TRUE(waiter.served().held());
}

}  // namespace
}  // namespace holdfast::redis_test
