// The name of a server leads to its promoted replica, while the former master still takes writes
// and some connections stay there.
#include <algorithm>

#include "two_servers.hpp"

namespace holdfast::redis_test {
namespace {

class redis_lineage : public on_redis, public testing::WithParamInterface<const char*> {
 protected:
  static std::string options_with(const std::string& more) {
    return std::string("?retry-base=2ms&close-timeout=30s&layout=") + GetParam() + '&' + more;
  }
  // With a lease that does not end by itself, and no probe, within a test.
  static client open(const std::string& url, const std::string& more = "ttl=10m") {
    return client::open(url + options_with(more));
  }
};

bool is_kept(redis_server& s) { return s.command({"EXISTS", "x"}).number != 0; }

bool eventually_open(const floating_name& name, redis_server& at, const std::string& lane) {
  return eventually([&] { return std::ranges::count(name.lanes_at(at), lane) == 1; });
}

// The connection for renewals is made with the first of them.
void renew_at(redis_server& at, const floating_name& name, lease& held) {
  held.extend(std::chrono::ceil<std::chrono::milliseconds>(held.remaining()));
  EXPECT_TRUE(eventually_open(name, at, "renewals"));
}

TEST_P(redis_lineage, a_lease_that_the_new_master_does_not_know_is_lost_whichever_lane_is_cut) {
  for (const std::string lane : {"commands", "renewals", "messages"}) {
    two_servers of;
    floating_name name(of.a);
    const auto mine = open(name.url());
    of.b.promote();
    const auto other = open(of.b.url());
    auto held = mine.mutex("x").acquire();
    renew_at(of.a, name, held);
    const auto lanes = name.lanes_at(of.a);
    if (std::ranges::count(lanes, lane) == 0) continue;  // the layout has no use for it now
    const auto next = other.mutex("x").acquire();
    name.lead_to(of.b);
    name.cut(of.a, lane);
    EXPECT_TRUE(eventually([&] { return !held.held(); })) << lane << " was cut";
    EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); })) << lane;
    EXPECT_TRUE(next.held());
    EXPECT_TRUE(is_kept(of.b));
  }
}

TEST_P(redis_lineage, a_lease_that_was_copied_is_confirmed_at_the_new_master) {
  constexpr auto ttl = 6s;
  for (const std::string lane : {"commands", "renewals"}) {
    two_servers of;
    floating_name name(of.a);
    const auto mine = open(name.url(), "ttl=6s");
    auto held = mine.mutex("x").acquire();
    renew_at(of.a, name, held);
    EXPECT_TRUE(eventually([&] { return is_kept(of.b); }));
    const auto first = held.expires();
    of.b.promote();
    name.lead_to(of.b);
    name.cut(of.a, lane);
    // Only renewals at the new master keep its key for so long.
    EXPECT_TRUE(eventually([&] { return !held.held() || held.expires() > first + 2 * ttl; }));
    EXPECT_TRUE(held.held()) << lane << " was cut";
    expect_safe(held, of.b, "x");
    EXPECT_FALSE(open(of.b.url()).mutex("x").try_acquire());
  }
}

TEST_P(redis_lineage, a_lease_that_the_new_master_does_not_know_is_lost_though_nothing_is_cut) {
  two_servers of;
  floating_name name(of.a);
  const auto mine = open(name.url(), "ttl=10m&probe=100ms");
  of.b.promote();
  const auto other = open(of.b.url());
  auto held = mine.mutex("x").acquire();
  renew_at(of.a, name, held);
  const auto next = other.mutex("x").acquire();
  name.lead_to(of.b);
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  EXPECT_TRUE(next.held());
}

TEST_P(redis_lineage, a_release_under_way_is_repeated_at_the_new_master) {
  two_servers of;
  floating_name name(of.a);
  auto mine = open(name.url(), "ttl=10m&op-timeout=60s");
  auto held = mine.mutex("x").acquire();
  renew_at(of.a, name, held);
  EXPECT_TRUE(eventually([&] { return is_kept(of.b); }));
  name.proxy.set(direction::to_server, {.hold = true});
  held.unlock();
  name.proxy.set(direction::to_server, {}, applies_to::new_connections);
  of.b.promote();
  name.move_to(of.b);
  EXPECT_TRUE(mine.close());
  EXPECT_FALSE(is_kept(of.b));
}

