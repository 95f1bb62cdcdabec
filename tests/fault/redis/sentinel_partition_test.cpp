// A master behind sentinels is cut off from them and from its replicas, and goes on serving the
// clients on its side: for a while there are two masters.
#include <future>

#include "sentinel_fixture.hpp"

namespace holdfast::redis_test {
namespace {

// The sentinels log in as the user testkit, and do not count an error as a reply to PING. From here
// on the replicas log in as a user of their own, which this master rejects: so they keep their data
// and their offsets.
void isolate(sentinel_servers& s) {
  for (std::size_t i = 0; i < sentinel_servers::servers; ++i) {
    s.server(i).command({"ACL", "SETUSER", "replicator", "on", "nopass", "~*", "&*", "+@all"});
    s.server(i).command({"CONFIG", "SET", "masteruser", "replicator"});
  }
  redis_server& master = s.master();
  forbid_demotion(master);
  master.command({"ACL", "SETUSER", "testkit", "-ping"});
  master.command({"ACL", "SETUSER", "replicator", "off"});
  master.command({"CLIENT", "KILL", "TYPE", "replica"});
}

class redis_sentinel_partition : public on_sentinel {
 protected:
  // A client on the master's side.
  static client open_beside(const redis_server& master, const std::string& more) {
    return client::open(master.url() + quick_with(more));
  }
  // Nothing counts on the master's side from the partition on: the lease there ends before the
  // promoted server grants the lock, and no other one begins there.
  static void expect_left_to_the_promoted(sentinel_servers& s, const std::string& options) {
    redis_server& former = s.master();
    const auto beside = open_beside(former, options), other = open(s);
    const lease held = beside.mutex("x").acquire();
    s.wait_until_copied();
    auto next = std::async(std::launch::async, [&held, m = other.mutex("x")] {
      lease got = m.try_acquire_for(2min);
      EXPECT_FALSE(held.held());
      return got;
    });
    isolate(s);
    redis_server& promoted = s.wait_until_promoted();
    const told t = told_by([&] { (void)beside.mutex("y").try_acquire(); });
    EXPECT_EQ(t.code, errc::unavailable) << t.text;
    const lease got = next.get();
    ASSERT_TRUE(got);
    EXPECT_GT(got.token(), held.token());
    EXPECT_TRUE(is_kept(promoted));
    EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  }
};

// Asynchronous replication cannot exclude that. The token of the later grant is the larger one once
// the grants are more than a second apart.
TEST_F(redis_sentinel_partition, two_hold_a_lock_and_the_guard_refuses_the_stale_write) {
  sentinel_servers s(quick_failover);
  redis_server resource;
  const auto store = client::open(resource.url());
  redis_guard guard(store, "value");
  redis_server& former = s.master();
  const auto beside = open_beside(former, "ttl=10m"), other = open(s);
  s.wait_until_copied();
  isolate(s);
  const lease stale = beside.mutex("x").acquire();
  const auto granted = lease_clock::now();
  redis_server& promoted = s.wait_until_promoted();
  EXPECT_TRUE(eventually([&] { return lease_clock::now() > granted + 1500ms; }));
  const lease present = other.mutex("x").acquire();
  EXPECT_TRUE(is_kept(former) && is_kept(promoted));
  EXPECT_TRUE(stale.held() && present.held());
  EXPECT_GT(present.token(), stale.token());
  EXPECT_TRUE(guard.write(stale.token(), stale.owner(), "of the former master's holder"));
  EXPECT_TRUE(guard.write(present.token(), present.owner(), "of the present holder"));
  EXPECT_FALSE(guard.write(stale.token(), stale.owner(), "stale"));
  EXPECT_EQ(resource.command({"GET", "value"}).text, "of the present holder");
}

TEST_F(redis_sentinel_partition, with_replicas_nothing_counts_at_the_former_master) {
  sentinel_servers s(quick_failover);
  expect_left_to_the_promoted(s, "ttl=10s&replicas=1");
}

// The server itself refuses writes once it has noticed that it has no replica. No fence: see the
// first test.
TEST_F(redis_sentinel_partition, with_min_replicas_the_former_master_refuses) {
  if (!testkit::tested_redis().is_at_least(7, 0))
    GTEST_SKIP() << "skipped: this server's scripts write without enough replicas";
  sentinel_options options = quick_failover;
  options.servers.config = {"min-replicas-to-write 1", "min-replicas-max-lag 2"};
  sentinel_servers s(options);
  expect_left_to_the_promoted(s, "ttl=10s");
}

// The clients reach both masters, and the sentinels.
TEST_F(redis_sentinel_partition, contenders_with_replicas_exclude_each_other) {
  sentinel_servers s(quick_failover);
  const auto url = s.url() + quick + "&ttl=20s&replicas=1";
  contenders all({url, url}, {});
  all.wait_for_plays(30);
  isolate(s);
  s.wait_until_promoted();
  all.wait_for_plays(30);
}

}  // namespace
}  // namespace holdfast::redis_test
