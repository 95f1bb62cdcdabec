#include "backend/mysql/transport/statement.hpp"

#include <gtest/gtest.h>

#include "backend/mysql/strategies/pinned/grant_number.hpp"

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
