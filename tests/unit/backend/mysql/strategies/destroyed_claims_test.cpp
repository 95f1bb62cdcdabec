// Claims that are given up, or end, and are destroyed while a statement of theirs is under way.
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

constexpr const char* first_uuid = "30031216640000005";  // a UUID_SHORT() of 2026

void give_up_and_destroy(server_fixture& t) {
  t.run([&](time_point now, event_queue& events) {
    t.s->end_claims(errc::unavailable, "it was given up", now, events);
  });
  t.lock.reset();
}

TEST(mysql_destroyed_claim, of_a_row_is_withdrawn_after_the_reply_to_its_try) {
  for (const char* const has_members : {"0", "1"}) {
    server_fixture t("row");
    t.open();
    t.acquire();
    t.reply(0, {});
    ASSERT_TRUE(t.awaits(0, "SELECT owner,"));
    give_up_and_destroy(t);
    t.reply(0, rows({{"", "-1", has_members}}));
    EXPECT_TRUE(t.awaits(0, "SET owner=x''")) << t.statement(0);
    t.reply(0, granted_row(0));
  }
}

TEST(mysql_destroyed_claim, of_a_row_is_not_renewed) {
  server_fixture t("row");
  t.open();
  several_claims all = acquire_several(t, 2, [&] { t.reply(0, granted_row(1)); });
  for (auto& c : all.claims) c->renew(30s, 1);
  t.greet(1);
  all.claims[1]->release(nullptr);
  t.reply(0, granted_row(0));
  all.claims[1].reset();
  t.reply(1, granted_row(0));
  EXPECT_EQ(t.statement(1), "");
  EXPECT_EQ(all.sinks[0]->take(), "granted extended ");
}

TEST(mysql_destroyed_claim, of_a_row_does_not_need_the_connection_of_its_bell) {
  server_fixture t("row");
  t.open();
  t.acquire(false);
  t.reply(0, {});
  t.reply(0, rows({{"another", "20000000"}}));
  t.greet(1);
  t.reply(1, rows({{"7", "1"}}));
  t.reply(0, granted_row(5));
  t.lock->release(nullptr);
  t.reply(0, granted_row(0));
  ASSERT_TRUE(t.awaits(1, "RELEASE_LOCK"));
  t.lock.reset();
  t.cut(1);
  EXPECT_EQ(t.sink.take(), "granted ended ");
}

TEST(mysql_destroyed_claim, of_a_connection_has_it_closed_within_its_release) {
  server_fixture t("named");
  t.open();
  t.acquire();
  t.greet(1);
  t.reply(1, rows({{"1", first_uuid}}));
  t.lock->release(nullptr);
  ASSERT_TRUE(t.awaits(1, "RELEASE_LOCK"));
  give_up_and_destroy(t);
  EXPECT_TRUE(t.connections[1]->closes);
  t.close_requested();
  EXPECT_EQ(t.sink.take(),
            "granted ended:" + make_error_code(errc::outcome_unknown).message() + ' ');
}

TEST(mysql_destroyed_claim, of_a_row_that_is_locked_is_not_tried_again_after_a_cut) {
  server_fixture t("for-update");
  t.open();
  t.acquire();
  t.greet(1);
  t.reply(1, {});
  ASSERT_TRUE(t.awaits(0, "INSERT INTO"));
  give_up_and_destroy(t);
  t.cut(0);
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
}

}  // namespace
}  // namespace holdfast::mysql_unit
