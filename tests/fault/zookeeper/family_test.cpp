// Layout `curator` as a family: one client, with one session, has Curator's locks of every kind.
#include "lock_fixture.hpp"
#include "testkit/thrown_by.hpp"
#include "tests/fault/kinds_of_locks.hpp"

namespace holdfast::zookeeper_test {
namespace {

using testkit::thrown_by;

class curator_family : public locks_at_zookeeper {
 protected:
  client open(const std::string& layout = {}) {
    return client::open(url("session-timeout=10s" + (layout.empty() ? "" : "&layout=" + layout)));
  }
};

TEST_F(curator_family, each_kind_of_lock_has_the_layout_that_curator_gives_it) {
  const client mine = open();
  const lease held = mine.mutex("a").acquire(), reads = mine.shared_mutex("b").acquire_shared(),
              writes = mine.shared_mutex("c").acquire(), permit = mine.semaphore("d", 2).acquire();
  const auto only_node = [&](const std::string& below) {
    const auto all = nodes_of(below);
    return all.size() == 1 ? all.front() : std::to_string(all.size()) + " nodes";
  };
  EXPECT_NE(only_node("a").find("-lock-"), std::string::npos) << only_node("a");
  EXPECT_NE(only_node("b").find("__READ__"), std::string::npos) << only_node("b");
  EXPECT_NE(only_node("c").find("__WRIT__"), std::string::npos) << only_node("c");
  EXPECT_NE(only_node("d/leases").find("-lease-"), std::string::npos) << only_node("d/leases");
}

TEST_F(curator_family, all_kinds_live_in_one_session) {
  const client mine = open();
  const lease held = mine.mutex("a").acquire(), reads = mine.shared_mutex("b").acquire_shared();
  const auto owner_of = [&](const std::string& lock) {
    const auto stat =
        zookeeper::read_stat(raw().exists(path(lock + '/' + nodes_of(lock).front())).bytes());
    return stat ? stat->ephemeral_owner : 0;
  };
  EXPECT_NE(owner_of("a"), 0);
  EXPECT_EQ(owner_of("a"), owner_of("b"));
}

TEST_F(curator_family, a_client_of_a_single_layout_is_excluded) {
  const client mine = open();
  const lease writes = mine.shared_mutex("b").acquire(), permit = mine.semaphore("c", 1).acquire();
  EXPECT_FALSE(open("curator-rw").shared_mutex("b").try_acquire_shared());
  EXPECT_FALSE(open("curator-semaphore").semaphore("c", 1).try_acquire());
}

TEST_F(curator_family, a_name_is_one_kind_within_a_client) {
  const client mine = open();
  {
    const mutex held(mine, "x");
    EXPECT_EQ(thrown_by([&] { (void)mine.shared_mutex("x"); }), errc::mismatch);
    EXPECT_EQ(thrown_by([&] { (void)mine.semaphore("x", 2); }), errc::mismatch);
  }
  const semaphore later(mine, "x", 2);
  EXPECT_EQ(thrown_by([&] { (void)mine.mutex("x"); }), errc::mismatch);
}

TEST_F(curator_family, a_mutex_and_a_shared_mutex_of_one_name_are_reported_among_clients) {
  const client mine = open(), other = open();
  const lease held = mine.mutex("x").acquire(), reads = mine.shared_mutex("y").acquire_shared();
  EXPECT_EQ(thrown_by([&] { (void)other.shared_mutex("x").try_acquire_shared(); }), errc::mismatch);
  EXPECT_EQ(thrown_by([&] { (void)other.mutex("y").try_acquire(); }), errc::mismatch);
  EXPECT_TRUE(eventually([&] { return nodes_of("x").size() == 1 && nodes_of("y").size() == 1; }))
      << "a request that is refused leaves no node";
}

TEST_F(curator_family, holders_of_all_kinds_are_listed_once_and_can_be_broken) {
  testkit::expect_listed_once_and_breakable(open("curator&revocation-timeout=0s"));
}

TEST_F(curator_family, a_single_layout_refuses_kinds_that_it_lacks_and_names_one_that_has_them) {
  const client nodes = open("curator-rw");
  try {
    (void)nodes.semaphore("x", 2);
    ADD_FAILURE() << "layout curator-rw has semaphores";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_NE(std::string(e.what()).find("layout curator-rw has no semaphores: use layout=curator"),
              std::string::npos)
        << e.what();
  }
  EXPECT_EQ(thrown_by([&] { (void)open("kazoo").shared_mutex("x"); }), errc::unsupported);
}

}  // namespace
}  // namespace holdfast::zookeeper_test
