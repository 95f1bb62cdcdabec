// Layout node at a real server: what it writes, what it honours, and that no removal ends another
// client's node.
#include <thread>

#include "lock_fixture.hpp"

namespace holdfast::zookeeper_test {
namespace {

const std::string of_one_node = "layout=node&unsafe=1&session-timeout=10s";

class zookeeper_single_node : public locks_at_zookeeper {
 protected:
  bool is_there() { return raw().exists(path("x")).code == error::ok; }
  bool is_watched() { return server().ask("wchp").find(path("x")) != std::string::npos; }
  zookeeper::node_stat stat() {
    return zookeeper::read_stat(raw().exists(path("x")).bytes()).value_or(zookeeper::node_stat());
  }
};

TEST_F(zookeeper_single_node, is_ephemeral_and_says_who_holds_the_lock) {
  client mine = client::open(url(of_one_node));
  mutex m(mine, "x");
  lease held = m.acquire({.note = "a note"});
  EXPECT_NE(stat().ephemeral_owner, 0);
  EXPECT_EQ(held.token() / 1024, stat().czxid);
  const auto seen = mine.holders("x");
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].note, "a note");
  EXPECT_EQ(seen[0].token, held.token());
  EXPECT_EQ(mine.list("").size(), 1u);
  std::error_code why;
  EXPECT_FALSE(mine.break_lock("x", seen[0].owner, why));
  EXPECT_EQ(why, errc::unsupported);
  held.release();
  EXPECT_FALSE(is_there());
}

TEST_F(zookeeper_single_node, of_another_client_is_waited_for) {
  client mine = client::open(url(of_one_node));
  mutex m(mine, "x");
  ASSERT_EQ(raw().create(path("x"), node_kind::ephemeral).code, error::ok);
  EXPECT_FALSE(m.try_lock());
  waiting_thread next(m);
  ASSERT_TRUE(eventually([&] { return is_watched(); }));
  EXPECT_FALSE(next.is_done);
  EXPECT_EQ(raw().remove(path("x")).code, error::ok);
  EXPECT_TRUE(next.join().held());
}

TEST_F(zookeeper_single_node, that_is_persistent_is_no_lock) {
  client mine = client::open(url(of_one_node));
  mutex m(mine, "x");
  ASSERT_EQ(raw().create(path("x")).code, error::ok);
  std::error_code why;
  EXPECT_FALSE(bool(m.acquire({}, why)));
  EXPECT_EQ(why, errc::mismatch);
  EXPECT_TRUE(mine.list("").empty());
}

TEST_F(zookeeper_single_node, that_somebody_removes_is_lost) {
  client mine = client::open(url(of_one_node));
  mutex m(mine, "x");
  lease held = m.acquire();
  EXPECT_EQ(raw().remove(path("x")).code, error::ok);
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  ASSERT_EQ(raw().create(path("x"), node_kind::ephemeral).code, error::ok);
  std::error_code why;
  held.release(why);
  EXPECT_EQ(why, errc::lost);
  EXPECT_TRUE(is_there()) << "it is another's";
}

// All that wait try again at each release; one has it.
TEST_F(zookeeper_single_node, is_had_by_one_of_all_that_wait) {
  std::atomic<int> inside{0}, turns{0};
  std::vector<std::jthread> all;
  for (int i = 0; i < 5; ++i)
    all.emplace_back([&] {
      client c = client::open(url("layout=node&unsafe=1&session-timeout=10s"));
      mutex m(c, "x");
      for (int j = 0; j < 10; ++j) {
        const lease held = m.acquire();
        EXPECT_EQ(++inside, 1);
        --inside;
        ++turns;
      }
    });
  all.clear();
  EXPECT_EQ(turns, 50);
  EXPECT_FALSE(is_there());
}

// Another client takes the lock as soon as it is free: a removal that is repeated must not end its
// node.
TEST_F(zookeeper_single_node, is_had_and_released_whatever_is_cut) {
  tcp_proxy proxy(server().port());
  client mine = client::open(url_at(proxy.port(), "layout=node&unsafe=1&session-timeout=10s"));
  mutex m(mine, "x");
  std::int64_t last = 0;
  int cuts = 0;
  for (const direction d : {direction::to_server, direction::to_client}) {
    for (std::uint64_t bytes = 0; bytes < 400; bytes += 5) {
      SCOPED_TRACE("cut after " + std::to_string(bytes) + " bytes");
      proxy.cut_after(d, bytes);
      lease held = m.acquire();
      ASSERT_GT(held.token(), last);
      last = held.token();
      std::jthread releases([&] {
        std::error_code why;
        held.release(why);
      });
      EXPECT_TRUE(eventually(
          [&] { return raw().create(path("x"), node_kind::ephemeral).code == error::ok; }));
      releases.join();
      EXPECT_TRUE(is_there());
      EXPECT_EQ(raw().remove(path("x")).code, error::ok);
      cuts += proxy.was_cut();
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(cuts, 50);
}

TEST_F(zookeeper_single_node, whose_wait_is_given_up_during_a_cut_is_left_alone) {
  tcp_proxy proxy(server().port());
  client mine = client::open(url_at(proxy.port(), "layout=node&unsafe=1&session-timeout=10s")),
         other = client::open(url(of_one_node));
  mutex a(mine, "x"), b(other, "x");
  for (std::uint64_t bytes = 0; bytes < 300; bytes += 20) {
    lease held = b.acquire();
    proxy.cut_after(direction::to_client, bytes);
    std::error_code why;
    EXPECT_FALSE(bool(a.try_acquire_for(5ms, {}, why)));
    EXPECT_TRUE(held.held());
    EXPECT_TRUE(is_there());
    held.release();
    // A create that was sent before it gave up may come after the release: then it is taken back.
    EXPECT_TRUE(eventually([&] { return !is_there(); })) << bytes;
  }
}

TEST_F(zookeeper_single_node, is_lost_by_the_clock_before_the_next_client_has_it) {
  tcp_proxy proxy(server().port());
  client mine = client::open(url_at(proxy.port(), of_one_node)),
         other = client::open(url(of_one_node));
  expect_loss_known_before_the_next_grant(mine, proxy, other, [&] { return is_watched(); });
}

}  // namespace
}  // namespace holdfast::zookeeper_test
