#include "guards/mysql_text.hpp"

#include <gtest/gtest.h>
#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "guards/mysql_session.hpp"

namespace holdfast::guards {
namespace {

errc refusal_of(const std::string& name) {
  try {
    (void)quoted_name(name, "write");
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::bad_name) << name;
    return errc::bad_name;
  }
  return {};
}

TEST(mysql_names, are_quoted) {
  EXPECT_EQ(quoted_name("stock", "write"), "`stock`");
  EXPECT_EQ(quoted_name("a`b", "write"), "`a``b`");
  EXPECT_EQ(quoted_table("shop.stock", "write"), "`shop`.`stock`");
}

TEST(mysql_names, of_1_to_64_bytes_that_the_server_accepts_are_not_refused) {
  for (const std::string& name : {std::string("a"), std::string(64, 'x'), std::string("a b")})
    EXPECT_EQ(refusal_of(name), errc{}) << name;
  for (const std::string& name : {std::string(), std::string(65, 'x'), std::string("a "),
                                  std::string("a\nb"), std::string("a\x7f")})
    EXPECT_EQ(refusal_of(name), errc::bad_name) << name;
}

TEST(mysql_names, have_no_control_character_and_one_dot_at_most) {
  EXPECT_EQ(quoted_table("stock", "write"), "`stock`");
  EXPECT_EQ(quoted_table("a.b.c", "write"), "`a`.`b.c`");
  EXPECT_EQ(refusal_of("a\x1f"), errc::bad_name);
  EXPECT_EQ(refusal_of(" a"), errc{});
  EXPECT_THROW(quoted_table(".a", "write"), lock_error);
  EXPECT_THROW(quoted_table("a.", "write"), lock_error);
}

TEST(mysql_values, are_literals_that_no_byte_can_end) {
  EXPECT_EQ(literal(nullptr), "NULL");
  EXPECT_EQ(literal(std::int64_t{-7}), "-7");
  EXPECT_EQ(literal(0.5), "5e-01");
  EXPECT_EQ(literal(std::string("a'\xff")), "_utf8mb4 x'6127ff'");
  EXPECT_EQ(literal(std::vector{std::byte{0x0a}, std::byte{0xf0}}), "x'0af0'");
  for (const double value :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(literal(value), lock_error);
}

TEST(mysql_values, are_joined_for_an_assignment_and_for_a_condition) {
  const sql_columns columns = {{"a", std::int64_t{1}}, {"b", nullptr}};
  EXPECT_EQ(assignments(columns, "write"), "`a`=1, `b`=NULL");
  EXPECT_EQ(conditions(columns, "write"), "`a`=1 AND `b`=NULL");
  EXPECT_EQ(conditions({}, "write"), "");
}

TEST(mysql_values, of_a_column_that_the_call_writes_are_refused) {
  const sql_columns columns = {{"a", std::int64_t{1}}};
  EXPECT_NO_THROW(refuse_column(columns, "b", "write"));
  try {
    refuse_column(columns, "a", "write");
    ADD_FAILURE();
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::bad_option);
    EXPECT_NE(e.reason().find("column \"a\""), std::string_view::npos) << e.what();
  }
}

TEST(mysql_answer, of_a_number_that_does_not_fit_is_its_text) {
  sql_answer answer;
  answer.fields = {{.name = "number", .integer = integer_range{0, UINT64_MAX}}};
  answer.rows = {{"18446744073709551615"}};
  EXPECT_EQ(answer.value(0, 0), sql_value(std::string("18446744073709551615")));
}

TEST(mysql_answer, has_the_values_of_the_types_of_its_columns) {
  sql_answer answer;
  answer.fields = {{.name = "number", .integer = integer_range{0, 255}},
                   {.name = "share", .is_float = true},
                   {.name = "text"},
                   {.name = "picture", .is_binary = true}};
  answer.rows = {{"42", "0.5", "a", "a"}, {std::nullopt, "1e3", "", ""}};
  EXPECT_EQ(answer.value(0, 0), sql_value(std::int64_t{42}));
  EXPECT_EQ(answer.value(0, 1), sql_value(0.5));
  EXPECT_EQ(answer.value(0, 2), sql_value(std::string("a")));
  EXPECT_EQ(answer.value(0, 3), sql_value(std::vector{std::byte{'a'}}));
  EXPECT_EQ(answer.value(1, 0), sql_value(nullptr));
  EXPECT_EQ(answer.value(1, 1), sql_value(1000.0));
  EXPECT_EQ(answer.value(1, 3), sql_value(std::vector<std::byte>{}));
}

}  // namespace
}  // namespace holdfast::guards
