// Waiters for a lock of Redlock: when they try, and which server they ask first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/backend/redis/layouts/redlock/three_servers.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++out;
  return out;
}

// The servers answer an attempt with the owner of the lock.
struct counted_attempts : three_servers {
  counted_attempts() {
    changed = [this](std::string bytes) {
      answers += bytes;
      return bytes;
    };
  }
  void held_by_another() {
    for (sim::model_redis* const s : all) command_at(*s, {"SET", "x", "another"});
  }
  // Without a message.
  void freed() {
    for (sim::model_redis* const s : all) command_at(*s, {"DEL", "x"});
  }
  std::size_t attempts() const { return count(answers, "another"); }
  sim::model_redis& behind_the_first(std::size_t places) {
    return *all[(std::hash<std::string_view>{}("x") + places) % all.size()];
  }

  std::string answers;
};

TEST(redlock_waiters, try_rarely_after_withdrawals_and_soon_after_a_release) {
  counted_attempts w;
  client c = w.open();
  for (sim::model_redis* const s : w.all) w.command_at(*s, {"SET", "x", "another"});
  int number = 0;
  for (auto t = 1000ms; t < 2s; t += 10ms)
    w.at(t, [&] {
      w.command({"PUBLISH", "hf:redlock:x", "-withdrawn" + std::to_string(++number)});
    });
  std::size_t tried = 0;
  w.at(1s, [&] { w.answers.clear(); });
  w.at(2s, [&] {
    tried = count(w.answers, "another");
    for (sim::model_redis* const s : w.all) w.command_at(*s, {"DEL", "x"});
    w.command({"PUBLISH", "hf:redlock:x", "another"});
  });
  const base::time_point released_at = w.now() + 2s;
  lease held = c.mutex("x").acquire();
  EXPECT_GT(tried, 0u);
  EXPECT_LT(tried, 20u);
  EXPECT_LT(w.now() - released_at, 50ms);
}

TEST(redlock_waiters, ask_the_next_server_first_while_the_first_one_is_out_of_reach) {
  counted_attempts w;
  client c = w.open();
  w.kill(w.behind_the_first(0));
  w.command_at(w.behind_the_first(1), {"SET", "x", "seen-at-the-next"});
  w.command_at(w.behind_the_first(2), {"SET", "x", "seen-at-the-last"});
  EXPECT_FALSE(c.mutex("x").try_acquire_for(20s));
  EXPECT_GT(count(w.answers, "seen-at-the-next"), count(w.answers, "seen-at-the-last"));
}

TEST(redlock_waiters, are_let_in_first_only_after_a_release_that_notified_one) {
  three_servers w;
  client c = w.open();
  client other = w.open();
  lease held = c.mutex("x").acquire();
  w.at(2s, [&] { held.release(); });
  other.mutex("x").acquire().release();
  mutex unwanted = c.mutex("y");
  for (int i = 0; i < 3; ++i) {
    w.pass(1ms);  // all servers have answered
    const base::time_point before = w.now();
    held = unwanted.acquire();
    EXPECT_EQ(w.now(), before);
    w.pass(1ms);
    held.release();
  }
}

TEST(redlock_waiters, sleep_as_long_in_a_wait_whose_channel_was_already_subscribed_to) {
  counted_attempts w;
  client c = w.open();
  mutex m = c.mutex("x");
  w.held_by_another();
  EXPECT_FALSE(m.try_acquire_for(500ms));
  w.answers.clear();
  EXPECT_FALSE(m.try_acquire_for(20s));
  EXPECT_GT(w.attempts(), 0u);
  EXPECT_LT(w.attempts(), 40u);
}

TEST(redlock_waiters, poll_at_once_while_messages_cannot_be_subscribed_to) {
  counted_attempts w;
  client c = w.open("op-timeout=4s");
  mutex m = c.mutex("x");
  w.held_by_another();
  w.refuses_connections = true;
  std::error_code ec;
  EXPECT_FALSE(m.try_acquire_for(6s, ec));  // finds it out
  w.at(500ms, [&] { w.freed(); });
  EXPECT_TRUE(m.try_acquire_for(1s, ec));
}

