// Whole clients of layout `redisson-fair`, on the model of Redis.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "testkit/thrown_by.hpp"
#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using testkit::thrown_by;

constexpr std::string_view queue = "redisson_lock_queue:{job}";
constexpr std::string_view deadlines = "redisson_lock_timeout:{job}";
constexpr std::string_view redissons = "5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:97";
constexpr std::string_view dead_of_ours =
    "8743c9c0-0795-4907-87fd-6c719a6b4586:8001699999999000000";

struct redisson_fair_clients : testing::Test {
  on_model world;
  client c = open();
  mutex m{c, "job"};

  ~redisson_fair_clients() override { world.changed = nullptr; }

  client open() { return world.open("layout=redisson-fair"); }
  std::string first_waiter() {
    const std::string r = world.command({"LINDEX", queue, "0"});
    return r.size() < 58 ? std::string() : r.substr(r.find("\r\n") + 2, 56);
  }
  void held_by_redisson(std::string_view ms = "60000") {
    world.command({"HSET", "job", redissons, "1"});
    world.command({"PEXPIRE", "job", ms});
  }
  void wake(const std::string& who) {
    world.command({"PUBLISH", "redisson_lock__channel:{job}:" + who, "0"});
  }
  void released_by_redisson() {
    world.command({"DEL", "job"});
    wake(first_waiter());
  }
  void queued_by_redisson(std::string_view who, base::duration time) {
    const auto at = std::chrono::floor<std::chrono::milliseconds>(world.wall() + time).count();
    world.command({"ZADD", deadlines, std::to_string(at), who});
    world.command({"RPUSH", queue, who});
  }
  // How long acquire() takes.
  base::duration waited() {
    const base::time_point before = world.now();
    const lease held = m.acquire();
    EXPECT_TRUE(held.held());
    return world.now() - before;
  }
  bool is_free() { return world.command({"EXISTS", "job"}) == ":0\r\n"; }
  bool nobody_waits() { return world.command({"EXISTS", queue, deadlines}) == ":0\r\n"; }
};

TEST_F(redisson_fair_clients, acquire_renew_and_release) {
  lease held = m.acquire();
  EXPECT_EQ(world.command({"HGET", "job", held.owner()}), "$1\r\n1\r\n");
  EXPECT_GT(held.token(), 0);
  EXPECT_TRUE(c.features().fifo);
  world.pass(5min);
  EXPECT_TRUE(held.held());
  held.release();
  EXPECT_TRUE(c.close());
  EXPECT_TRUE(is_free());
  EXPECT_EQ(world.command({"DBSIZE"}), ":1\r\n") << "the counter";
}

TEST_F(redisson_fair_clients, a_release_by_redisson_wakes_the_head) {
  held_by_redisson();
  world.at(1s, [&] { released_by_redisson(); });
  EXPECT_LT(waited(), 1100ms);
  EXPECT_TRUE(nobody_waits());
}

TEST_F(redisson_fair_clients, a_crashed_holders_expiry_wakes_the_head) {
  held_by_redisson("20000");
  const base::duration d = waited();
  EXPECT_GE(d, 20s);
  EXPECT_LT(d, 20100ms);
}

TEST_F(redisson_fair_clients, a_lost_message_costs_no_whole_lease) {
  held_by_redisson();
  world.at(1s, [&] { world.command({"DEL", "job"}); });
  EXPECT_LT(waited(), 5s);
}

TEST_F(redisson_fair_clients, a_living_waiter_keeps_its_place_for_longer_than_its_window) {
  held_by_redisson("600000");
  std::string first;
  world.at(1s, [&] { first = first_waiter(); });
  world.at(2s, [&] { queued_by_redisson(redissons, 600s); });
  world.at(5min, [&] {
    EXPECT_EQ(first_waiter(), first);
    released_by_redisson();
  });
  EXPECT_LT(waited(), 5min + 100ms);
}

