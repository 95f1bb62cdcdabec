// Processes that are stopped or killed while they hold the lock or wait for it.
#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_holder : public on_redis {};

using history::history_now;
using history::operation;
using history::record;
using history::result;

std::int64_t nanoseconds(lease_clock::time_point t) { return t.time_since_epoch().count(); }

record noted(const char* process, operation what, const lease& held, std::int64_t call) {
  return {.process = process,
          .lock = "x",
          .what = what,
          .call = call,
          .back = history_now(),
          .outcome = held.held() ? result::ok : result::lost,
          .token = held.token(),
          .deadline = nanoseconds(held.expires())};
}

TEST_F(redis_holder, that_is_stopped_beyond_its_lease_knows_when_it_continues) {
  redis_server server;
  const testkit::scratch_folder folder;
  history::history_writer history(folder.file("history"));
  other_process holder([&](const other_process::line& l) {
    const auto c = client::open(server.url() + "?ttl=400ms");
    auto call = history_now();
    auto held = c.mutex("x").acquire();
    history.add(noted("1", operation::acquire, held, call));
    l.say("held");
    l.hear();
    call = history_now();
    const bool still = held.held();  // the first thing after the stop: no request, no wait
    history.add(noted("1", operation::check, held, call));
    l.say(still ? "holds" : "lost");
    l.say(held.loss_token().stop_requested() ? "told" : "asked");
    std::error_code ec;
    held.release(ec);
    l.say(ec == outcome::lost ? "lost" : "released");
  });
  ASSERT_EQ(holder.hear(), "held");
  holder.stop();
  const auto c = client::open(server.url());
  const auto call = history_now();
  auto next = c.mutex("x").acquire();
  history.add(noted("2", operation::acquire, next, call));
  holder.say("on");
  holder.go_on();
  EXPECT_EQ(holder.hear(), "lost");
  holder.hear();
  EXPECT_EQ(holder.hear(), "lost");
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_TRUE(next.held());
  history.add(noted("2", operation::check, next, history_now()));
  expect_safe(next, server, "x");
  const auto records = history::read_history(folder.file("history")).records;
  EXPECT_EQ(records.size(), 4u);
  EXPECT_EQ(to_text(history::check(records)), "");
}

TEST_F(redis_holder, that_is_killed_is_followed_when_its_lease_has_run_out) {
  redis_server server;
  other_process holder([&](const other_process::line& l) {
    const auto c = client::open(server.url() + "?ttl=4s");
    const auto held = c.mutex("x").acquire();
    l.say("held");
    l.hear();
  });
  ASSERT_EQ(holder.hear(), "held");
  const auto c = client::open(server.url());
  EXPECT_FALSE(c.mutex("x").try_acquire());
  holder.kill();
  const auto t = told_by([&] { EXPECT_TRUE(c.mutex("x").acquire()); });
  EXPECT_LT(t.took, in_bounds);
}

TEST_F(redis_holder, s_next_waiter_may_be_dead_and_the_one_behind_it_is_served_at_once) {
  redis_server server;
  other_process waiter([&](const other_process::line& l) {
    const auto c = client::open(server.url());
    l.say("open");
    l.hear();
    const auto held = c.mutex("x").acquire();
    l.say("served");
    l.hear();
  });
  const auto c = client::open(server.url() + "?ttl=1m");
  const auto other = client::open(server.url() + "?ttl=1m");
  auto held = c.mutex("x").acquire();
  ASSERT_EQ(waiter.hear(), "open");
  waiter.say("wait");
  ASSERT_TRUE(eventually_queued(server, 1));
  lease second;
  std::jthread behind([&] { second = other.mutex("x").acquire(); });
  ASSERT_TRUE(eventually_queued(server, 2));
  waiter.kill();
  const auto t = told_by([&] {
    held.release();
    behind.join();
  });
  EXPECT_TRUE(second.held());
  EXPECT_LT(t.took, in_bounds);
}

TEST_F(redis_holder, s_waiters_may_all_be_stopped_and_the_lock_is_not_lost) {
  redis_server server;
  other_process waiter([&](const other_process::line& l) {
    const auto c = client::open(server.url() + "?ttl=1m");
    l.say("open");
    l.hear();
    const auto held = c.mutex("x").acquire();
    l.say(held.held() ? "served" : "lost");
    l.hear();
  });
  const auto c = client::open(server.url());
  auto held = c.mutex("x").acquire();
  ASSERT_EQ(waiter.hear(), "open");
  waiter.say("wait");
  ASSERT_TRUE(eventually_queued(server, 1));
  waiter.stop();
  held.release();
  // It does not take up the grant in the time it has: the lock is anybody's, and its own in turn.
  auto again = c.mutex("x").try_acquire_for(30s);
  EXPECT_TRUE(again);
  waiter.go_on();
  again.unlock();
  EXPECT_EQ(waiter.hear(), "served");
}

TEST_F(redis_holder, s_forked_child_neither_holds_nor_releases) {
  redis_server server;
  const auto c = client::open(server.url());
  auto held = c.mutex("x").acquire();
  other_process child([&](const other_process::line& l) {
    l.say(held.held() ? "holds" : "not");
    held.unlock();
    l.say("end");
  });
  EXPECT_EQ(child.hear(), "not");
  EXPECT_EQ(child.hear(), "end");
  child.wait();
  EXPECT_TRUE(held.held());
  expect_safe(held, server, "x");
  held.release();
}

}  // namespace
}  // namespace holdfast::redis_test
