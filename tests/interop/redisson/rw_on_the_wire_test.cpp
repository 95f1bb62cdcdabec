// RReadWriteLock of the real Redisson by what it leaves on the server: what layout `redisson-rw`
// has to write, and what it may meet.
#include "testkit/eventually.hpp"
#include "tests/interop/redisson/fixture.hpp"

namespace holdfast::redisson_test {
namespace {

using testkit::eventually;

struct readers_and_writers {
  redis_server server;
  redisson_client c{server};
  names owners{{c.owner("a"), "a"}, {c.owner("b"), "b"}};

  bool becomes(const std::string& expected) {
    const auto now = [this] { return contents(server, owners); };
    return eventually([&] { return now() == expected; }) ||
           (ADD_FAILURE() << now() << "instead of\n"
                          << expected,
            false);
  }
};

class redisson_wire_rw : public with_redisson {};

TEST_F(redisson_wire_rw, reader_has_a_field_and_a_key_for_each_hold) {
  readers_and_writers on;
  message_log messages(on.server);
  on.c.ask("a", "lock read x 60000");
  on.c.ask("a", "lock read x 60000");
  on.c.ask("b", "lock read x 60000");
  on.becomes("x hash a=2 b=1 mode=read ttl\n{x}:a:rwlock_timeout:1 string 1 ttl\n"
             "{x}:a:rwlock_timeout:2 string 1 ttl\n{x}:b:rwlock_timeout:1 string 1 ttl\n");
  EXPECT_EQ(on.c.ask("b", "try write x 0 60000"), "false");
  on.c.ask("a", "unlock read x");
  on.becomes("x hash a=1 b=1 mode=read ttl\n{x}:a:rwlock_timeout:1 string 1 ttl\n"
             "{x}:b:rwlock_timeout:1 string 1 ttl\n");
  on.c.ask("a", "unlock read x");
  EXPECT_EQ(messages.heard(), "");
  on.c.ask("b", "unlock read x");
  EXPECT_EQ(messages.heard(), "redisson_rwlock:{x} 0\n");
  on.becomes("");
}

TEST_F(redisson_wire_rw, name_with_braces_is_not_put_into_braces_again) {
  readers_and_writers on;
  message_log messages(on.server);
  on.c.ask("a", "lock read {t}:x 60000");
  on.becomes("{t}:x hash a=1 mode=read ttl\n{t}:x:a:rwlock_timeout:1 string 1 ttl\n");
  on.c.ask("a", "unlock read {t}:x");
  EXPECT_EQ(messages.heard(), "redisson_rwlock:{t}:x 0\n");
}

TEST_F(redisson_wire_rw, writer_is_a_field_of_its_own_and_its_leases_add_up) {
  readers_and_writers on;
  message_log messages(on.server);
  on.c.ask("a", "lock write x 60000");
  on.becomes("x hash a:write=1 mode=write ttl\n");
  EXPECT_EQ(on.c.ask("b", "try write x 0 60000"), "false");
  EXPECT_EQ(on.c.ask("b", "try read x 0 60000"), "false");
  on.c.ask("a", "lock write x 60000");
  on.becomes("x hash a:write=2 mode=write ttl\n");
  EXPECT_GT(ttl_of(on.server, "x"), 90'000);  // Redisson's own fault: 60 and 60
  on.c.ask("a", "unlock write x");
  on.c.ask("a", "unlock write x");
  EXPECT_EQ(messages.heard(), "redisson_rwlock:{x} 1\n");
  on.becomes("");
}

TEST_F(redisson_wire_rw, downgrade_publishes_nothing) {
  readers_and_writers on;
  on.c.ask("a", "lock write x 60000");
  on.c.ask("a", "lock read x 60000");
  on.becomes("x hash a:write=1 a=1 mode=write ttl\n{x}:a:rwlock_timeout:1 string 1 ttl\n");
  message_log messages(on.server);
  on.server.command({"CONFIG", "RESETSTAT"});
  const call b = on.c.send("b", "lock read x 60000");
  EXPECT_TRUE(eventually([&] { return calls_of(on.server, "evalsha") == 2; }));  // then it sleeps
  on.c.ask("a", "unlock write x");
  on.becomes("x hash a=1 mode=read ttl\n{x}:a:rwlock_timeout:1 string 1 ttl\n");
  EXPECT_EQ(messages.heard(), "");  // Redisson's own fault: the reader sleeps on
  EXPECT_TRUE(b.pending());
  on.server.command({"PUBLISH", "redisson_rwlock:{x}", "1"});
  EXPECT_EQ(text_of(b.wait()), "");
}

TEST_F(redisson_wire_rw, dead_reader_goes_with_the_last_living_one) {
  readers_and_writers on;
  on.c.ask("a", "lock read x 60000");
  on.server.command({"HSET", "x", "somebody:1", "1"});  // its own key has ended
  message_log messages(on.server);
  EXPECT_EQ(on.c.ask("b", "try write x 0 60000"), "false");
  on.c.ask("a", "unlock read x");
  EXPECT_EQ(messages.heard(), "redisson_rwlock:{x} 0\n");
  on.becomes("");
}

TEST_F(redisson_wire_rw, force_unlock_is_for_the_side_that_holds) {
  readers_and_writers on;
  on.c.ask("a", "lock read x 60000");
  message_log messages(on.server);
  EXPECT_EQ(on.c.ask("b", "force write x"), "false");
  EXPECT_EQ(on.c.ask("b", "force read x"), "true");
  EXPECT_EQ(messages.heard(), "redisson_rwlock:{x} 0\n");
  on.c.ask("a", "lock write x 60000");
  EXPECT_EQ(on.c.ask("b", "force read x"), "false");
  EXPECT_EQ(on.c.ask("b", "force write x"), "true");
  EXPECT_EQ(messages.heard(), "redisson_rwlock:{x} 1\n");
  on.becomes("{x}:a:rwlock_timeout:1 string 1 ttl\n");  // the reader's key is left to its ttl
}

}  // namespace
}  // namespace holdfast::redisson_test
