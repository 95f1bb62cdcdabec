// Replicas that differ from their master when they are promoted: by their clocks, by what they have
// of its data, or by their priority.
#include <future>

#include "sentinel_fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_sentinel_promotion : public on_sentinel {
 protected:
  static redis_server& kill_master(sentinel_servers& s) {
    s.wait_until_copied();
    s.master().kill_hard();
    return s.wait_until_promoted();
  }
  static std::vector<redis_server*> replicas_of(sentinel_servers& s) {
    std::vector<redis_server*> all;
    for (std::size_t i = 0; i < sentinel_servers::servers; ++i)
      if (&s.server(i) != &s.master()) all.push_back(&s.server(i));
    return all;
  }
};

// The clocks of the replicas differ from the master's.
struct stepped_replicas {
  explicit stepped_replicas(std::chrono::milliseconds offset) {
    for (std::size_t i = 1; i < sentinel_servers::servers; ++i) s.server(i).set_clock(offset);
  }
  static sentinel_options with_shims() {
    sentinel_options options = quick_failover;
    options.servers.clock_shim = true;
    return options;
  }
  sentinel_servers s{with_shims()};
};

// The end of a key's ttl is replicated as a time of day: the promoted server ends it 5 s early.
TEST_F(redis_sentinel_promotion, of_a_server_with_a_clock_ahead_ends_no_lease_within_clock_skew) {
  stepped_replicas on(5s);
  const auto mine = open(on.s, "ttl=30s&clock-skew=6s"), other = open(on.s);
  auto held = mine.mutex("x").acquire();
  redis_server& next = kill_master(on.s);
  expect_safe(held, next, "x");
  EXPECT_FALSE(other.mutex("x").try_acquire());
  EXPECT_TRUE(held.held());
  expect_renewable_at(next, held, 20min);
}

// The counter is ahead of its clock at first. Until the clock has caught up, claims are refused.
TEST_F(redis_sentinel_promotion, of_a_server_with_a_clock_behind_repeats_no_token) {
  stepped_replicas on(-5s);
  const auto mine = open(on.s), other = open(on.s);
  auto held = mine.mutex("x").acquire();
  auto next = std::async(std::launch::async, [m = other.mutex("x")] {
    for (const auto until = lease_clock::now() + 2min;;) {
      std::error_code ec;
      lease got = m.try_acquire_for(1min, {}, {}, ec);
      if (got || ec != errc::refused || lease_clock::now() > until) {
        EXPECT_TRUE(got) << ec.message();
        return got;
      }
      std::this_thread::sleep_for(20ms);
    }
  });
  EXPECT_TRUE(eventually_queued(on.s.master(), 1));
  expect_renewable_at(kill_master(on.s), held, 20min);
  EXPECT_EQ(next.wait_for(0s), std::future_status::timeout);
  const auto first = held.token();
  held.release();
  lease second = next.get();
  EXPECT_GT(second.token(), first);
  EXPECT_FALSE(held.held());
  lease third;
  std::error_code ec;
  EXPECT_FALSE(mine.mutex("x").try_acquire(ec));
  const auto token = second.token();
  second.release();
  EXPECT_TRUE(eventually([&] {
    third = mine.mutex("x").try_acquire(ec);
    EXPECT_TRUE(!ec || ec == errc::refused) << ec.message();
    return third.held();
  }));
  EXPECT_GT(third.token(), token);
}

// Sentinel prefers a lower priority to more data.
TEST_F(redis_sentinel_promotion, of_a_preferred_replica_that_lags_loses_locks_and_tokens_grow) {
  sentinel_servers s(quick_failover);
  redis_server& preferred = s.server(2);
  const std::string port = std::to_string(preferred.port());
  preferred.command({"CONFIG", "SET", "replica-priority", "10"});
  const auto is_preferred_by = [&](testkit::redis_sentinel& each) {
    // "ip", "127.0.0.1", "port", "21001", ..., "slave-priority", "10"
    const auto found = each.command({"SENTINEL", "REPLICAS", sentinel_servers::name()});
    for (const auto& replica : found.items) {
      const std::string fields = to_text(replica);
      if (fields.find("port, " + port + ',') != fields.npos)
        return fields.find("slave-priority, 10,") != fields.npos;
    }
    return false;
  };
  for (std::size_t i = 0; i < s.sentinel_count(); ++i)
    EXPECT_TRUE(eventually([&] { return is_preferred_by(s.sentinel(i)); })) << i;
  const auto mine = open(s), other = open(s);
  const auto held = mine.mutex("x").acquire();
  s.wait_until_copied();
  preferred.command({"CONFIG", "SET", "replica-read-only", "no"});  // as if it had not arrived
  EXPECT_EQ(preferred.command({"DEL", "x"}).number, 1);
  s.master().kill_hard();
  EXPECT_EQ(&s.wait_until_promoted(), &preferred);
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  EXPECT_FALSE(held.held());
  EXPECT_GT(token_of_next(other), held.token());
}

// After that the master may send nothing for a while, though it reports its replicas as online.
TEST_F(redis_sentinel_promotion, right_after_a_full_resync_keeps_what_was_granted_with_replicas) {
  sentinel_servers s(quick_failover);
  const auto mine = open(s, "ttl=10m&replicas=1"), other = open(s);
  token_of_next(mine);
  redis_server& master = s.master();
  const auto full_resyncs = [&] { return std::stoll(master.info("sync_full")); };
  const long long before = full_resyncs();
  for (redis_server* const each : replicas_of(s))
    each->command({"CONFIG", "SET", "masteruser", "nobody"});
  master.command({"CONFIG", "SET", "repl-backlog-size", "16384"});
  master.command({"CLIENT", "KILL", "TYPE", "replica"});
  for (int i = 0; i < 20; ++i) master.command({"SET", "filler", std::string(100'000, 'x')});
  for (redis_server* const each : replicas_of(s))
    each->command({"CONFIG", "SET", "masteruser", "testkit"});
  ASSERT_TRUE(eventually([&] { return full_resyncs() > before; }));
  auto held = mine.mutex("x").acquire();
  master.kill_hard();
  redis_server& next = s.wait_until_promoted();
  EXPECT_TRUE(is_kept(next));
  EXPECT_FALSE(other.mutex("x").try_acquire());
  expect_renewable_at(next, held, 20min);
}

}  // namespace
}  // namespace holdfast::redis_test
