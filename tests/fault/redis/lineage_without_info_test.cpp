// A user who may not use INFO: no server reports its run_id, and PUBLISH to a channel of the
// client's own shows which connections are to one server.
#include <algorithm>

#include "two_servers.hpp"

namespace holdfast::redis_test {
namespace {

constexpr const char* without_info = "lock on >secret ~* &* +@all -info";

class redis_lineage_without_info : public on_redis,
                                   public testing::WithParamInterface<const char*> {
 protected:
  static client open(int port, const std::string& more = "ttl=10m") {
    return client::open("redis://lock:secret@127.0.0.1:" + std::to_string(port) +
                        "?retry-base=2ms&layout=" + GetParam() + '&' + more);
  }
  static bool eventually_renewed_over_its_own(const floating_name& name, redis_server& at,
                                              lease& held) {
    held.extend(std::chrono::ceil<std::chrono::milliseconds>(held.remaining()));
    return eventually([&] { return std::ranges::count(name.lanes_at(at), "renewals") == 1; });
  }
};

TEST_P(redis_lineage_without_info, connections_that_are_to_one_server_are_ready) {
  redis_server server({.acl = without_info});
  floating_name name(server);
  const auto mine = open(name.proxy.port(), "ttl=6s");
  auto held = mine.mutex("x").acquire();
  EXPECT_TRUE(eventually_renewed_over_its_own(name, server, held));
  for (const std::string lane : {"commands", "messages", "renewals"}) {
    const auto before = held.expires();
    name.cut(server, lane);
    EXPECT_TRUE(eventually([&] { return held.expires() > before + 1s || !held.held(); })) << lane;
    EXPECT_TRUE(held.held()) << lane << " was cut";
    for (const std::string each : {"commands", "messages", "renewals"})
      EXPECT_TRUE(eventually([&] { return std::ranges::count(name.lanes_at(server), each) == 1; }))
          << each << " after the cut of " << lane;
  }
  EXPECT_EQ(server.command({"PUBSUB", "CHANNELS", "hf:own:*"}).items.size(), 1u);
}

TEST_P(redis_lineage_without_info, a_lease_that_another_server_does_not_know_is_lost) {
  for (const std::string lane : {"commands", "renewals", "messages"}) {
    two_servers of({.acl = without_info});
    floating_name name(of.a);
    const auto mine = open(name.proxy.port());
    of.b.promote();
    const auto other = open(of.b.port());
    auto held = mine.mutex("x").acquire();
    EXPECT_TRUE(eventually_renewed_over_its_own(name, of.a, held));
    const auto next = other.mutex("x").acquire();
    name.lead_to(of.b);
    name.cut(of.a, lane);
    EXPECT_TRUE(eventually([&] {
      (void)mine.mutex("y").try_acquire();  // reads what has ended
      return !held.held();
    })) << lane
        << " was cut";
    EXPECT_TRUE(next.held());
  }
}

TEST_P(redis_lineage_without_info, such_a_lease_is_lost_though_nothing_is_cut) {
  two_servers of({.acl = without_info});
  floating_name name(of.a);
  const auto mine = open(name.proxy.port(), "ttl=10m&probe=100ms");
  of.b.promote();
  const auto other = open(of.b.port());
  auto held = mine.mutex("x").acquire();
  EXPECT_TRUE(eventually_renewed_over_its_own(name, of.a, held));
  const auto next = other.mutex("x").acquire();
  name.lead_to(of.b);
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  EXPECT_TRUE(next.held());
}

INSTANTIATE_TEST_SUITE_P(, redis_lineage_without_info, testing::Values("string", "redisson", "lua"),
                         [](const auto& p) { return std::string(p.param); });

class redis_own_channel : public on_redis {};

TEST_F(redis_own_channel, is_counted_by_the_server_of_its_subscriber_alone) {
  two_servers of;
  auto listens = of.b.link();
  listens.send({"SUBSCRIBE", "hf:own:1"});
  (void)listens.receive();
  EXPECT_EQ(of.a.command({"PUBLISH", "hf:own:1", "0"}).number, 0);
  EXPECT_EQ(listens.receive().items.at(2).text, "0") << "the replica passes it on";
}

TEST_F(redis_own_channel, is_not_needed_to_hold_a_lock) {
  redis_server server({.acl = "lock on >secret ~* resetchannels &redisson* +@all -info"});
  for (const std::string layout : {"redisson", "lua"}) {
    const auto mine =
        client::open("redis://lock:secret@127.0.0.1:" + std::to_string(server.port()) +
                     "?ttl=6s&layout=" + layout);
    auto held = mine.mutex(layout).acquire();
    const auto first = held.expires();
    EXPECT_TRUE(eventually([&] { return held.expires() > first; })) << "is not renewed";
  }
}

}  // namespace
}  // namespace holdfast::redis_test
