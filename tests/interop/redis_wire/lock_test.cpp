// Layouts `redisson` and `redisson-spin` on a real server, against commands sent by hand: what they
// write is what Redisson writes, and what Redisson would write is honoured.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <optional>
#include <thread>

#include "testkit/eventually.hpp"
#include "tests/interop/redisson/fixture.hpp"

namespace holdfast::redisson_test {
namespace {

using namespace std::chrono_literals;
using testkit::eventually;

const std::string java = "5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:97";
const std::string channel_x = "redisson_lock__channel:{x}";

// Each runs for both layouts.
struct redisson_lock_by_hand : testing::TestWithParam<const char*> {
  void SetUp() override {
    if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
    server.emplace();
    c = open();
  }
  client open(const std::string& options = {}) {
    return client::open(server->url() + "?layout=" + GetParam() + options);
  }
  bool has_messages() const { return GetParam() == std::string("redisson"); }
  std::string contents(const lease& held = {}) {
    names owners{{java, "java"}};
    if (held) owners.push_back({held.owner(), "ours"});
    return redisson_test::contents(*server, owners);
  }
  void held_by_java(const std::string& ms, const std::string& holds = "1") {
    server->command({"HSET", "x", java, holds});
    server->command({"PEXPIRE", "x", ms});
  }
  void released_by_java() {
    server->command({"DEL", "x"});
    server->command({"PUBLISH", channel_x, "0"});
  }

