// Waiters for a lock of Redlock: when they try, and which server they ask first.
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

}  // namespace
}  // namespace holdfast::redis