TEST_F(redisson_fair_clients, a_waiter_removed_while_it_lived_asks_for_its_place_back) {
  held_by_redisson("600000");
  std::string first;
  world.at(1s, [&] {
    first = first_waiter();
    world.command({"DEL", queue, deadlines});
    queued_by_redisson(redissons, 600s);
  });
  world.at(5s, [&] {
    EXPECT_EQ(first_waiter(), first);
    released_by_redisson();
  });
  EXPECT_LT(waited(), 5100ms);
}

TEST_F(redisson_fair_clients, a_dead_head_is_waited_for_no_longer_than_its_time_and_quietly) {
  queued_by_redisson(redissons, 60s);
  int replies = 0;
  world.changed = [&](std::string bytes) {
    replies += bytes.starts_with("*2\r\n:0\r\n");
    return bytes;
  };
  const base::duration d = waited();
  EXPECT_GE(d, 60s);
  EXPECT_LT(d, 60100ms);
  EXPECT_LT(replies, 50) << "a question every few seconds";
}

TEST_F(redisson_fair_clients, a_dead_head_of_ours_is_waited_for_for_its_window_whatever_its_time) {
  queued_by_redisson(dead_of_ours, 1h);
  held_by_redisson();
  world.at(1s, [&] { world.command({"DEL", "job"}); });
  const base::duration d = waited();
  EXPECT_GE(d, 10s);
  EXPECT_LT(d, 15s) << "a window from the first request on that finds the lock free";
}

TEST_F(redisson_fair_clients, one_attempt_neither_queues_nor_passes_anybody) {
  held_by_redisson();
  EXPECT_FALSE(m.try_acquire());
  EXPECT_TRUE(nobody_waits());
  world.command({"DEL", "job"});
  queued_by_redisson(redissons, 60s);
  EXPECT_FALSE(m.try_acquire());
  EXPECT_TRUE(is_free());
}

TEST_F(redisson_fair_clients, a_waiter_that_gives_up_leaves_nothing) {
  held_by_redisson();
  EXPECT_FALSE(m.try_acquire_for(5s));
  world.pass(1s);
  EXPECT_TRUE(nobody_waits());
  world.at(1s, [&] {
    EXPECT_FALSE(nobody_waits());
    world.model.set_readonly(true);
  });
  world.at(6s, [&] { world.model.set_readonly(false); });
  EXPECT_EQ(thrown_by([&] { (void)m.try_acquire_for(3s); }), errc::unavailable);
  world.pass(1min);
  EXPECT_TRUE(nobody_waits());
  EXPECT_TRUE(c.close());
}

TEST_F(redisson_fair_clients, a_place_whose_reply_was_lost_is_given_up_too) {
  held_by_redisson();
  int cuts = 2;
  world.changed = [&](std::string bytes) {
    return bytes.starts_with("*2\r\n:0\r\n") && cuts-- > 0 ? std::string("no reply\r\n") : bytes;
  };
  EXPECT_FALSE(m.try_acquire_for(3s));
  EXPECT_LT(cuts, 1);
  world.pass(1min);
  EXPECT_TRUE(nobody_waits());
}

// A replica that is promoted may lack the last writes, as a server that restarts.
TEST_F(redisson_fair_clients, a_place_of_an_ended_claim_that_old_data_bring_back_is_withdrawn) {
  held_by_redisson();
  world.at(500ms, [&] { world.model.save(); });
  EXPECT_FALSE(m.try_acquire_for(1s)) << "it gives up";
  world.pass(100ms);
  EXPECT_TRUE(nobody_waits());
  world.model.restart(sim::kept::what_was_saved);
  EXPECT_FALSE(nobody_waits());
  lease other = c.mutex("other").acquire();
  world.pass(100ms);
  EXPECT_TRUE(nobody_waits());
  world.at(500ms, [&] { world.model.save(); });
  world.at(1s, [&] { released_by_redisson(); });
  m.acquire().release();
  world.pass(100ms);
  world.model.restart(sim::kept::what_was_saved);
  EXPECT_FALSE(nobody_waits()) << "it was granted and released";
  world.pass(1s);
  EXPECT_TRUE(nobody_waits());
}

