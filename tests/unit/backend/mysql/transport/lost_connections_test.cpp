// A connection that was lost, and another one over which it is killed: what its id means by then.
#include "backend/mysql/transport/transport.hpp"

#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

// Connection 0 has the id 100 and is lost within a statement.
class mysql_lost_connections : public testing::Test {
 protected:
  void lose(const own_row& own) {
    t.open(own);
    t.acquire();
    ASSERT_TRUE(t.awaits(0, "UPDATE"));
    t.cut(0);
  }
  // Connection 1 has the id 101.
  void greet(const own_row& own, const mysql::sql_row& extra = {"read_only", "OFF"}) {
    t.greet(1, extra, own);
  }
  void lose_and_greet(const own_row& first, const own_row& second) {
    lose(first);
    greet(second);
  }
  void expect_resolved(bool is_certain) {
    EXPECT_TRUE(t.awaits(1, "UPDATE")) << t.statement(1);
    EXPECT_EQ(t.over.is_final(t.now()), is_certain);
    t.reply(1, granted_row(5));
    EXPECT_EQ(t.sink.take(), "granted ");
  }

  static constexpr const char* lookup =
      "SELECT ID,HOST FROM information_schema.PROCESSLIST WHERE ID IN (100,CONNECTION_ID())";
  const own_row lost{.started = "7", .address = "client:1"};
  const own_row same_start{.started = "7", .address = "client:2"};
  const own_row next_start{.started = "8", .address = "client:2"};
  server_fixture t{"row"};
};

TEST_F(mysql_lost_connections, is_killed_by_its_id_while_the_start_of_the_server_is_the_same) {
  lose_and_greet(lost, same_start);
  EXPECT_EQ(t.statement(1), "KILL 100");
  EXPECT_FALSE(t.over.is_final(t.now()));
  t.reply(1, error(1094));
  expect_resolved(true);
}

TEST_F(mysql_lost_connections, is_killed_before_its_statement_is_repeated_by_one_that_is_open) {
  t.open(lost);
  t.acquire();
  told second;
  const auto other = t.s->open("other", second);
  other->acquire({.ttl = 30s, .at = t.now()});
  greet(same_start);
  t.reply(1, granted_row(1));
  ASSERT_EQ(second.take(), "granted ");
  t.cut(0);
  EXPECT_EQ(t.statement(1), "KILL 100");
  t.reply(1, error(1094));
  expect_resolved(true);
}

TEST_F(mysql_lost_connections, is_dead_once_its_id_has_another_address) {
  lose_and_greet(lost, next_start);
  EXPECT_EQ(t.statement(1), lookup);
  t.reply(1, rows({{"101", "client:2"}, {"100", "client:3"}}));
  expect_resolved(true);
}

TEST_F(mysql_lost_connections, is_dead_once_the_connection_that_looks_it_up_has_its_id) {
  lose(lost);
  t.connections.at(1)->id = 100;
  greet(next_start);
  EXPECT_EQ(t.statement(1), lookup);
  t.reply(1, rows({{"100", "client:2"}}));
  expect_resolved(true);
}

TEST_F(mysql_lost_connections, is_dead_once_no_connection_has_its_id) {
  lose_and_greet(lost, next_start);
  t.reply(1, rows({{"101", "client:2"}}));
  EXPECT_EQ(t.statement(1), "KILL 100") << "it may be ending";
  t.reply(1, error(1094));
  expect_resolved(true);
}

TEST_F(mysql_lost_connections, is_dead_once_another_user_has_its_id) {
  lose_and_greet(lost, next_start);
  t.reply(1, rows({{"101", "client:2"}}));
  EXPECT_EQ(t.statement(1), "KILL 100");
  t.reply(1, error(1095));
  expect_resolved(true);
}

// 2^24 calls of UUID_SHORT() look like another start.
TEST_F(mysql_lost_connections, is_killed_while_its_id_has_its_address) {
  lose_and_greet(lost, next_start);
  t.reply(1, rows({{"100", "client:1"}, {"101", "client:2"}}));
  EXPECT_EQ(t.statement(1), "KILL 100");
  t.reply(1, {});
  EXPECT_EQ(t.statement(1), lookup) << "KILL returns before the thread has ended";
  t.reply(1, rows({{"100", "client:1"}, {"101", "client:2"}}));
  EXPECT_EQ(t.statement(1), "KILL 100");
  t.reply(1, error(1094));
  expect_resolved(true);
}

TEST_F(mysql_lost_connections, that_may_not_be_killed_is_not_known_to_be_dead) {
  lose_and_greet(lost, next_start);
  t.reply(1, rows({{"100", "client:1"}, {"101", "client:2"}}));
  EXPECT_EQ(t.statement(1), "KILL 100");
  t.reply(1, error(1095));
  expect_resolved(false);
}

TEST_F(mysql_lost_connections, of_a_unix_socket_is_told_from_others_by_the_start_alone) {
  lose_and_greet({.started = "7", .address = "localhost"},
                 {.started = "7", .address = "localhost"});
  EXPECT_EQ(t.statement(1), "KILL 100");
  t.reply(1, error(1094));
  expect_resolved(true);
}

