#include "backend/mysql/transport/statement.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "backend/mysql/strategies/pinned/strategy.hpp"

namespace holdfast::mysql_unit {
namespace {

using mysql::bound;

TEST(mysql_statement, a_string_is_a_hexadecimal_literal_and_a_number_has_digits) {
  EXPECT_EQ(bound("SELECT ?,?", {"a'\\\n", -7}), "SELECT x'61275c0a',-7");
  EXPECT_EQ(bound("SELECT ?", {""}), "SELECT x''");
  EXPECT_EQ(bound("SELECT ?", {std::string_view("\xff\0", 2)}), "SELECT x'ff00'");
}

TEST(mysql_statement, a_question_mark_in_a_value_is_no_place_for_the_next_one) {
  EXPECT_EQ(bound("? ?", {"?", 1}), "x'3f' 1");
}

TEST(mysql_statement, an_identifier_has_1_to_64_letters_digits_and_underscores) {
  using mysql::is_identifier;
  EXPECT_TRUE(is_identifier("azAZ09_"));
  EXPECT_TRUE(is_identifier(std::string(64, 'x')));
  EXPECT_FALSE(is_identifier(std::string(65, 'x')));
  EXPECT_FALSE(is_identifier(""));
  for (const char* const text : {"a@", "a[", "a`", "a{", "a/", "a:", "a-", "a.", "a "})
    EXPECT_FALSE(is_identifier(text)) << text;
}

TEST(mysql_statement, a_place_without_a_value_stays_a_question_mark) {
  EXPECT_EQ(bound("? ?", {1}), "1 ?");
}

TEST(mysql_statement, keeps_its_values_and_has_a_text_with_them) {
  std::string name = "a?b";
  const mysql::sql_statement s("SELECT ? WHERE name=?", {7, name});
  name = "c";
  EXPECT_EQ(s.with_marks(), "SELECT ? WHERE name=?");
  EXPECT_EQ(s.text(), "SELECT 7 WHERE name=x'613f62'");
  EXPECT_EQ(s.values().size(), 2u);
  EXPECT_EQ(mysql::sql_statement("COMMIT").text(), "COMMIT");
  EXPECT_TRUE(mysql::sql_statement().empty());
}

TEST(mysql_reply, has_a_number_where_a_cell_is_a_whole_number) {
  mysql::sql_reply r;
  r.rows = {{"-12", "12x", "", std::nullopt, "99999999999999999999"}};
  EXPECT_EQ(r.number(0, 0), -12);
  for (const std::size_t column : {1u, 2u, 3u, 4u, 5u}) EXPECT_EQ(r.number(0, column), 0) << column;
  EXPECT_EQ(r.number(1, 0), 0);
  EXPECT_EQ(r.cell(0, 1), "12x");
  EXPECT_EQ(r.cell(0, 5), "");
  EXPECT_FALSE(r.is_null(0, 2));
  EXPECT_TRUE(r.is_null(0, 3) && r.is_null(0, 5) && r.is_null(1, 0));
}

TEST(mysql_grant_number, ends_with_53_bits) {
  using mysql::pinned::number_of;
  constexpr std::uint64_t start_of_2020 = 1577836800ull << 24;
  EXPECT_EQ(number_of(start_of_2020), 0);
  EXPECT_EQ(number_of(start_of_2020 + 1), 1);
  EXPECT_EQ(number_of(start_of_2020 + (1ull << 53) - 1), (1ll << 53) - 1);
  EXPECT_EQ(number_of(start_of_2020 + (1ull << 53)), 0);
}

TEST(mysql_grant_number, is_that_of_uuid_short_without_the_id_of_the_server) {
  using mysql::pinned::number_of;
  constexpr std::uint64_t second = 1ull << 24, in_2026 = 1790000000ull;
  EXPECT_EQ(number_of(in_2026 * second + 5), (1790000000ll - 1577836800ll) * (1ll << 24) + 5);
  EXPECT_EQ(number_of((7ull << 56) + in_2026 * second + 5), number_of(in_2026 * second + 5));
  EXPECT_EQ(number_of(1500000000ull * second), 0) << "before 2020";
  EXPECT_EQ(number_of(2200000000ull * second), 0) << "needs more than 53 bits";
}

}  // namespace
}  // namespace holdfast::mysql_unit