TEST_F(redisson_fair_clients, places_of_claims_that_have_long_ended_are_not_withdrawn) {
  held_by_redisson();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(m.try_acquire_for(6s));
  int withdrawals = 0;
  world.model.restart(sim::kept::everything);
  world.changed = [&](std::string bytes) {
    for (auto at = bytes.find(":2\r\n"); at != bytes.npos; at = bytes.find(":2\r\n", at + 1))
      ++withdrawals;
    return bytes;
  };
  const lease other = c.mutex("other").acquire();
  world.pass(100ms);
  EXPECT_EQ(withdrawals, 2);
}

TEST_F(redisson_fair_clients, requests_whose_replies_are_lost_count_once) {
  held_by_redisson("3000");
  int cuts = 5;
  world.changed = [&](std::string bytes) {
    return bytes.starts_with("*2\r\n:") && cuts-- > 0 ? std::string("no reply\r\n") : bytes;
  };
  lease held = m.acquire();
  EXPECT_EQ(world.command({"HGET", "job", held.owner()}), "$1\r\n1\r\n");
  EXPECT_TRUE(nobody_waits());
  held.release();
  EXPECT_TRUE(is_free());
  EXPECT_TRUE(c.close());
}

TEST_F(redisson_fair_clients, a_server_that_forgot_its_scripts_is_sent_their_text) {
  held_by_redisson("20000");
  for (const auto when : {1s, 5s, 12s, 19s}) world.at(when, [&] { world.model.script_flush(); });
  EXPECT_LT(waited(), 21s);
  world.pass(0s);
  EXPECT_TRUE(is_free());
}

TEST_F(redisson_fair_clients, a_place_survives_an_outage_that_is_shorter_than_the_window) {
  held_by_redisson();
  std::string first;
  world.at(1s, [&] {
    first = first_waiter();
    queued_by_redisson(redissons, 400s);
    world.model.set_readonly(true);
  });
  world.at(7s, [&] { world.model.set_readonly(false); });
  world.at(20s, [&] {
    EXPECT_EQ(first_waiter(), first);
    released_by_redisson();
  });
  EXPECT_LT(waited(), 20100ms);
}

TEST_F(redisson_fair_clients, another_kind_of_lock_is_a_mismatch) {
  world.command({"HSET", "job", "mode", "write", redissons, "1"});
  EXPECT_EQ(thrown_by([&] { (void)m.acquire(); }), errc::mismatch);
  world.command({"DEL", "job"});
  world.command({"SET", queue, "text"});
  EXPECT_EQ(thrown_by([&] { (void)m.try_acquire(); }), errc::mismatch);
  EXPECT_EQ(thrown_by([&] { mutex unnamed(c, "a}b"); }), errc::bad_name);
}

TEST_F(redisson_fair_clients, show_the_holder_and_how_many_wait_and_break_the_lock) {
  held_by_redisson();
  queued_by_redisson(redissons, 60s);
  const auto found = c.holders("job");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].owner, redissons);
  EXPECT_EQ(found[0].waiting, 1);
  EXPECT_EQ(c.list("").size(), 1u) << "its other keys are no locks";
  EXPECT_TRUE(c.break_lock("job", redissons));
  EXPECT_TRUE(is_free());
  EXPECT_FALSE(nobody_waits());
}

TEST_F(redisson_fair_clients, a_waiter_that_may_not_listen_polls) {
  world.model.forbid("subscribe");
  held_by_redisson();
  world.at(20s, [&] { released_by_redisson(); });
  EXPECT_LT(waited(), 21s);
}

TEST_F(redisson_fair_clients, a_recursive_mutex_counts_its_holds_by_itself) {
  recursive_mutex r(c, "job");
  lease outer = r.acquire(), inner = r.reacquire(outer);
  EXPECT_EQ(world.command({"HGET", "job", outer.owner()}), "$1\r\n1\r\n");
  inner.release();
  EXPECT_FALSE(is_free());
  outer.release();
  EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace holdfast::redis
