// RFairLock of the real Redisson by what it leaves on the server: what layout `redisson-fair` has
// to write, and what it may meet.
#include "testkit/eventually.hpp"
#include "tests/interop/redisson/fixture.hpp"

namespace holdfast::redisson_test {
namespace {

using testkit::eventually;

struct fair_clients {
  redis_server server;
  redisson_client c{server, "fairwait=20000"};
  names owners{{c.owner("a"), "a"}, {c.owner("b"), "b"}, {c.owner("d"), "d"}};

  std::string contents() { return redisson_test::contents(server, owners); }
  bool queue_is(const std::string& line) {
    return contents().starts_with("redisson_lock_queue:{x} list" + line + "\n");
  }
  call queued(const std::string& thread, const std::string& line) {
    call waiting = c.send(thread, "lock fair x 60000");
    EXPECT_TRUE(eventually([&] { return queue_is(line); })) << contents();
    return waiting;
  }
};

class redisson_wire_fair : public with_redisson {};

TEST_F(redisson_wire_fair, queue_is_a_list_with_a_sorted_set_of_its_time_outs) {
  fair_clients on;
  EXPECT_EQ(on.c.ask("a", "lock fair x 60000"), "");
  EXPECT_EQ(on.contents(), "x hash a=1 ttl\n");
  const call b = on.queued("b", " b"), d = on.queued("d", " b d");
  EXPECT_EQ(on.contents(), "redisson_lock_queue:{x} list b d\nredisson_lock_timeout:{x} zset b d\n"
                           "x hash a=1 ttl\n");
  const auto score = [&](int i) {
    return std::stoll(
        on.server.command({"ZSCORE", "redisson_lock_timeout:{x}", on.owners[i].first}).text);
  };
  const long long now = std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count();
  // The lease that is left and a window each: 60 + 20 s for the first, 20 s more for the second.
  EXPECT_GT(score(1), now + 60'000);
  EXPECT_LE(score(1), now + 80'000);
  EXPECT_GE(score(2), score(1) + 20'000 - 5'000);
  EXPECT_LE(score(2), score(1) + 20'000 + 5'000);
  EXPECT_TRUE(b.pending() && d.pending());
  on.c.ask("a", "unlock fair x");
  EXPECT_EQ(text_of(b.wait()), "");
  EXPECT_TRUE(d.pending());
  on.c.ask("b", "unlock fair x");
  EXPECT_EQ(text_of(d.wait()), "");
}

TEST_F(redisson_wire_fair, release_publishes_to_the_head_of_the_queue_alone) {
  fair_clients on;
  on.c.ask("a", "lock fair x 60000");
  const call b = on.queued("b", " b"), d = on.queued("d", " b d");
  for (const int i : {1, 2}) {
    const std::string channel = "redisson_lock__channel:{x}:" + on.owners[i].first;
    EXPECT_TRUE(eventually([&] { return is_subscribed(on.server, channel); }));
  }
  message_log messages(on.server);
  on.c.ask("a", "unlock fair x");
  EXPECT_EQ(text_of(b.wait()), "");
  EXPECT_EQ(messages.heard(on.owners), "redisson_lock__channel:{x}:b 0\n");
  EXPECT_TRUE(on.queue_is(" d"));
  EXPECT_EQ(on.c.ask("a", "force fair x"), "true");
  EXPECT_EQ(text_of(d.wait()), "");
  EXPECT_EQ(messages.heard(on.owners), "redisson_lock__channel:{x}:d 0\n");
  EXPECT_EQ(on.contents(), "x hash d=1 ttl\n");
}

TEST_F(redisson_wire_fair, waiter_that_gives_up_leaves_the_queue) {
  fair_clients on;
  on.c.ask("a", "lock fair x 60000");
  const call b = on.c.send("b", "try fair x 300 60000");
  EXPECT_TRUE(eventually([&] { return on.queue_is(" b"); }));
  const call d = on.queued("d", " b d");
  EXPECT_EQ(text_of(b.wait()), "false");
  EXPECT_TRUE(on.queue_is(" d"));
  on.c.ask("a", "unlock fair x");
  EXPECT_EQ(text_of(d.wait()), "");
}

TEST_F(redisson_wire_fair, try_lock_queues_nobody_and_passes_nobody) {
  fair_clients on;
  on.c.ask("a", "lock fair x 60000");
  EXPECT_EQ(on.c.ask("b", "try fair x 0 60000"), "false");
  EXPECT_EQ(on.contents(), "x hash a=1 ttl\n");
  on.c.ask("a", "unlock fair x");
  on.server.command({"RPUSH", "redisson_lock_queue:{x}", "somebody:1"});
  on.server.command({"ZADD", "redisson_lock_timeout:{x}", "99999999999999", "somebody:1"});
  EXPECT_EQ(on.c.ask("b", "try fair x 0 60000"), "false");
  on.server.command({"ZADD", "redisson_lock_timeout:{x}", "1", "somebody:1"});
  EXPECT_EQ(on.c.ask("b", "try fair x 0 60000"), "true");
  EXPECT_EQ(on.contents().find("somebody"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::redisson_test
