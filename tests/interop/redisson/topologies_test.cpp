// holdfast and the real Redisson on one lock in deployments of Redis Sentinel and of Redis Cluster.
#include <future>

#include "testkit/eventually.hpp"
#include "testkit/servers/cluster_servers.hpp"
#include "testkit/servers/redis_program.hpp"
#include "testkit/servers/sentinel_servers.hpp"
#include "tests/interop/redisson/table.hpp"

namespace holdfast::redisson_test {
namespace {

using namespace std::chrono_literals;
using testkit::cluster_servers;
using testkit::eventually;
using testkit::sentinel_servers;

const std::string channel_of_mutex = "redisson_lock__channel:{x}",
                  channel_of_readers = "redisson_rwlock:{x}";
const std::string with_sentinel = "with Sentinel", in_a_cluster = "in a cluster";

void check_each(const direction& d) {
  d.exclusion();
  d.wake_up();
}

void check_mutexes(const deployment& on, const std::string& where, const kind& k) {
  table into(k.layout + ' ' + where);
  both_ways(on, into, k, k, channel_of_mutex, check_each);
  count_together(on, into, k);
}

void check_readers_and_writers(const deployment& on, const std::string& where) {
  const kind write{"write", "redisson-rw"}, read{"read", "redisson-rw"};
  table into(write.layout + ' ' + where);
  both_ways(on, into, write, write, channel_of_readers, check_each);
  both_ways(on, into, write, read, channel_of_readers, check_each);
  both_ways(on, into, read, write, channel_of_readers, check_each);
  count_together(on, into, write);
}

class redisson_sentinel_table : public with_redisson {
 protected:
  static deployment servers_of(sentinel_servers& s) { return {s.master(), s.url()}; }
};

TEST_F(redisson_sentinel_table, lock) {
  sentinel_servers s;
  check_mutexes(servers_of(s), with_sentinel, {"lock", "redisson"});
}

TEST_F(redisson_sentinel_table, fair) {
  sentinel_servers s;
  check_mutexes(servers_of(s), with_sentinel, {"fair", "redisson-fair"});
}

TEST_F(redisson_sentinel_table, rw) {
  sentinel_servers s;
  check_readers_and_writers(servers_of(s), with_sentinel);
}

// Redisson repeats a command for some seconds while it has no master, and then reports a failure.
bool takes_locks(const redisson_client& c) {
  return eventually([&] { return c.ask("t", "try lock of_redisson 0 1000") == "true"; }, 90s);
}

// Returns when a replica is promoted, the sentinels name it, and the other one follows it.
void kill_master_of(sentinel_servers& s) {
  s.wait_until_copied();
  redis_server& former = s.master();
  former.kill_hard();
  s.wait_until_promoted();
  s.wait_until_published();
  s.wait_until_left(former);
}

// Of a grant before the failover nothing is expected: it may be lost with its master.
TEST_F(redisson_sentinel_table, clients_of_both_pass_the_lock_on_when_the_master_was_replaced) {
  sentinel_servers s({.down_after = 500ms});
  const auto mine = client::open(s.url() + "?layout=redisson&op-timeout=20s");
  const redisson_client theirs(servers_of(s));
  EXPECT_TRUE(takes_locks(theirs));
  EXPECT_TRUE(mine.mutex("of_holdfast").try_acquire());
  kill_master_of(s);
  EXPECT_TRUE(takes_locks(theirs));

  lease held = mine.mutex("x").acquire({.ttl = 60s, .renew = renewal::manual});
  EXPECT_EQ(theirs.ask("t", "try lock x 0 60000"), "false");
  const call waiting = theirs.send("t", "lock lock x 60000");
  EXPECT_TRUE(eventually([&] { return is_subscribed(s.master(), channel_of_mutex); }));
  EXPECT_TRUE(waiting.pending());
  held.release();
  EXPECT_EQ(text_of(waiting.wait()), "");

  EXPECT_FALSE(mine.mutex("x").try_acquire());
  auto next = std::async(std::launch::async, [&] { return mine.mutex("x").try_acquire_for(1min); });
  EXPECT_TRUE(eventually([&] { return is_subscribed(s.master(), channel_of_mutex); }));
  EXPECT_EQ(theirs.ask("t", "unlock lock x"), "");
  EXPECT_TRUE(next.get());
}

class redisson_cluster_table : public with_redisson {
 protected:
  // Redisson uses sharded channels where the servers have them.
  static deployment servers_of(cluster_servers& c) {
    deployment on(c.server(c.master_of_slot(c.slot_of("x"))), c.url());
    on.is_sharded = testkit::tested_redis().is_at_least(7, 0);
    return on;
  }
};

TEST_F(redisson_cluster_table, lock) {
  cluster_servers c;
  check_mutexes(servers_of(c), in_a_cluster, {"lock", "redisson"});
}

TEST_F(redisson_cluster_table, fair) {
  cluster_servers c;
  check_mutexes(servers_of(c), in_a_cluster, {"fair", "redisson-fair"});
}

TEST_F(redisson_cluster_table, rw) {
  cluster_servers c;
  check_readers_and_writers(servers_of(c), in_a_cluster);
}

}  // namespace
}  // namespace holdfast::redisson_test
