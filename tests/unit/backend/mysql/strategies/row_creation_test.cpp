// The row of a lock that was never requested before.
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

class mysql_new_row : public testing::Test {
 protected:
  mysql_new_row() { t.open(); }
  server_fixture t{"row"};
};

TEST_F(mysql_new_row, is_created_and_then_taken) {
  t.acquire();
  t.reply(0, {});
  t.reply(0, {});
  EXPECT_TRUE(t.awaits(0, "INSERT INTO `locks` VALUES(x'6a6f62'"));
  t.reply(0, {});
  EXPECT_TRUE(t.awaits(0, "UPDATE"));
  t.reply(0, granted_row(1));
  EXPECT_EQ(t.sink.take(), "granted ");
}

// As where a replica is promoted that has not received it.
TEST_F(mysql_new_row, that_is_gone_after_its_creation_is_created_again) {
  t.acquire();
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(t.awaits(0, "grant_number="));
    t.reply(0, {});
    EXPECT_TRUE(t.awaits(0, "SELECT owner,"));
    t.reply(0, {});
    EXPECT_TRUE(t.awaits(0, "INSERT INTO"));
    t.reply(0, {});
    EXPECT_TRUE(t.awaits(0, "grant_number="));
    if (round == 1) break;
    t.reply(0, {});
    EXPECT_TRUE(t.awaits(0, "SELECT owner,"));
    t.reply(0, {});
    EXPECT_EQ(t.statement(0), "") << "it pauses";
    t.pass(1s);
  }
  t.reply(0, granted_row(7));
  EXPECT_EQ(t.sink.take(), "granted ");
}

}  // namespace
}  // namespace holdfast::mysql_unit
