// Whole clients of layouts `redisson` and `redisson-spin`, on the model of Redis.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testkit/thrown_by.hpp"
#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using testkit::thrown_by;

constexpr std::string_view foreign_owner = "5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:97";
constexpr std::string_view channel_of_job = "redisson_lock__channel:{job}";
constexpr std::string_view counter_of_job = "redisson_lock_token:{job}";

struct redisson_clients : testing::Test {
  on_model world;
  client c = world.open("layout=redisson");
  mutex m{c, "job"};

  ~redisson_clients() override { world.changed = nullptr; }

  void at(base::duration d, std::function<void()> what) { world.at(d, std::move(what)); }
  void pass(base::duration d) { world.pass(d); }
  void held_by_another(std::string_view ms = "60000") {
    world.command({"HSET", "job", foreign_owner, "1"});
    world.command({"PEXPIRE", "job", ms});
  }
  void released_by_another() {
    world.command({"DEL", "job"});
    world.command({"PUBLISH", channel_of_job, "0"});
  }
  // How long acquire() takes.
  base::duration waited() {
    const base::time_point before = world.now();
    const lease held = m.acquire();
    EXPECT_TRUE(held.held());
    return world.now() - before;
  }
  std::int64_t left_ms() { return std::stoll(world.command({"PTTL", "job"}).substr(1)); }
  bool is_free() { return world.command({"EXISTS", "job"}) == ":0\r\n"; }
};

TEST_F(redisson_clients, acquire_renew_and_release) {
  lease held = m.acquire();
  EXPECT_EQ(world.command({"HGET", "job", held.owner()}), "$1\r\n1\r\n");
  EXPECT_EQ(world.command({"PTTL", "job"}), ":30000\r\n");
  EXPECT_EQ(held.token(), 1024);
  pass(5min);
  EXPECT_TRUE(held.held());
  held.extend(1h);
  EXPECT_GT(held.expires() - world.now(), 59min);
  held.unlock();
  pass(0s);
  EXPECT_TRUE(c.close());
  EXPECT_TRUE(is_free());
  EXPECT_EQ(world.command({"DBSIZE"}), ":1\r\n") << "the counter; no latch";
}

TEST_F(redisson_clients, exclude_each_other_and_their_tokens_grow) {
  const client theirs = world.open("layout=redisson"), spin = world.open("layout=redisson-spin");
  mutex n(theirs, "job"), s(spin, "job");
  std::int64_t last = 0;
  for (mutex* const each : {&m, &n, &s, &m}) {
    lease held = each->acquire();
    EXPECT_GT(held.token(), last);
    last = held.token();
    for (mutex* const other : {&m, &n, &s}) {
      if (other == each) continue;
      EXPECT_FALSE(other->try_acquire());
    }
    held.release();
  }
}

TEST_F(redisson_clients, a_message_wakes_a_waiter) {
  held_by_another();
  at(1s, [&] { released_by_another(); });
  EXPECT_LT(waited(), 1100ms);
}

TEST_F(redisson_clients, a_message_between_the_try_and_the_subscription_is_not_needed) {
  held_by_another();
  world.changed = [&](std::string bytes) {
    if (bytes.find("subscribe") != bytes.npos) released_by_another();
    return bytes;
  };
  EXPECT_LT(waited(), 1s);
}

TEST_F(redisson_clients, what_is_no_number_wakes_a_waiter_too) {
  held_by_another();
  at(1s, [&] {
    world.command({"DEL", "job"});
    world.command({"PUBLISH", channel_of_job, "wake up"});
  });
  EXPECT_LT(waited(), 1100ms);
}

TEST_F(redisson_clients, a_crashed_holders_expiry_wakes_a_waiter) {
  held_by_another("3000");
  const base::duration d = waited();
  EXPECT_GE(d, 3s);
  EXPECT_LT(d, 3100ms);
}

TEST_F(redisson_clients, a_lost_message_costs_no_whole_lease) {
  held_by_another();
  at(1s, [&] { world.command({"DEL", "job"}); });
  EXPECT_LT(waited(), 7s);
}

TEST_F(redisson_clients, a_waiter_polls_when_it_cannot_listen_any_more) {
  held_by_another();
  at(1000ms, [&] {
    world.model.forbid("subscribe");
    world.model.close_all();
  });
  at(1500ms, [&] { world.command({"DEL", "job"}); });
  EXPECT_LT(waited(), 2s);
}

