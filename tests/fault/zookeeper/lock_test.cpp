// Locks at one ZooKeeper server on its bad days: sessions that end, replies that get lost, nodes
// that others make and remove.
#include <atomic>
#include <thread>

#include "lock_fixture.hpp"

namespace holdfast::zookeeper_test {
namespace {

class zookeeper_locks : public locks_at_zookeeper {};

TEST_F(zookeeper_locks, are_lost_by_the_clock_before_the_next_client_has_them) {
  tcp_proxy proxy(server().port());
  client mine = client::open(url_at(proxy.port())), other = client::open(url());
  expect_loss_known_before_the_next_grant(mine, proxy, other,
                                          [&] { return nodes_of("x").size() == 2; });
  EXPECT_TRUE(bool(mine.mutex("x").acquire())) << "under a new session";
}

TEST_F(zookeeper_locks, are_waited_for_over_the_end_of_a_session) {
  tcp_proxy proxy(server().port());
  client holder = client::open(url()), waiter = client::open(url_at(proxy.port()));
  mutex a(holder, "x"), b(waiter, "x");
  lease held = a.acquire();
  waiting_thread next(b);
  ASSERT_TRUE(eventually([&] { return nodes_of("x").size() == 2; }));
  proxy.set_both({.hold = true});
  ASSERT_TRUE(eventually([&] { return nodes_of("x").size() == 1; }));
  proxy.set_both({});
  ASSERT_TRUE(eventually([&] { return nodes_of("x").size() == 2; }));
  EXPECT_FALSE(next.is_done);
  held.release();
  EXPECT_TRUE(bool(next.join()));
  EXPECT_EQ(nodes_of("x").size(), 1u);
}

TEST_F(zookeeper_locks, that_are_released_when_the_session_ends_leave_no_node) {
  tcp_proxy proxy(server().port());
  client mine = client::open(url_at(proxy.port(), "session-timeout=6s&op-timeout=3s"));
  mutex a(mine, "x");
  lease held = a.acquire();
  proxy.set_both({.hold = true});
  std::error_code why;
  held.release(why);
  EXPECT_EQ(why, errc::outcome_unknown);
  EXPECT_TRUE(eventually([&] { return nodes_of("x").empty(); }));
  proxy.set_both({});
  proxy.reset_all();
  EXPECT_TRUE(bool(a.acquire()));
}

// An acquire and a release over a connection that is cut after each number of bytes, either way.
TEST_F(zookeeper_locks, survive_a_cut_at_any_byte) {
  tcp_proxy proxy(server().port());
  client mine = client::open(url_at(proxy.port(), "session-timeout=10s")),
         other = client::open(url());
  fault_test::call_recorder calls;
  int cuts = 0;
  for (const direction d : {direction::to_server, direction::to_client}) {
    for (std::uint64_t bytes = 0; bytes < 420; bytes += bytes < 200 ? 3 : 11) {
      proxy.cut_after(d, bytes);
      lease held = calls.acquire("a", mine, "x");
      ASSERT_TRUE(held);
      EXPECT_FALSE(calls.release("a", held));
      held = calls.acquire("b", other, "x");
      EXPECT_EQ(nodes_of("x").size(), 1u) << bytes;
      EXPECT_FALSE(calls.release("b", held));
      cuts += proxy.was_cut();
    }
  }
  EXPECT_GT(cuts, 100);
  EXPECT_EQ(to_text(calls.violations()), "");
  EXPECT_TRUE(eventually([&] { return nodes_of("x").empty(); }));
}

TEST_F(zookeeper_locks, whose_wait_is_given_up_during_a_cut_leave_no_node) {
  tcp_proxy proxy(server().port());
  client mine = client::open(url_at(proxy.port(), "session-timeout=10s")),
         holder = client::open(url());
  mutex a(mine, "x"), b(holder, "x");
  for (std::uint64_t bytes = 0; bytes < 400; bytes += 20) {
    lease held = b.acquire();
    proxy.cut_after(direction::to_client, bytes);
    std::error_code why;
    EXPECT_FALSE(bool(a.try_acquire_for(5ms, {}, why)));
    EXPECT_TRUE(eventually([&] { return nodes_of("x").size() == 1; })) << bytes;
    held.release();
  }
}

TEST_F(zookeeper_locks, of_a_session_that_is_gone_are_waited_for) {
  auto gone = std::make_unique<session_client>(url("session-timeout=6s"));
  gone->open();
  ASSERT_EQ(raw().create(path("x")).code, error::ok);
  ASSERT_EQ(gone->create(path("x/_c_before-lock-"), node_kind::ephemeral_sequential).code,
            error::ok);
  client mine = client::open(url());
  mutex a(mine, "x");
  waiting_thread next(a);
  ASSERT_TRUE(eventually([&] { return nodes_of("x").size() == 2; }));
  gone.reset();
  EXPECT_TRUE(bool(next.join()));
}

TEST_F(zookeeper_locks, are_lost_with_a_node_that_somebody_removes) {
  client mine = client::open(url());
  mutex a(mine, "x");
  lease held = a.acquire();
  const auto all = nodes_of("x");
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(raw().remove(path("x/" + all.front())).code, error::ok);
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  EXPECT_EQ(held.status(), errc::lost);
}

TEST_F(zookeeper_locks, are_queued_for_again_when_somebody_removes_the_node) {
  client holder = client::open(url()), waiter = client::open(url());
  mutex a(holder, "x"), b(waiter, "x");
  lease held = a.acquire();
  const auto before = nodes_of("x");
  waiting_thread next(b);
  ASSERT_TRUE(eventually([&] { return nodes_of("x").size() == 2; }));
  for (const std::string& node : nodes_of("x")) {
    if (node == before.front()) continue;
    ASSERT_EQ(raw().remove(path("x/" + node)).code, error::ok);
  }
  ASSERT_TRUE(eventually([&] { return nodes_of("x").size() == 2; }));
  EXPECT_FALSE(next.is_done);
  held.release();
  EXPECT_TRUE(bool(next.join()));
}

// A waiter that gives up is nobody's release.
TEST_F(zookeeper_locks, are_not_granted_by_the_end_of_a_waiter_before) {
  client holder = client::open(url()), waiter = client::open(url());
  mutex a(holder, "x"), b(waiter, "x");
  lease held = a.acquire();
  ASSERT_EQ(raw().create(path("x/_c_between-lock-"), node_kind::ephemeral_sequential).code,
            error::ok);
  const auto before = nodes_of("x");
  waiting_thread next(b);
  ASSERT_TRUE(eventually([&] { return nodes_of("x").size() == 3; }));
  for (const std::string& node : before) {
    if (node.find("between") == node.npos) continue;
    ASSERT_EQ(raw().remove(path("x/" + node)).code, error::ok);
  }
  for (int looks = 0; looks < 3; ++looks) (void)waiter.holders("x");  // behind the event
  EXPECT_FALSE(next.is_done);
  held.release();
  EXPECT_TRUE(bool(next.join()));
}

TEST_F(zookeeper_locks, respect_nodes_of_other_clients_and_no_others) {
  ASSERT_EQ(raw().create(path("x")).code, error::ok);
  ASSERT_EQ(raw().create(path("x/0-child")).code, error::ok);
  ASSERT_EQ(raw().create(path("x/zebra")).code, error::ok);
  client mine = client::open(url());
  mutex a(mine, "x");
  EXPECT_TRUE(bool(a.try_acquire()));
  ASSERT_EQ(raw().create(path("x/0123-lock-0000000000")).code, error::ok) << "as Go's client";
  EXPECT_FALSE(bool(a.try_acquire()));
}

// The server removes the container of a lock as soon as it is empty.
TEST_F(zookeeper_locks, outlive_their_container) {
  client mine = client::open(url()), other = client::open(url());
  fault_test::call_recorder calls;
  const auto cycle = [&](const std::string& process, const client& c) {
    for (int i = 0; i < 60; ++i) {
      lease held = calls.acquire(process, c, "x");
      calls.check(process, held);
      EXPECT_FALSE(calls.release(process, held));
      if (i % 4 == 0) std::this_thread::sleep_for(20ms);
    }
  };
  std::thread beside([&] { cycle("b", other); });
  cycle("a", mine);
  beside.join();
  EXPECT_EQ(to_text(calls.violations({.wake_bound = 20s})), "");
  EXPECT_TRUE(eventually([&] { return raw().exists(path("x")).code == error::no_node; }));
}

// Their list is longer than what a server takes in one request.
TEST_F(zookeeper_locks, are_granted_behind_20_000_nodes) {
  auto contenders = std::make_unique<session_client>(url("session-timeout=40s"));
  contenders->open();
  ASSERT_EQ(raw().create(path("x")).code, error::ok);
  constexpr int in_one = 1000;
  for (int done = 0; done < 20'000; done += in_one) {
    std::string body;
    zookeeper::multi_writer w(body);
    for (int i = 0; i < in_one; ++i)
      w.create(path("x/_c_00000000-0000-4000-8000-000000000000-lock-"), {},
               node_kind::ephemeral_sequential, acl_of::anyone);
    w.end();
    ASSERT_EQ(contenders->call(opcode::multi, body).code, error::ok);
  }
  client mine = client::open(url("session-timeout=40s"));
  mutex a(mine, "x");
  EXPECT_FALSE(bool(a.try_acquire()));
  waiting_thread next(a);
  ASSERT_TRUE(contenders->close());
  EXPECT_TRUE(bool(next.join()));
}

}  // namespace
}  // namespace holdfast::zookeeper_test