TEST_P(redis_lineage, a_client_leaves_a_master_that_was_demoted) {
  two_servers of;
  floating_name name(of.a);
  const auto mine = open(name.url()), waiting = open(name.url());
  mine.mutex("x").acquire().release();
  waiting.mutex("y").acquire().release();
  of.a.fail_over_to(of.b);
  name.lead_to(of.b);
  const auto fresh = open(name.url());
  for (const client& c : {mine, waiting, fresh}) {
    std::error_code ec;
    auto held = c.mutex("x").try_acquire_for(in_bounds, {}, {}, ec);
    EXPECT_TRUE(held) << ec.message();
    EXPECT_TRUE(is_kept(of.b));
    if (held) held.release();
  }
}

TEST_P(redis_lineage, no_lease_is_lost_by_a_failover_that_loses_nothing) {
  constexpr auto ttl = 6s;
  two_servers of;
  floating_name name(of.a);
  const auto mine = open(name.url(), "ttl=6s");
  auto held = mine.mutex("x").acquire();
  renew_at(of.a, name, held);
  const auto first = held.expires();
  of.a.fail_over_to(of.b);
  name.lead_to(of.b);
  EXPECT_TRUE(eventually([&] { return !held.held() || held.expires() > first + 2 * ttl; }));
  EXPECT_TRUE(held.held());
  expect_safe(held, of.b, "x");
}

// No probe finds it: a renewal that is refused does.
TEST_P(redis_lineage, the_holder_of_a_lease_leaves_a_demoted_master_with_its_next_renewal) {
  two_servers of;
  floating_name name(of.a);
  const auto mine = open(name.url(), "ttl=6s&probe=0");
  std::vector<lease> held;
  held.push_back(mine.mutex("x").acquire());
  if (GetParam() == std::string("string")) held.push_back(mine.shared_mutex("y").acquire_shared());
  for (lease& each : held) renew_at(of.a, name, each);
  of.a.fail_over_to(of.b);
  name.lead_to(of.b);
  for (const lease& each : held) {
    const auto before = each.expires();
    EXPECT_TRUE(eventually([&] { return !each.held() || each.expires() > before + 6s; }));
    EXPECT_TRUE(each.held());
  }
  expect_safe(held.front(), of.b, "x");
}

// What a connection that was given up had written is at the first server, and arrives when the
// client has come back from another one.
TEST_P(redis_lineage, an_abandoned_acquire_is_not_executed_after_the_return_to_its_server) {
  two_servers of;
  floating_name name(of.a);
  const auto mine = open(name.url(), "ttl=10m&op-timeout=5s");
  mine.mutex("y").acquire().release();
  EXPECT_TRUE(eventually_open(name, of.a, "commands"));
  std::uint64_t last_before = 0;
  for (const auto& c : name.proxy.connections()) last_before = std::max(last_before, c.number);
  name.proxy.set(direction::to_server, {.hold = true});
  const auto t = told_by([&] { (void)mine.mutex("x").try_acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  name.proxy.set(direction::to_server, {}, applies_to::new_connections);

  of.a.fail_over_to(of.b);
  name.lead_to(of.b);
  EXPECT_TRUE(mine.mutex("y").try_acquire_for(in_bounds));
  EXPECT_TRUE(eventually_open(name, of.b, "commands"));
  of.b.fail_over_to(of.a);
  name.lead_to(of.a);
  EXPECT_TRUE(mine.mutex("y").try_acquire_for(in_bounds));

  name.proxy.set(direction::to_server, {});
  EXPECT_TRUE(eventually([&] {
    return std::ranges::none_of(name.proxy.connections(),
                                [&](const auto& c) { return c.number <= last_before; });
  }));
  EXPECT_EQ(of.a.command({"EXISTS", "x"}).number, 0);
}

// The lock was held at the former master, and the new one does not know it. No lease ends, and no
// client probes, within the test.
TEST_P(redis_lineage, a_waiter_gets_a_free_lock_soon_after_the_move) {
  two_servers of;
  floating_name holders(of.a), waiters(of.a);
  of.b.promote();
  const auto mine = open(holders.url()), other = open(waiters.url());
  const auto held = mine.mutex("x").acquire();
  std::error_code ec;
  lease next;
  lease_clock::time_point granted;
  std::jthread waits([&] {
    next = other.mutex("x").acquire({}, {}, ec);
    granted = lease_clock::now();
  });
  EXPECT_TRUE(eventually_open(waiters, of.a, "commands"));
  const auto moved = lease_clock::now();
  holders.move_to(of.b);
  waiters.move_to(of.b);
  waits.join();
  EXPECT_TRUE(next.held()) << ec.message();
  EXPECT_LT(granted - moved, in_bounds);
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
}

INSTANTIATE_TEST_SUITE_P(, redis_lineage, testing::Values("string", "redisson", "lua"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace holdfast::redis_test