// The connection for renewals that is made then shows that the server is still the same.
TEST_F(redisson_clients, a_waiter_polls_as_soon_as_its_messages_connection_is_lost) {
  const lease other = mutex(c, "other").acquire({.ttl = 3s});
  held_by_another();
  at(100ms, [&] {
    world.model.forbid("subscribe");
    world.model.close_subscribers();
  });
  at(1500ms, [&] { world.command({"DEL", "job"}); });
  EXPECT_LT(waited(), 2s);
}

TEST_F(redisson_clients, a_waiter_polls_at_once_while_there_is_no_messages_connection) {
  held_by_another();
  world.refuses_connections = true;
  std::error_code ec;
  EXPECT_FALSE(m.try_acquire_for(10s, ec));  // finds it out
  at(500ms, [&] { world.command({"DEL", "job"}); });
  EXPECT_LT(waited(), 1s);
}

TEST_F(redisson_clients, a_waiter_whose_messages_connection_is_cut_listens_again) {
  held_by_another();
  at(1s, [&] { world.command({"CLIENT", "KILL", "TYPE", "pubsub"}); });
  at(1001ms, [&] { released_by_another(); });
  EXPECT_LT(waited(), 2s) << "the message went to nobody";
  held_by_another();
  at(1s, [&] { world.command({"CLIENT", "KILL", "TYPE", "pubsub"}); });
  at(4s, [&] { released_by_another(); });
  EXPECT_LT(waited(), 4100ms);
}

TEST_F(redisson_clients, a_lock_without_an_end_is_waited_for) {
  world.command({"HSET", "job", foreign_owner, "1"});
  EXPECT_FALSE(m.try_acquire_for(20s));
  EXPECT_EQ(world.command({"HGET", "job", foreign_owner}), "$1\r\n1\r\n");
  at(1s, [&] { released_by_another(); });
  EXPECT_LT(waited(), 1100ms);
}

TEST_F(redisson_clients, a_try_whose_reply_is_lost_counts_one_hold) {
  int cuts = 3;
  world.changed = [&](std::string bytes) {
    const bool is_grant = bytes.ends_with("*2\r\n:1\r\n:1\r\n");
    return is_grant && cuts-- > 0 ? std::string("no reply\r\n") : bytes;
  };
  lease held = m.acquire();
  EXPECT_LT(cuts, 0);
  EXPECT_EQ(world.command({"HGET", "job", held.owner()}), "$1\r\n1\r\n");
  EXPECT_EQ(world.command({"GET", counter_of_job}), "$1\r\n1\r\n");
  EXPECT_EQ(held.token(), 1024);
  held.release();
  EXPECT_TRUE(is_free());
  EXPECT_TRUE(c.close());
}

TEST_F(redisson_clients, a_release_whose_reply_is_lost_is_sent_again_and_succeeds) {
  lease held = m.acquire();
  int cuts = 1;
  world.changed = [&](std::string bytes) {
    return bytes == ":1\r\n" && cuts-- > 0 ? std::string("no reply\r\n") : bytes;
  };
  held.release();
  EXPECT_LE(cuts, 0);
  EXPECT_TRUE(is_free());
}

TEST_F(redisson_clients, a_cancelled_waiter_leaves_nothing) {
  held_by_another();
  EXPECT_FALSE(m.try_acquire_for(3s));
  released_by_another();
  pass(1min);
  EXPECT_TRUE(is_free());
  EXPECT_FALSE(world.model.has_listener(channel_of_job));
}

TEST_F(redisson_clients, a_taken_lock_is_lost_and_never_renewed_for_another) {
  lease held = m.acquire();
  world.command({"DEL", "job"});
  held_by_another();
  pass(15s);
  EXPECT_EQ(held.status(), errc::lost);
  EXPECT_EQ(world.command({"PTTL", "job"}), ":45000\r\n");
  held.unlock();
  pass(1s);
  EXPECT_EQ(world.command({"HGET", "job", foreign_owner}), "$1\r\n1\r\n");
}

TEST_F(redisson_clients, a_server_that_forgot_its_scripts_is_sent_their_text) {
  world.model.script_flush();
  lease held = m.acquire();
  world.model.script_flush();
  pass(5min);
  EXPECT_TRUE(held.held());
  world.model.script_flush();
  held.release();
  EXPECT_TRUE(is_free());
}