TEST(redlock_waiters, poll_when_they_cannot_listen_to_a_majority_any_more) {
  counted_attempts w;
  client c = w.open();
  w.held_by_another();
  w.at(1000ms, [&] {
    for (sim::model_redis* const s : {&w.second, &w.third}) {
      s->forbid("subscribe");
      s->close_all();
    }
  });
  w.at(1500ms, [&] { w.freed(); });
  std::error_code ec;
  EXPECT_TRUE(c.mutex("x").try_acquire_for(2s, ec));
}

// The third server is slow.
TEST(redlock_waiters, try_once_for_a_release_that_all_servers_announce) {
  counted_attempts w;
  client c = w.open();
  w.held_by_another();
  const auto announce = [&](sim::model_redis& at) {
    w.command_at(at, {"PUBLISH", "hf:redlock:x", "the owner before"});
  };
  w.at(1000ms, [&] {
    w.answers.clear();
    announce(w.model);
    announce(w.second);
  });
  std::size_t tried = 0, tried_again = 0;
  w.at(1500ms, [&] {
    tried = w.attempts();
    w.answers.clear();
    announce(w.third);
  });
  w.at(1900ms, [&] { tried_again = w.attempts(); });
  EXPECT_FALSE(c.mutex("x").try_acquire_for(2s));
  EXPECT_GT(tried, 0u);
  EXPECT_EQ(tried_again, 0u);
}

TEST(redlock_waiters, have_connections_opened_soon_after_all_servers_were_away) {
  counted_attempts w;
  client c = w.open();
  w.held_by_another();
  w.at(1000ms, [&] {
    w.dead = {&w.model, &w.second, &w.third};
    for (sim::model_redis* const s : w.all) s->close_all();
    w.freed();
  });
  w.at(7500ms, [&] { w.dead.clear(); });
  const base::time_point back_at = w.now() + 7500ms;
  lease held = c.mutex("x").acquire();
  EXPECT_LT(w.now() - back_at, 2500ms);
}

struct bounded_wait : three_servers {
  // Two of the three servers. They go on with what they have.
  void be_lost() {
    dead = {&second, &third};
    second.close_all();
    third.close_all();
    begun = now();
  }
  base::duration so_far() { return now() - begun; }

  client c = open("op-timeout=2s&outage-timeout=20s");
  base::time_point begun{};
};

TEST(redlock_waiters, wait_no_longer_than_the_outage_timeout_for_a_majority) {
  bounded_wait w;
  w.be_lost();
  try {
    (void)w.c.mutex("x").acquire();
    FAIL() << "it is granted";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unavailable);
    EXPECT_THAT(e.what(), testing::HasSubstr("longer than the outage-timeout"));
    EXPECT_THAT(e.what(), testing::HasSubstr("third:6379"));
  }
  EXPECT_GE(w.so_far(), 20s);
  EXPECT_LT(w.so_far(), 20s + 100ms);
}

TEST(redlock_waiters, try_once_more_just_before_the_outage_timeout) {
  constexpr base::duration last_attempt_lead = 250ms;  // of an op-timeout of two seconds
  bounded_wait w;
  w.be_lost();
  w.at(20s - last_attempt_lead - 1ms, [&] { w.dead.clear(); });
  std::error_code ec;
  EXPECT_TRUE(w.c.mutex("x").acquire({}, {}, ec).held());
  EXPECT_EQ(ec, std::error_code());
}

// After a wait for a contended lock, its next attempts ask one server before the others.
TEST(redlock_waiters, ask_all_servers_at_once_where_the_lock_was_not_contended_lately) {
  counted_attempts w;
  client c = w.open();
  mutex m = c.mutex("x");
  const auto expect_quick_grant = [&] {
    w.pass(100ms);
    w.stopped = {&w.behind_the_first(0)};
    const base::time_point before = w.now();
    lease held = m.acquire();
    EXPECT_LT(w.now() - before, 100ms);
    held.release();
    w.stopped.clear();
    w.pass(1s);
  };
  m.acquire().release();
  expect_quick_grant();
  w.held_by_another();
  EXPECT_FALSE(m.try_acquire_for(500ms));
  w.freed();
  for (int i = 0; i < 20; ++i) m.acquire().release();
  expect_quick_grant();
}

}  // namespace
}  // namespace holdfast::redis
