// RLock, RFencedLock and RSpinLock of the real Redisson by what they leave on the server: what the
// layouts `redisson` and `redisson-spin` have to write, and what they may meet.
#include "testkit/eventually.hpp"
#include "tests/interop/redisson/fixture.hpp"

namespace holdfast::redisson_test {
namespace {

using testkit::eventually;

const std::string channel_of_x = "redisson_lock__channel:{x}";

struct one_client {
  redis_server server;
  redisson_client c{server};
  names owners{{c.owner("a"), "a"}, {c.owner("b"), "b"}};

  std::string contents() { return redisson_test::contents(server, owners); }
};

class redisson_wire : public with_redisson {};

void expect_between(long long least, long long value, long long most) {
  EXPECT_LE(least, value);
  EXPECT_LE(value, most);
}

TEST_F(redisson_wire, lock_is_a_hash_of_its_owner_and_the_holds) {
  one_client on;
  message_log messages(on.server);
  EXPECT_EQ(on.c.ask("a", "lock lock x 60000"), "");
  EXPECT_EQ(on.contents(), "x hash a=1 ttl\n");
  expect_between(50'000, ttl_of(on.server, "x"), 60'000);
  EXPECT_EQ(on.c.ask("b", "try lock x 0 60000"), "false");
  EXPECT_EQ(on.c.ask("a", "lock lock x 40000"), "");
  EXPECT_EQ(on.contents(), "x hash a=2 ttl\n");
  expect_between(30'000, ttl_of(on.server, "x"), 40'000);
  on.server.command({"PEXPIRE", "x", "9000"});
  EXPECT_EQ(on.c.ask("a", "unlock lock x"), "");
  expect_between(20'000, ttl_of(on.server, "x"), 60'000);
  EXPECT_TRUE(
      eventually([&] { return on.contents() == "x hash a=1 ttl\n"; }));  // the latch is gone
  EXPECT_EQ(messages.heard(), "");
  EXPECT_EQ(on.c.ask("a", "unlock lock x"), "");
  EXPECT_EQ(messages.heard(), channel_of_x + " 0\n");
  EXPECT_TRUE(eventually([&] { return on.contents().empty(); }));
}

TEST_F(redisson_wire, unlock_leaves_a_latch_that_its_client_deletes_afterwards) {
  one_client on;
  on.c.ask("a", "lock lock x 60000");
  on.server.command({"CONFIG", "SET", "notify-keyspace-events", "E$g"});
  message_log events(on.server);
  on.c.ask("a", "unlock lock x");
  std::string all;
  EXPECT_TRUE(eventually([&] {
    all += events.heard();
    return all.find("__keyevent@0__:del redisson_unlock_latch:{x}:") != std::string::npos;
  }));
  const auto set = all.find("__keyevent@0__:set redisson_unlock_latch:{x}:");
  ASSERT_NE(set, std::string::npos) << all;
  EXPECT_EQ(all.find('\n', set) - all.find("{x}:", set), 4u + 32u) << all;
  EXPECT_NE(all.find("__keyevent@0__:expire redisson_unlock_latch:{x}:"), std::string::npos) << all;
}

TEST_F(redisson_wire, braces_of_a_name_are_its_slot) {
  one_client on;
  message_log messages(on.server);
  on.c.ask("a", "lock fenced {t}:x 60000");
  EXPECT_EQ(on.contents(), "redisson_lock_token:{t}:x string 1\n{t}:x hash a=1 ttl\n");
  on.c.ask("a", "unlock fenced {t}:x");
  EXPECT_EQ(messages.heard(), "redisson_lock__channel:{t}:x 0\n");
}

TEST_F(redisson_wire, unlock_by_another_changes_nothing) {
  one_client on;
  on.c.ask("a", "lock lock x 60000");
  message_log messages(on.server);
  const std::string answer = on.c.ask("b", "unlock lock x");
  EXPECT_TRUE(answer.starts_with("failed: IllegalMonitorStateException: attempt to unlock lock"))
      << answer;
  EXPECT_EQ(on.contents(), "x hash a=1 ttl\n");
  EXPECT_EQ(messages.heard(), "");
}

TEST_F(redisson_wire, force_unlock_deletes_and_publishes) {
  one_client on;
  on.c.ask("a", "lock lock x 60000");
  message_log messages(on.server);
  EXPECT_EQ(on.c.ask("b", "force lock x"), "true");
  EXPECT_EQ(on.c.ask("b", "force lock x"), "false");
  EXPECT_EQ(on.contents(), "");
  EXPECT_EQ(messages.heard(), channel_of_x + " 0\n");
}

TEST_F(redisson_wire, waiter_subscribes_and_a_message_wakes_it) {
  one_client on;
  on.server.command({"HSET", "x", "somebody:1", "1"});
  on.server.command({"PEXPIRE", "x", "60000"});
  EXPECT_EQ(on.c.ask("a", "try lock x 0 60000"), "false");
  const call waiting = on.c.send("a", "lock lock x 60000");
  EXPECT_TRUE(eventually([&] { return is_subscribed(on.server, channel_of_x); }));
  EXPECT_TRUE(waiting.pending());
  on.server.command({"DEL", "x"});
  on.server.command({"PUBLISH", channel_of_x, "0"});
  EXPECT_EQ(text_of(waiting.wait()), "");
  EXPECT_EQ(on.contents(), "x hash a=1 ttl\n");
}

TEST_F(redisson_wire, waiter_sleeps_no_longer_than_the_ttl_it_saw) {
  one_client on;
  on.server.command({"HSET", "x", "somebody:1", "1"});
  on.server.command({"PEXPIRE", "x", "300"});
  EXPECT_EQ(on.c.ask("a", "lock lock x 60000"), "");
  EXPECT_EQ(on.contents(), "x hash a=1 ttl\n");
}

TEST_F(redisson_wire, watchdog_renews_until_its_client_is_gone) {
  redis_server server;
  redisson_client c(server, "watchdog=6000");  // a JVM can stand still for a second
  EXPECT_EQ(c.ask("a", "lock lock x -1"), "");
  expect_between(1, ttl_of(server, "x"), 6000);
  for (int i = 0; i < 3; ++i) {
    long long last = ttl_of(server, "x");
    const auto grows = [&] {
      const long long before = std::exchange(last, ttl_of(server, "x"));
      return last > before;
    };
    EXPECT_TRUE(eventually(grows));
  }
  c.crash();
  EXPECT_TRUE(eventually([&] { return ttl_of(server, "x") == -2; }));
}

TEST_F(redisson_wire, fenced_lock_counts_every_acquire_in_a_key_that_stays) {
  one_client on;
  on.c.ask("a", "lock fenced x 60000");
  on.c.ask("a", "lock fenced x 60000");
  EXPECT_EQ(on.contents(), "redisson_lock_token:{x} string 2\nx hash a=2 ttl\n");
  on.c.ask("a", "unlock fenced x");
  on.c.ask("a", "unlock fenced x");
  on.c.ask("b", "lock fenced x 60000");
  EXPECT_EQ(on.c.ask("b", "token fenced x"), "3");
  on.c.ask("b", "unlock fenced x");
  EXPECT_TRUE(eventually([&] { return on.contents() == "redisson_lock_token:{x} string 3\n"; }));
  EXPECT_EQ(on.c.ask("a", "try lock x 0 60000"), "true");  // the plain lock excludes it, uncounted
  EXPECT_EQ(on.c.ask("b", "try fenced x 0 60000"), "false");
  EXPECT_EQ(on.c.ask("b", "token fenced x"), "3");
}

TEST_F(redisson_wire, spin_lock_is_the_same_hash_without_messages) {
  one_client on;
  message_log messages(on.server);
  on.c.ask("a", "lock spin x 60000");
  EXPECT_EQ(on.contents(), "x hash a=1 ttl\n");
  const call waiting = on.c.send("b", "lock spin x 60000");
  EXPECT_EQ(on.c.ask("a", "unlock spin x"), "");
  EXPECT_EQ(text_of(waiting.wait()), "");
  EXPECT_EQ(on.c.ask("a", "force spin x"), "true");
  EXPECT_EQ(messages.heard(), "");
}

}  // namespace
}  // namespace holdfast::redisson_test
