// Layout `redisson` as a family: one client has Redisson's locks of every kind.
#include <algorithm>

#include "fixture.hpp"
#include "testkit/thrown_by.hpp"
#include "tests/fault/kinds_of_locks.hpp"

namespace holdfast::redis_test {
namespace {

using testkit::thrown_by;

class redisson_family : public on_redis {
 protected:
  client open(const std::string& layout) {
    return client::open(server.url() + quick_with("ttl=10m&layout=" + layout));
  }
  std::string type_of(const std::string& key) { return to_text(server.command({"TYPE", key})); }

  redis_server server;
  client mine = open("redisson");
};

TEST_F(redisson_family, each_kind_of_lock_has_the_layout_that_redisson_gives_it) {
  const lease held = mine.mutex("a").acquire(), reads = mine.shared_mutex("b").acquire_shared(),
              permit = mine.semaphore("c", 2).acquire();
  EXPECT_EQ(to_text(server.command({"HGET", "a", held.owner()})), "1");
  EXPECT_EQ(to_text(server.command({"HGET", "b", "mode"})), "read");
  EXPECT_EQ(to_text(server.command({"GET", "c"})), "1");
  EXPECT_GT(held.token(), 0);
  EXPECT_EQ(permit.token(), 0) << "Redisson's permits have no numbers";
}

TEST_F(redisson_family, a_client_of_a_single_layout_is_excluded) {
  const lease writes = mine.shared_mutex("b").acquire(), permit = mine.semaphore("c", 1).acquire();
  EXPECT_FALSE(open("redisson-rw").shared_mutex("b").try_acquire_shared());
  EXPECT_FALSE(open("redisson-permits").semaphore("c", 1).try_acquire());
  EXPECT_FALSE(open("redisson").shared_mutex("b").try_acquire_shared());
}

TEST_F(redisson_family, with_fair_its_mutexes_are_fair_locks) {
  const client fair = open("redisson&fair=1");
  EXPECT_TRUE(fair.features(lock_kind::mutex).fifo);
  EXPECT_FALSE(mine.features(lock_kind::mutex).fifo);
  const lease held = fair.mutex("a").acquire();
  EXPECT_FALSE(open("redisson-fair").mutex("a").try_acquire());
  EXPECT_EQ(thrown_by([&] { (void)open("redisson-rw&fair=1"); }), errc::bad_option);
}

TEST_F(redisson_family, features_are_those_of_each_kind) {
  EXPECT_TRUE(mine.features().shared);
  EXPECT_TRUE(mine.features().permits);
  EXPECT_TRUE(mine.features(lock_kind::mutex).tokens);
  EXPECT_FALSE(mine.features(lock_kind::semaphore).tokens);
}

TEST_F(redisson_family, a_name_is_one_kind_within_a_client) {
  {
    const mutex held(mine, "x");
    EXPECT_EQ(thrown_by([&] { (void)mine.shared_mutex("x"); }), errc::mismatch);
    EXPECT_EQ(thrown_by([&] { (void)mine.semaphore("x", 2); }), errc::mismatch);
    EXPECT_EQ(thrown_by([&] { (void)mine.recursive_mutex("x"); }), std::error_code{});
  }
  const shared_mutex later(mine, "x");
  EXPECT_EQ(thrown_by([&] { (void)mine.mutex("x"); }), errc::mismatch);
}

TEST_F(redisson_family, a_name_is_one_kind_among_clients) {
  const client other = open("redisson");
  const lease held = mine.mutex("x").acquire(), reads = mine.shared_mutex("y").acquire_shared(),
              permit = mine.semaphore("z", 2).acquire();
  EXPECT_EQ(thrown_by([&] { (void)other.shared_mutex("x").try_acquire(); }), errc::mismatch);
  EXPECT_EQ(thrown_by([&] { (void)other.semaphore("x", 2).try_acquire(); }), errc::mismatch);
  EXPECT_EQ(thrown_by([&] { (void)other.semaphore("y", 2).try_acquire(); }), errc::mismatch);
  EXPECT_EQ(thrown_by([&] { (void)other.mutex("z").try_acquire(); }), errc::mismatch);
  EXPECT_EQ(thrown_by([&] { (void)other.shared_mutex("z").try_acquire(); }), errc::mismatch);
  EXPECT_EQ(thrown_by([&] { (void)other.mutex("y").try_acquire(); }), errc::mismatch);
}

TEST_F(redisson_family, holders_of_all_kinds_are_listed_once_and_can_be_broken) {
  testkit::expect_listed_once_and_breakable(mine);
}

// RLock and RReadWriteLock are both hashes, but the holds of the latter have keys besides.
TEST_F(redisson_family, a_broken_lock_of_any_kind_leaves_no_key_of_its_holder) {
  const auto is_left = [&](const std::string& name) {
    std::string left;
    for (const auto& key : server.command({"KEYS", "*"}).items)
      if (key.text.find("redisson_lock_token:") != 0) left += key.text + ' ';
    EXPECT_EQ(left, "") << name;
    return !left.empty();
  };
  const auto ends = [&](client& by, const lease& held) {
    const std::string name(held.name());
    std::vector<holder> found;
    ASSERT_TRUE(eventually([&] {  // a downgrade does not wait for the server
      found = by.holders(name);
      return found.size() == 1 && found[0].mode == held.mode();
    })) << name;
    EXPECT_TRUE(by.break_lock(name, found[0].owner)) << name;
    EXPECT_FALSE(is_left(name));
  };
  client fair = open("redisson&fair=1");
  for (client* by : {&mine, &fair}) {
    ends(*by, mine.mutex("a").acquire());
    ends(*by, mine.shared_mutex("b").acquire());
    ends(*by, mine.shared_mutex("b").acquire_shared());
    ends(*by, mine.shared_mutex("b").downgrade(mine.shared_mutex("b").acquire()));
    ends(*by, fair.mutex("a").acquire());
  }
  const client other = open("redisson");
  const lease first = mine.shared_mutex("b").acquire_shared(),
              second = other.shared_mutex("b").acquire_shared();
  for (const holder& h : mine.holders("b")) EXPECT_TRUE(mine.break_lock("b", h.owner));
  EXPECT_FALSE(is_left("two readers"));
  const lease permit = mine.semaphore("c", 2).acquire({.permits = 2});
  EXPECT_TRUE(mine.break_lock("c", mine.holders("c").at(0).owner));
  EXPECT_EQ(server.command({"KEYS", "{c}:*"}).items.size(), 0u);
  EXPECT_EQ(to_text(server.command({"GET", "c"})), "2") << "all permits are available";
}

TEST_F(redisson_family, a_single_layout_refuses_kinds_that_it_lacks_and_names_one_that_has_them) {
  const client writers = open("redisson-rw"), permits = open("redisson-permits");
  try {
    (void)writers.semaphore("x", 2);
    ADD_FAILURE() << "layout redisson-rw has semaphores";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_NE(std::string(e.what()).find("layout redisson-rw has no semaphores: leave ?layout= "
                                         "out, or use layout=redisson"),
              std::string::npos)
        << e.what();
  }
  EXPECT_EQ(thrown_by([&] { (void)permits.mutex("x"); }), errc::unsupported);
  EXPECT_EQ(thrown_by([&] { (void)permits.shared_mutex("x"); }), errc::unsupported);
}

TEST_F(redisson_family, all_kinds_survive_a_server_that_loses_its_scripts) {
  for (int round = 0; round < 2; ++round) {
    server.command({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(mine.mutex("a").try_acquire());
    EXPECT_TRUE(mine.shared_mutex("b").try_acquire_shared());
    EXPECT_TRUE(mine.semaphore("c", 2).try_acquire());
  }
}

}  // namespace
}  // namespace holdfast::redis_test
