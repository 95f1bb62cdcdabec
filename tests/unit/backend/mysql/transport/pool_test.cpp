// The connections that claims have for themselves: how many there are, and what is reported when
// one cannot be had.
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

constexpr const char* uuid_in_2026 = "30031216640000005";  // a UUID_SHORT() of 2026

class mysql_pool : public testing::Test {
 protected:
  mysql_pool() { t.open(); }
  static std::string unavailable() {
    return "refused:" + make_error_code(errc::unavailable).message() + ' ';
  }
  server_fixture t{"named"};
};

TEST_F(mysql_pool, a_claim_waits_while_its_connection_is_opened) {
  const auto all = acquire_several(t, t.terms.connections, [] {});
  t.pass(1ms);
  for (const auto& sink : all.sinks) EXPECT_EQ(sink->take(), "");
  ASSERT_EQ(t.connections.size(), 1 + t.terms.connections);
  t.greet(4);
  EXPECT_TRUE(t.awaits(4, "GET_LOCK"));
}

TEST_F(mysql_pool, a_claim_is_refused_at_once_while_all_connections_hold_locks) {
  const auto all = acquire_several(t, t.terms.connections, [&] {
    t.greet(t.connections.size() - 1);
    t.reply(t.connections.size() - 1, rows({{"1", uuid_in_2026}}));
  });
  t.pass(op_timeout);  // no alarm for an earlier statement is left
  t.acquire(false);
  t.pass(1ms);
  EXPECT_EQ(t.sink.take(), unavailable());
  EXPECT_NE(t.sink.reason.find("all 4 connections of this client"), std::string::npos)
      << t.sink.reason;
}

TEST_F(mysql_pool, an_attempt_is_refused_at_once_when_its_connection_cannot_be_opened) {
  t.acquire();
  t.greet(1);
  t.reply(1, rows({{"1", uuid_in_2026}}));
  EXPECT_EQ(t.sink.take(), "granted ");
  told second;
  const auto other = t.s->open("other", second);
  other->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  ASSERT_EQ(t.connections.size(), 3u);
  t.cut(2, "nobody listens");
  EXPECT_EQ(second.take(), unavailable()) << "the connection of the holder is not for others";
  EXPECT_EQ(second.reason, "nobody listens");
}

TEST(mysql_commands, that_have_one_connection_are_not_in_an_outage_for_want_of_another) {
  server_fixture t("row");
  t.open();
  t.acquire();
  told second;
  const auto other = t.s->open("other", second);
  other->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  ASSERT_EQ(t.connections.size(), 2u);
  t.cut(1, "nobody listens");
  EXPECT_FALSE(t.over.is_unavailable());
  EXPECT_EQ(second.take(), "") << "it waits for the one that is there";
  t.reply(0, granted_row(1));
  EXPECT_TRUE(t.awaits(0, "grant_number="));
}

TEST(mysql_commands, have_a_limited_number_of_connections) {
  server_fixture t("row");
  t.open();
  const auto all = acquire_several(t, 4 * t.s->connections().commands, [] {});
  EXPECT_EQ(t.connections.size(), t.s->connections().commands);
}

}  // namespace
}  // namespace holdfast::mysql_unit
