#include "guards/mysql_text.hpp"

#include <gtest/gtest.h>
#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
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