TEST_F(redisson_clients, another_kind_of_lock_is_a_mismatch) {
  world.command({"HSET", "job", "mode", "write", foreign_owner, "1"});
  EXPECT_EQ(thrown_by([&] { (void)m.acquire(); }), errc::mismatch);
  world.command({"SET", "text", "7"});
  mutex n(c, "text");
  EXPECT_EQ(thrown_by([&] { (void)n.try_acquire(); }), errc::mismatch);
  EXPECT_EQ(thrown_by([&] { mutex(c, "a}b"); }), errc::bad_name);
}

TEST_F(redisson_clients, a_counter_that_is_no_number_is_refused_with_its_key) {
  world.command({"SET", counter_of_job, "many"});
  try {
    (void)m.acquire();
    ADD_FAILURE() << "nothing was refused";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::refused);
    EXPECT_NE(std::string(e.what()).find(counter_of_job), std::string::npos) << e.what();
  }
  EXPECT_TRUE(is_free());
}

TEST_F(redisson_clients, a_recursive_mutex_counts_its_holds_by_itself) {
  recursive_mutex r(c, "job");
  lease outer = r.acquire(), inner = r.reacquire(outer);
  EXPECT_EQ(outer.owner(), inner.owner());
  EXPECT_EQ(world.command({"HGET", "job", outer.owner()}), "$1\r\n1\r\n");
  inner.release();
  EXPECT_FALSE(is_free());
  outer.release();
  EXPECT_TRUE(is_free());
}

TEST_F(redisson_clients, what_was_held_twice_and_released_is_renewed_no_more_and_others_are) {
  recursive_mutex r(c, "job");
  lease outer = r.acquire(), inner = r.reacquire(outer);
  inner.release();
  outer.release();
  mutex n(c, "other");
  const lease held = n.acquire();
  held_by_another("3000");
  pass(300s);
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(is_free());
}

TEST_F(redisson_clients, show_foreign_holders_and_break_the_lock_that_was_shown) {
  held_by_another();
  const auto found = c.holders("job");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].owner, foreign_owner);
  EXPECT_EQ(c.list("").size(), 1u);
  EXPECT_FALSE(c.break_lock("job", "somebody"));
  EXPECT_TRUE(c.break_lock("job", foreign_owner));
  EXPECT_TRUE(is_free());
}

TEST_F(redisson_clients, a_waiter_that_may_not_listen_polls) {
  world.model.forbid("subscribe");
  held_by_another();
  at(20s, [&] { released_by_another(); });
  EXPECT_LT(waited(), 21s);
}

TEST_F(redisson_clients, waiters_of_a_spin_lock_poll) {
  const client spin = world.open("layout=redisson-spin");
  mutex s(spin, "job");
  held_by_another();
  at(3s, [&] {
    EXPECT_FALSE(world.model.has_listener(channel_of_job));
    world.command({"DEL", "job"});
  });
  const base::time_point before = world.now();
  EXPECT_TRUE(s.acquire().held());
  EXPECT_LT(world.now() - before, 3200ms);
}

TEST_F(redisson_clients, the_pauses_of_a_spinning_waiter_grow_from_1_to_128_ms) {
  const client spin = world.open("layout=redisson-spin");
  mutex s(spin, "job");
  held_by_another();
  std::vector<base::time_point> tries;
  world.changed = [&](std::string bytes) {
    if (bytes.ends_with("*2\r\n:0\r\n:" + std::to_string(left_ms()) + "\r\n"))
      tries.push_back(world.now());
    return bytes;
  };
  EXPECT_FALSE(s.try_acquire_for(2s));
  ASSERT_GT(tries.size(), 15u);
  EXPECT_LT(tries.size(), 60u);
  for (std::size_t i = 1; i < tries.size(); ++i) {
    EXPECT_GE(tries[i] - tries[i - 1], 1ms) << i;
    EXPECT_LE(tries[i] - tries[i - 1], 128ms) << i;
  }
  EXPECT_GT(tries.back() - tries[tries.size() - 2], 60ms);
}

TEST_F(redisson_clients, what_comes_free_before_the_last_try_is_granted) {
  const client spin = world.open("layout=redisson-spin");
  mutex s(spin, "job");
  held_by_another();
  at(1980ms, [&] { world.command({"DEL", "job"}); });
  const lease held = s.try_acquire_for(2s + 130ms);
  EXPECT_TRUE(held.held());
}

TEST_F(redisson_clients, one_lock_is_shown_to_a_user_who_may_not_list_keys) {
  held_by_another();
  world.model.forbid("scan");
  const std::vector<holder> found = c.holders("job");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].owner, foreign_owner);
  EXPECT_EQ(thrown_by([&] { (void)c.list(); }), errc::refused);
}

}  // namespace
}  // namespace holdfast::redis
