// RPermitExpirableSemaphore of the real Redisson by what it leaves on the server: what layout
// `redisson-permits` has to write, and what it may meet.
#include "testkit/eventually.hpp"
#include "tests/interop/redisson/fixture.hpp"

namespace holdfast::redisson_test {
namespace {

using testkit::eventually;

const std::string one_is_held = "x string 1\n{x}:timeout zset <16>\n";

class redisson_wire_permits : public with_redisson {};

TEST_F(redisson_wire_permits, permit_is_sixteen_bytes_with_the_time_of_its_end) {
  redis_server server;
  redisson_client c(server);
  message_log messages(server);
  EXPECT_EQ(c.ask("a", "create permits x 2"), "true");
  EXPECT_EQ(c.ask("a", "create permits x 9"), "false");
  EXPECT_EQ(contents(server), "x string 2\n");
  const std::string id = c.ask("a", "lock permits x 60000");
  EXPECT_EQ(id.size(), 32u) << id;
  EXPECT_EQ(contents(server), one_is_held);
  const auto entry = server.command({"ZRANGE", "{x}:timeout", "0", "-1", "WITHSCORES"}).items;
  std::string bytes;
  for (std::size_t i = 0; i < id.size(); i += 2)
    bytes += static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16));
  EXPECT_EQ(entry.at(0).text, bytes);
  EXPECT_EQ(c.ask("b", "unlock permits x " + id), "true");  // a permit is no thread's
  EXPECT_EQ(c.ask("a", "unlock permits x " + id), "false");
  EXPECT_EQ(contents(server), "x string 2\n");
  EXPECT_EQ(messages.heard(), "redisson_sc:{x} 2\nredisson_sc:{x} 2\n");
}

TEST_F(redisson_wire_permits, permit_without_a_lease_has_a_score_of_its_own) {
  redis_server server;
  redisson_client c(server);
  c.ask("a", "create permits x 1");
  const std::string id = c.ask("a", "lock permits x -1");
  const auto entry = server.command({"ZRANGE", "{x}:timeout", "0", "-1", "WITHSCORES"}).items;
  EXPECT_EQ(std::stod(entry.at(1).text), 922337203685477.0);
}

TEST_F(redisson_wire_permits, waiter_is_woken_by_the_count_that_is_published) {
  redis_server server;
  redisson_client c(server);
  c.ask("a", "create permits x 1");
  const std::string id = c.ask("a", "lock permits x 60000");
  EXPECT_EQ(c.ask("b", "try permits x 0 60000"), "-");
  const call b = c.send("b", "lock permits x 60000");
  EXPECT_TRUE(eventually([&] { return is_subscribed(server, "redisson_sc:{x}"); }));
  server.command({"DEL", "{x}:timeout"});
  server.command({"SET", "x", "1"});
  server.command({"PUBLISH", "redisson_sc:{x}", "1"});
  EXPECT_EQ(text_of(b.wait()).size(), 32u);
}

TEST_F(redisson_wire_permits, permit_that_has_ended_is_taken_back_by_the_next_to_ask) {
  redis_server server;
  redisson_client c(server);
  c.ask("a", "create permits x 1");
  server.command({"SET", "x", "0"});
  server.command({"ZADD", "{x}:timeout", "1", "0123456789abcdef"});
  message_log messages(server);
  EXPECT_EQ(c.ask("a", "free permits x"), "1");
  EXPECT_EQ(messages.heard(), "redisson_sc:{x} 1\n");
  EXPECT_EQ(contents(server), "x string 1\n");
  EXPECT_EQ(c.ask("a", "lock permits x 60000").size(), 32u);
}

TEST_F(redisson_wire_permits, resizing_changes_what_is_free) {
  redis_server server;
  redisson_client c(server);
  c.ask("a", "create permits x 2");
  c.ask("a", "lock permits x 60000");
  EXPECT_EQ(c.ask("a", "resize permits x 5"), "");
  EXPECT_EQ(contents(server), "x string 4\n{x}:timeout zset <16>\n");
  EXPECT_EQ(c.ask("a", "free permits x"), "4");
  EXPECT_EQ(c.ask("a", "held permits x"), "1");
}

}  // namespace
}  // namespace holdfast::redisson_test