TEST_F(mysql_lost_connections, of_a_unix_socket_is_not_killed_after_another_start) {
  lose_and_greet({.started = "7", .address = "localhost"},
                 {.started = "8", .address = "localhost"});
  EXPECT_EQ(t.statement(1), lookup);
  t.reply(1, rows({{"100", "localhost"}, {"101", "localhost"}}));
  expect_resolved(false);
}

TEST_F(mysql_lost_connections, of_a_unix_socket_is_killed_after_another_start_while_not_listed) {
  lose_and_greet({.started = "7", .address = "localhost"},
                 {.started = "8", .address = "localhost"});
  t.reply(1, rows({{"101", "localhost"}}));
  EXPECT_EQ(t.statement(1), "KILL 100") << "it may be ending";
  t.reply(1, error(1094));
  expect_resolved(true);
}

TEST_F(mysql_lost_connections, is_not_known_to_be_dead_by_a_list_without_the_own_connection) {
  lose_and_greet(lost, next_start);
  EXPECT_EQ(t.statement(1), lookup);
  t.reply(1, {});
  expect_resolved(false);
}

TEST_F(mysql_lost_connections, is_not_known_to_be_dead_while_it_cannot_be_looked_up) {
  lose_and_greet(lost, next_start);
  EXPECT_EQ(t.statement(1), lookup);
  t.reply(1, error(1317));
  expect_resolved(false);
}

TEST_F(mysql_lost_connections, is_not_looked_up_where_an_address_is_not_known) {
  lose_and_greet({.started = "7"}, next_start);
  EXPECT_EQ(t.statement(1), "DO 0");
  t.reply(1, {});
  expect_resolved(false);
}

TEST_F(mysql_lost_connections, is_not_killed_while_no_start_is_known) {
  lose_and_greet({.started = "0"}, {.started = "0"});
  EXPECT_EQ(t.statement(1), "DO 0");
  t.reply(1, {});
  expect_resolved(false);
}

// What another server does not know may still be executed by the first one.
TEST_F(mysql_lost_connections, of_another_server_at_the_same_address_is_not_known_to_be_dead) {
  lose(lost);
  greet(same_start, {"server_id", "2"});
  EXPECT_EQ(t.statement(1), "DO 0");
  t.reply(1, {});
  expect_resolved(false);
}

TEST_F(mysql_lost_connections, is_killed_after_an_outage_that_began_within_its_kill) {
  lose_and_greet(lost, same_start);
  ASSERT_EQ(t.statement(1), "KILL 100");
  t.cut(1);
  t.pass(3 * op_timeout);
  ASSERT_EQ(t.connections.size(), 3u);
  t.greet(2, {"read_only", "OFF"}, same_start);
  EXPECT_EQ(t.statement(2), "KILL 100") << "the outage took no time from it";
}

TEST(mysql_lost_connections_of_two_servers, with_one_id_are_two) {
  server_fixture t("row", 2);
  t.open();
  t.acquire();
  t.cut(0);
  t.cut(2, "nobody listens");
  t.connections.at(3)->id = t.connections[0]->id;
  t.greet(3);
  EXPECT_EQ(t.statement(3), "DO 0") << "the id means another connection here";
  t.cut(3);
  for (const std::size_t other : {4u, 5u}) t.cut(other, "nobody listens");
  ASSERT_EQ(t.connections.at(6)->server, 1u);
  t.greet(6);
  EXPECT_EQ(t.statement(6), "DO 0");
  t.reply(6, {});
  EXPECT_EQ(t.statement(6), "KILL 100") << "the one to this server";
}

// They were opened at the same time.
TEST(mysql_lost_connections_of_one_server, are_killed_one_after_the_other) {
  server_fixture t("row");
  t.open();
  const several_claims all = acquire_several(t, 3, [] {});
  for (const std::size_t i : {1u, 2u}) t.greet(i);
  for (const std::size_t i : {1u, 2u}) t.cut(i);
  t.reply(0, granted_row(1));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(t.statement(0), "KILL 101") << i;
    t.pass(3s);
    t.reply(0, {});
  }
  EXPECT_EQ(t.statement(0), "KILL 101") << "9 s have passed";
  t.pass(1s);
  t.run([&](time_point now, event_queue&) { t.over.retry_by(now); });
  t.pass(1ms);
  t.reply(0, error(1094));
  EXPECT_EQ(t.statement(0), "KILL 102") << "that was the reply about the first one";
  t.reply(0, error(1094));
}

TEST(mysql_ungreeted_connection, that_is_lost_leaves_nothing_to_be_killed) {
  server_fixture t("named");
  t.open();
  t.acquire(false);
  t.run([&](time_point now, event_queue& e) { t.connections.at(1)->events->on_open(now, e); });
  t.cut(1);
  t.pass(1ms);
  EXPECT_EQ(t.statement(0), "");
  EXPECT_TRUE(t.over.is_final(t.now()));
  t.lock->cancel();
}

}  // namespace
}  // namespace holdfast::mysql_unit