  std::optional<redis_server> server;
  client c;
};

TEST_P(redisson_lock_by_hand, a_lock_is_a_hash_and_a_counter_and_its_release_a_message) {
  message_log messages(*server);
  lease held = c.mutex("x").acquire();
  EXPECT_EQ(contents(held), "redisson_lock_token:{x} string 1\nx hash ours=1 ttl\n");
  EXPECT_LE(ttl_of(*server, "x"), 30'000);
  EXPECT_GT(ttl_of(*server, "x"), 20'000);
  EXPECT_EQ(held.owner().find(':'), 36u);
  EXPECT_EQ(messages.heard(), "");
  held.release();
  EXPECT_EQ(contents(), "redisson_lock_token:{x} string 1\n");
  EXPECT_EQ(messages.heard(), has_messages() ? channel_x + " 0\n" : "");
}

TEST_P(redisson_lock_by_hand, no_latch_is_ever_written) {
  server->command({"CONFIG", "SET", "notify-keyspace-events", "E$g"});
  message_log events(*server);
  c.mutex("x").acquire().release();
  const std::string all = events.heard();
  EXPECT_NE(all.find("__keyevent@0__:del x\n"), std::string::npos) << all;
  EXPECT_EQ(all.find("latch"), std::string::npos) << all;
}

TEST_P(redisson_lock_by_hand, braces_and_colons_of_a_name_are_kept) {
  message_log messages(*server);
  lease held = c.mutex("{t}:a:b").acquire();
  EXPECT_EQ(contents(held), "redisson_lock_token:{t}:a:b string 1\n{t}:a:b hash ours=1 ttl\n");
  held.release();
  EXPECT_EQ(messages.heard(), has_messages() ? "redisson_lock__channel:{t}:a:b 0\n" : "");
}

TEST_P(redisson_lock_by_hand, a_prefix_is_part_of_the_name) {
  const client of_shop = open("&prefix=shop:");
  const lease held = of_shop.mutex("x").acquire();
  EXPECT_EQ(contents(held), "redisson_lock_token:{shop:x} string 1\nshop:x hash ours=1 ttl\n");
}

TEST_P(redisson_lock_by_hand, a_foreign_hold_excludes_us_until_its_last_release) {
  held_by_java("60000", "2");
  EXPECT_FALSE(c.mutex("x").try_acquire());
  std::atomic<bool> is_ours{false};
  lease held;
  std::jthread waiter([&] {
    held = c.mutex("x").acquire();
    is_ours = true;
  });
  EXPECT_TRUE(eventually([&] { return !has_messages() || is_subscribed(*server, channel_x); }));
  server->command({"HINCRBY", "x", java, "-1"});  // one of two: no message
  EXPECT_FALSE(is_ours);
  has_messages() ? released_by_java() : void(server->command({"DEL", "x"}));
  waiter.join();
  EXPECT_EQ(contents(held), "redisson_lock_token:{x} string 1\nx hash ours=1 ttl\n");
}

TEST_P(redisson_lock_by_hand, the_end_of_a_foreign_lease_wakes_a_waiter) {
  held_by_java("300");
  const lease held = c.mutex("x").acquire();
  EXPECT_EQ(contents(held), "redisson_lock_token:{x} string 1\nx hash ours=1 ttl\n");
}

TEST_P(redisson_lock_by_hand, a_foreign_hold_is_neither_renewed_nor_released) {
  const client brief = open("&ttl=600ms");
  lease held = brief.mutex("x").acquire();
  server->command({"DEL", "x"});
  held_by_java("60000");
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  EXPECT_EQ(held.status(), outcome::lost);
  std::error_code ec;
  held.release(ec);
  EXPECT_EQ(ec, outcome::lost);
  EXPECT_EQ(contents(), "redisson_lock_token:{x} string 1\nx hash java=1 ttl\n");
  EXPECT_GT(ttl_of(*server, "x"), 10'000);
}

TEST_P(redisson_lock_by_hand, a_lease_is_renewed_unless_its_time_was_given) {
  const client brief = open("&ttl=6s");
  lease watched = brief.mutex("x").acquire();
  for (int i = 0; i < 3; ++i) {
    long long last = ttl_of(*server, "x");
    EXPECT_TRUE(eventually([&] {
      const long long before = std::exchange(last, ttl_of(*server, "x"));
      return last > before;
    }));
  }
  EXPECT_TRUE(watched.held());
  lease given = brief.mutex("y").acquire({.ttl = 300ms, .renew = renewal::manual});
  EXPECT_LE(ttl_of(*server, "y"), 300);
  EXPECT_TRUE(eventually([&] { return ttl_of(*server, "y") == -2; }));
  EXPECT_TRUE(eventually([&] { return given.loss_token().stop_requested(); }));
}

TEST_P(redisson_lock_by_hand, the_time_of_one_lease_is_not_that_of_the_next) {
  const mutex m(c, "x");
  m.acquire({.ttl = 5s, .renew = renewal::manual}).release();
  EXPECT_EQ(ttl_of(*server, "x"), -2);
  const lease held = m.acquire();
  EXPECT_GT(ttl_of(*server, "x"), 20'000);
}

TEST_P(redisson_lock_by_hand, numbers_go_on_where_a_fenced_lock_has_left_them) {
  server->command({"SET", "redisson_lock_token:{x}", "41"});
  lease held = c.mutex("x").acquire();
  EXPECT_EQ(held.token() / 1024, 42);
  held.release();
  server->command({"INCR", "redisson_lock_token:{x}"});  // an RFencedLock between
  EXPECT_EQ(c.mutex("x").acquire().token() / 1024, 44);
}

TEST_P(redisson_lock_by_hand, what_holds_no_such_lock_is_refused_and_left_alone) {
  server->command({"SET", "x", "a semaphore"});
  EXPECT_THROW((void)c.mutex("x").acquire(), lock_error);
  EXPECT_EQ(contents(), "x string a semaphore\n");
  server->command({"DEL", "x"});
  server->command({"HSET", "x", "mode", "read", java, "1"});
  std::error_code ec;
  EXPECT_FALSE(c.mutex("x").try_acquire({}, ec));
  EXPECT_EQ(ec, errc::mismatch);
  EXPECT_EQ(contents(), "x hash java=1 mode=read\n");
}

TEST_P(redisson_lock_by_hand, a_flush_of_all_scripts_is_not_noticed) {
  for (int i = 0; i < 5; ++i) {
    server->command({"SCRIPT", "FLUSH"});
    lease held = c.mutex("x").acquire();
    server->command({"SCRIPT", "FLUSH"});
    held.extend(20s);
    server->command({"SCRIPT", "FLUSH"});
    held.release();
  }
  EXPECT_EQ(contents(), "redisson_lock_token:{x} string 5\n");
}

TEST_P(redisson_lock_by_hand, a_broken_foreign_lock_wakes_who_waits) {
  held_by_java("60000", "3");
  message_log messages(*server);
  const auto found = c.holders("x");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].owner, java);
  EXPECT_FALSE(c.break_lock("x", "another"));
  EXPECT_TRUE(c.break_lock("x", java));
  EXPECT_EQ(contents(), "");
  EXPECT_EQ(messages.heard(), has_messages() ? channel_x + " 0\n" : "");
}

INSTANTIATE_TEST_SUITE_P(layout, redisson_lock_by_hand,
                         testing::Values("redisson", "redisson-spin"), [](const auto& one) {
                           return std::string(one.index == 0 ? "redisson" : "redisson_spin");
                         });

}  // namespace
}  // namespace holdfast::redisson_test
