#include "backend/mysql/transport/transport.hpp"

#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

TEST(mysql_transport, a_read_only_server_is_refused) {
  server_fixture t("row");
  t.net.while_blocked = [&] {
    t.greet(0, {"read_only", "ON"});
    t.close_requested();
  };
  EXPECT_THROW(t.over.open(), lock_error);
}

TEST(mysql_transport, a_lost_connection_is_killed_until_the_server_no_longer_knows_it) {
  server_fixture t("row");
  t.open();
  t.acquire();
  ASSERT_TRUE(t.awaits(0, "UPDATE"));
  t.cut(0);
  t.greet(1);
  EXPECT_EQ(t.statement(1), "KILL 100");
  t.reply(1, {});
  EXPECT_EQ(t.statement(1), "KILL 100") << "KILL returns before the thread has ended";
  t.reply(1, error(1094));
  EXPECT_TRUE(t.awaits(1, "UPDATE")) << "the attempt is repeated under its owner";
  t.reply(1, granted_row(5));
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST(mysql_transport, a_connection_of_another_server_is_not_killed_by_its_id) {
  server_fixture t("row");
  t.open();
  t.acquire();
  t.cut(0);
  t.net.time.freeze(1h);  // it started an hour later than the one before
  t.greet(1);
  EXPECT_EQ(t.statement(1), "DO 0");
  t.reply(1, {});
  EXPECT_TRUE(t.awaits(1, "UPDATE"));
}

TEST(mysql_transport, an_overdue_statement_ends_with_its_connection) {
  server_fixture t("row");
  t.open();
  t.acquire(false);
  t.pass(op_timeout + 1ms);
  EXPECT_TRUE(t.connections[0]->closes);
}

TEST(mysql_transport, connections_are_opened_up_to_their_bound) {
  server_fixture t("row");
  t.open();
  std::vector<std::unique_ptr<seam::claim>> claims;
  std::vector<std::unique_ptr<told>> sinks;
  for (int i = 0; i < 8; ++i) {
    sinks.push_back(std::make_unique<told>());
    claims.push_back(t.s->open("lock" + std::to_string(i), *sinks.back()));
    claims.back()->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  }
  EXPECT_EQ(t.connections.size(), t.terms.connections);
  t.reply(0, granted_row(1));
  EXPECT_TRUE(t.awaits(0, "UPDATE")) << "the next statement of the queue";
  t.pass(op_timeout + 1s);  // the others are given up
  t.close_requested();
}

}  // namespace
}  // namespace holdfast::mysql_unit
