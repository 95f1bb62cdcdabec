// Opening with strategy `row`: its two tables, and the texts about those that do not suit.
#include "backend/mysql/strategies/row/statements.hpp"
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

class mysql_row_opening : public testing::Test {
 protected:
  // `sent` has the beginnings of the statements that these are the replies to.
  errc opened_with(std::vector<sql_reply> replies) {
    const auto opening = server_fixture("row").open_with(std::move(replies));
    sent = opening.sent;
    text = opening.text;
    return opening.code;
  }

  std::string sent, text;
};

TEST_F(mysql_row_opening, two_tables_that_are_there_are_looked_at) {
  EXPECT_EQ(opened_with({{}, {}}), errc{}) << text;
  EXPECT_EQ(sent, "SELECT SELECT ");
}

TEST_F(mysql_row_opening, each_table_that_is_missing_is_created) {
  EXPECT_EQ(opened_with({error(1146), {}, {}, {}}), errc{}) << text;
  EXPECT_EQ(sent, "SELECT CREATE SELECT SELECT ");
  EXPECT_EQ(opened_with({{}, error(1146), {}, {}}), errc{}) << text;
  EXPECT_EQ(sent, "SELECT SELECT CREATE SELECT ");
  EXPECT_EQ(opened_with({error(1146), {}, {}, error(1146), {}, {}}), errc{}) << text;
  EXPECT_EQ(sent, "SELECT CREATE SELECT SELECT CREATE SELECT ");
}

TEST_F(mysql_row_opening, a_table_that_is_missing_after_its_creation_is_refused) {
  EXPECT_EQ(opened_with({error(1146), {}, error(1146)}), errc::refused);
  EXPECT_EQ(sent, "SELECT CREATE SELECT ");
}

TEST_F(mysql_row_opening, tables_that_cannot_be_created_are_named_with_their_statements) {
  EXPECT_EQ(opened_with({error(1146), error(1142)}), errc::refused);
  EXPECT_EQ(text.find("the tables locks and locks_members cannot be created (the server's words); "
                      "have them created with: CREATE TABLE"),
            0u)
      << text;
}

TEST_F(mysql_row_opening, tables_with_other_columns_are_refused) {
  EXPECT_EQ(opened_with({{}, error(1054)}), errc::mismatch);
  EXPECT_EQ(text,
            "the tables locks and locks_members have other columns than the locks of this version "
            "(the server's words); name another table with ?table=");
}

TEST_F(mysql_row_opening, a_right_that_is_missing_is_named) {
  EXPECT_EQ(opened_with({error(1142)}), errc::refused);
  EXPECT_EQ(sent, "SELECT ");
  EXPECT_NE(text.find("grant this user SELECT, INSERT and UPDATE"), text.npos) << text;
}

TEST(mysql_row_group, of_readers_is_read_from_its_whole_text) {
  using mysql::row::number_of_group;
  EXPECT_EQ(mysql::row::text_of_group(12), "g12");
  EXPECT_EQ(number_of_group("g12"), 12);
  for (const char* const other : {"", "g", "12", "gx", "g12x", "g12 ", "h12"})
    EXPECT_EQ(number_of_group(other), 0) << other;
}

TEST(mysql_row_schema, has_the_statements_of_both_tables) {
  const server_fixture t("row");
  const std::vector<std::string> all = t.s->schema();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].find("CREATE TABLE IF NOT EXISTS `locks` ("), 0u) << all[0];
  EXPECT_EQ(all[1].find("CREATE TABLE IF NOT EXISTS `locks_members` ("), 0u) << all[1];
}

TEST(mysql_row_names, have_767_bytes_at_most) {
  const server_fixture t("row");
  EXPECT_EQ(t.s->name_fault(std::string(767, 'x')), "");
  EXPECT_NE(t.s->name_fault(std::string(768, 'x')).find("longer than 767 bytes"),
            std::string::npos);
}

TEST(mysql_row_several, are_locked_in_one_transaction_unless_one_is_named_twice) {
  const server_fixture t("row");
  const std::string_view distinct[] = {"b", "a", "c"}, repeated[] = {"b", "a", "b"};
  EXPECT_TRUE(t.s->can_lock_all(distinct));
  EXPECT_FALSE(t.s->can_lock_all(repeated));
}

}  // namespace
}  // namespace holdfast::mysql_unit
