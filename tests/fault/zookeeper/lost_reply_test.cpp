// Locks over a connection that is cut, and under parents that the server removes.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "fixture.hpp"

namespace holdfast::zookeeper_test {
namespace {

class zookeeper_lost_replies : public on_zookeeper {};

// A client behind a proxy, and a session that sees the nodes.
struct cut_fixture {
  zookeeper_server server{{.config = {"maxSessionTimeout=10000"}}};
  tcp_proxy proxy{server.port()};
  session_client other{server.url()};
  client mine = client::open(at_port(proxy.port(), "?session-timeout=10s&op-timeout=20s"));

  cut_fixture() { other.open(); }
  int nodes() {
    const auto stat = zookeeper::read_stat(other.exists("/x").bytes());
    return stat ? stat->children : 0;
  }
};

// A create whose reply is lost leaves a node of this session. It is found and used, or removed:
// waited for, it would never go.
void acquires_and_releases_whatever_is_cut(direction d) {
  constexpr std::uint64_t of_a_cycle = 420;  // more than a cycle takes, in either direction
  cut_fixture on;
  std::int64_t last = 0;
  for (std::uint64_t byte = 0; byte < of_a_cycle; byte += 5) {
    SCOPED_TRACE("cut after " + std::to_string(byte) + " bytes");
    on.proxy.cut_after(d, byte);
    lease held = on.mine.mutex("x").acquire();
    EXPECT_TRUE(held.held());
    EXPECT_GT(held.token(), last);
    last = held.token();
    EXPECT_TRUE(eventually([&] { return on.nodes() == 1; })) << on.nodes();
    std::error_code ec;
    held.release(ec);
    EXPECT_TRUE(eventually([&] { return on.nodes() == 0; })) << on.nodes();
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(zookeeper_lost_replies, leave_no_node_behind) {
  acquires_and_releases_whatever_is_cut(direction::to_client);
}
TEST_F(zookeeper_lost_replies, and_lost_requests_leave_no_node_behind) {
  acquires_and_releases_whatever_is_cut(direction::to_server);
}

// The parent goes as soon as it is empty, also between the requests of a client.
TEST_F(zookeeper_lost_replies, and_parents_that_the_server_removes_at_once_are_made_again) {
  const zookeeper_server server({.properties = {"znode.container.checkIntervalMs=1"}});
  const client clients[] = {client::open(server.url()), client::open(server.url())};
  session_client other(server.url());
  other.open();
  std::atomic<int> inside{0};
  std::vector<std::thread> all;
  for (const client& c : clients)
    all.emplace_back([&] {
      for (int i = 0; i < 150; ++i) {
        const lease held = c.mutex("x").acquire();
        EXPECT_EQ(++inside, 1);
        --inside;
      }
    });
  for (std::thread& t : all) t.join();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(eventually([&] { return other.exists("/x").code == error::no_node; }));
    EXPECT_TRUE(clients[0].mutex("x").acquire().held());
  }
  EXPECT_TRUE(other.close());
}

// While the waiter is away, the node before its own is removed and made again at the same path: an
// event of data, not of a deletion. Who holds now is another.
TEST_F(zookeeper_lost_replies, and_a_node_that_was_made_again_meanwhile_grant_nothing) {
  cut_fixture on;
  const std::string path = "/x/_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000000";
  ASSERT_EQ(on.other.create("/x", node_kind::container).code, error::ok);
  ASSERT_EQ(on.other.create(path, node_kind::ephemeral).code, error::ok);
  std::atomic<bool> is_granted{false};
  lease held;
  std::thread waiter([&] {
    held = on.mine.mutex("x").acquire();
    is_granted = true;
  });
  const auto watches = [&] { return on.server.ask("wchp").find(path) != std::string::npos; };
  EXPECT_TRUE(eventually(watches));
  on.proxy.refuse(true);
  on.proxy.reset_all();
  EXPECT_EQ(on.other.remove(path).code, error::ok);
  EXPECT_EQ(on.other.create(path, node_kind::ephemeral).code, error::ok);
  EXPECT_TRUE(eventually([&] { return !watches(); }));
  on.proxy.refuse(false);
  EXPECT_TRUE(eventually(watches)) << "it waits for the new node";
  EXPECT_FALSE(is_granted);
  EXPECT_EQ(on.other.remove(path).code, error::ok);
  waiter.join();
  EXPECT_TRUE(held.held());
}

}  // namespace
}  // namespace holdfast::zookeeper_test
