// One of several servers is the primary: connections to the former one, or to another, are not
// used, and their ends do not concern the present one.
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

constexpr unsigned is_read_only = 1290;

// A statement runs, and another one opens connection 2, to the primary as well.
class mysql_busy_primary : public testing::Test {
 protected:
  mysql_busy_primary() {
    t.open();
    t.acquire(false);
    other->acquire({.ttl = 30s, .at = t.now()});
  }
  server_fixture t{"row", 2};
  told second;
  const std::unique_ptr<seam::claim> other = t.s->open("other", second);
};

// Connection 0 is to the primary, and connection 1 to the replica and closed.
TEST(mysql_primary, that_was_lost_gets_no_claim_by_a_connection_that_is_greeted_late) {
  server_fixture t("named", 2);
  t.open();
  t.acquire(false);
  ASSERT_EQ(t.connections.at(2)->server, 0u);
  t.cut(0);
  ASSERT_EQ(t.connections.size(), 5u) << "one to each server";
  t.greet(2);
  EXPECT_TRUE(t.connections[2]->closes) << "the other server may be the primary by now";
  EXPECT_EQ(t.statement(2), "");
  t.close_requested();
  t.cut(3, "nobody listens");
  t.greet(4);
  t.pass(1ms);
  ASSERT_EQ(t.connections.size(), 6u);
  EXPECT_EQ(t.connections[5]->server, 1u);
  t.greet(5);
  EXPECT_TRUE(t.awaits(5, "GET_LOCK"));
  t.lock->cancel();
}

// Two connections to one server are not two servers that accept writes.
TEST_F(mysql_busy_primary, is_chosen_again_while_a_connection_from_before_its_loss_is_greeted) {
  ASSERT_EQ(t.connections.at(2)->server, 0u);
  t.cut(0);
  ASSERT_EQ(t.connections.size(), 5u) << "one to each server";
  t.greet(2);
  t.greet(3);
  t.greet(4, {"read_only", "ON"});
  t.close_requested();
  EXPECT_FALSE(t.connections[2]->closes || t.connections[3]->closes);
  EXPECT_FALSE(t.statement(2).empty() && t.statement(3).empty());
  for (seam::claim* const c : {t.lock.get(), other.get()}) c->cancel();
}

TEST_F(mysql_busy_primary, is_left_at_once_when_it_is_read_only_even_while_another_statement_runs) {
  t.greet(2);
  ASSERT_TRUE(t.awaits(2, "grant_number="));
  t.reply(0, error(is_read_only));
  t.pass(1s);
  ASSERT_EQ(t.connections.size(), 5u) << "one to each server";
  EXPECT_EQ(t.connections[3]->server, 0u);
  EXPECT_EQ(t.connections[4]->server, 1u);
  EXPECT_FALSE(t.connections[2]->closes) << "its statement is answered first";
  t.reply(2, {});
  EXPECT_TRUE(t.connections[2]->closes);
  for (seam::claim* const c : {t.lock.get(), other.get()}) c->cancel();
}

TEST(mysql_primary, is_kept_when_a_connection_from_before_its_demotion_ends) {
  server_fixture t("row", 2);
  t.open();
  t.acquire(false);
  t.reply(0, error(is_read_only));
  ASSERT_TRUE(t.connections[0]->closes);
  t.pass(1s);
  ASSERT_EQ(t.connections.size(), 4u);
  t.greet(2);
  t.greet(3, {"read_only", "ON"});
  t.cut(3);
  t.pass(op_timeout / 4);
  ASSERT_TRUE(t.awaits(2, "grant_number=")) << "it accepts writes again";
  t.cut(0);
  t.reply(2, granted_row(5));
  EXPECT_FALSE(t.connections[2]->closes);
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_busy_primary, is_kept_while_another_connection_to_it_is_left) {
  t.greet(2);
  t.reply(0, granted_row(1));
  t.cut(2);
  t.pass(1s);
  for (std::size_t n = 3; n < t.connections.size(); ++n) EXPECT_EQ(t.connections[n]->server, 0u);
  other->cancel();
}

TEST(mysql_primary, is_kept_with_its_locks_when_one_more_connection_to_it_fails) {
  for (const bool reaches_replica : {false, true}) {  // of one address, which several servers have
    server_fixture t("named", reaches_replica ? 1 : 2);
    t.open();
    t.acquire();
    const std::size_t holder = t.connections.size() - 1;
    t.greet(holder);
    t.reply(holder, rows({{"1", "30031216640000005"}}));
    told second;
    const auto other = t.s->open("other", second);
    other->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
    if (reaches_replica)
      t.greet(holder + 1, {"read_only", "ON"});
    else
      t.cut(holder + 1, "nobody listens");
    t.close_requested();
    EXPECT_EQ(t.sink.take(), "granted ");
    EXPECT_FALSE(t.connections[holder]->closes);
    other->cancel();
  }
}

TEST(mysql_primary, has_no_failure_when_the_connection_to_a_slow_server_is_closed) {
  server_fixture t("row", 2);
  bool is_open = false;
  t.net.while_blocked = [&] {
    if (std::exchange(is_open, true)) return;
    t.greet(0);
    t.run([&](time_point now, event_queue& e) { t.connections[1]->events->on_open(now, e); });
    t.pass(op_timeout / 4);
    while (t.awaits(0, "SELECT name")) t.reply(0, {});
  };
  t.over.open();
  ASSERT_TRUE(t.connections[1]->closes);
  t.close_requested();
  const std::lock_guard guard(t.over.mutex());
  EXPECT_TRUE(t.over.read_status().connected);
  EXPECT_EQ(t.over.read_status().last_failure, "");
}

}  // namespace
}  // namespace holdfast::mysql_unit
