// A holder that loses one of several nodes.
#include "lock_fixture.hpp"

namespace holdfast::zookeeper_test {
namespace {

class zookeeper_lost_node : public locks_at_zookeeper {};

// Its session lives on, so the server removes none of them.
TEST_F(zookeeper_lost_node, of_a_semaphore_returns_the_other_permits_to_the_waiter) {
  const std::string options = "layout=curator-semaphore&session-timeout=10s";
  constexpr acquire_options two{.permits = 2};
  client mine = client::open(url(options)), other = client::open(url(options));
  semaphore s(mine, "s", 2), waited_for(other, "s", 2);
  lease held = s.acquire(two);
  const std::vector<std::string> nodes = nodes_of("s/leases");
  ASSERT_EQ(nodes.size(), 2u);
  std::atomic<bool> is_served{false};
  std::jthread waiter([&] {
    const lease both = waited_for.acquire(two);
    is_served = true;
  });
  ASSERT_TRUE(eventually([&] { return nodes_of("s/locks").size() == 1; }));
  EXPECT_EQ(raw().remove(path("s/leases/") + nodes.front()).code, error::ok);
  EXPECT_TRUE(eventually([&] { return is_served.load(); }));
  EXPECT_EQ(held.status(), errc::lost);
  if (!is_served) raw().remove(path("s/leases/") + nodes.back());  // ends the waiter
}

}  // namespace
}  // namespace holdfast::zookeeper_test
