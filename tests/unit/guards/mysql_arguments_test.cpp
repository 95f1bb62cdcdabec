// Arguments that a guard or an optimistic table refuses before it sends a statement, and the error of
// an empty connection for those that it accepts.
#include <gtest/gtest.h>
#include <holdfast/error.hpp>
#include <holdfast/mysql.hpp>
#include <holdfast/optimistic.hpp>

#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast {
namespace {

template <class Call>
std::error_code error_of_guard(Call call) {
  try {
    (void)call();
  } catch (const lock_error& e) {
    return e.code();
  }
  return {};
}

const sql_columns row_one = {{"id", std::int64_t{1}}};

std::error_code error_of(guarded_row row) {
  return error_of_guard([&] { return mysql_guard(mysql_connection(), std::move(row)); });
}

TEST(mysql_guard_arguments, name_a_row) {
  EXPECT_EQ(error_of({.table = "job", .key = row_one}), std::error_code());
  EXPECT_EQ(error_of({.table = "job", .key = {}}), errc::bad_option);
  EXPECT_EQ(error_of({.table = "", .key = row_one}), errc::bad_name);
  EXPECT_EQ(error_of({.table = "job", .key = {{"", nullptr}}}), errc::bad_name);
  EXPECT_EQ(error_of({.table = "job", .key = row_one, .token_column = ""}), errc::bad_name);
  EXPECT_EQ(error_of({.table = "job", .key = row_one, .owner_column = ""}), errc::bad_name);
}

TEST(mysql_guard_arguments, of_a_write_leave_out_the_columns_of_the_key_and_of_the_guard) {
  mysql_guard guard(mysql_connection(), {.table = "job", .key = row_one});
  const auto write = [&](const char* column) {
    return error_of_guard([&] { return guard.write(1, "me", {{column, nullptr}}); });
  };
  for (const char* const column : {"id", "fence_token", "fence_owner"})
    EXPECT_EQ(write(column), errc::bad_option) << column;
  EXPECT_EQ(write("state"), errc::closed) << "the connection is empty";
  std::error_code ec;
  EXPECT_FALSE(guard.write(1, "me", {}, ec));
  EXPECT_EQ(ec, errc::closed);
  guard.set("me", ec);
  EXPECT_EQ(ec, errc::closed);
}

TEST(mysql_guard_arguments, of_no_lease_are_refused_without_a_statement) {
  mysql_guard ordered(mysql_connection(), {.table = "job", .key = row_one});
  EXPECT_FALSE(ordered.write(0, "me", {}));
  EXPECT_FALSE(ordered.write(-1, "me", {}));
  mysql_guard exact(mysql_connection(), {.table = "job", .key = row_one}, fencing::exact);
  EXPECT_EQ(error_of_guard([&] { return exact.write(0, "me", {}); }), errc::closed);
}

std::error_code error_of(versioned_table table) {
  return error_of_guard([&] { return optimistic_table(mysql_connection(), std::move(table)); });
}

TEST(optimistic_table_arguments, name_a_table_with_a_key_and_a_version) {
  EXPECT_EQ(error_of(versioned_table{.table = "stock"}), std::error_code());
  EXPECT_EQ(error_of(versioned_table{.table = ""}), errc::bad_name);
  EXPECT_EQ(error_of(versioned_table{.table = "stock", .version = ""}), errc::bad_name);
  EXPECT_EQ(error_of(versioned_table{.table = "stock", .key = {""}}), errc::bad_name);
  EXPECT_EQ(error_of(versioned_table{.table = "stock", .key = {}}), errc::bad_option);
  EXPECT_EQ(error_of(versioned_table{.table = "stock", .key = {"id", "version"}}),
            errc::bad_option);
}

TEST(optimistic_table_arguments, of_a_row_are_exactly_the_columns_of_the_key) {
  optimistic_table stock(mysql_connection(), {.table = "stock", .key = {"id", "place"}});
  const sql_columns whole = {{"id", std::int64_t{1}}, {"place", std::string("a")}};
  const sql_columns wrong[] = {{},
                               {{"id", std::int64_t{1}}},
                               {{"id", std::int64_t{1}}, {"other", std::string("a")}},
                               {{"id", std::int64_t{1}}, {"place", nullptr}},
                               {{"id", std::int64_t{1}},
                                {"place", std::string("a")},
                                {"other", std::string("a")}}};
  for (const sql_columns& key : wrong) {
    EXPECT_EQ(error_of_guard([&] { return stock.read(key); }), errc::bad_option);
    EXPECT_EQ(error_of_guard([&] { return stock.write(key, "1", {{"left", nullptr}}); }),
              errc::bad_option);
  }
  EXPECT_EQ(error_of_guard([&] { return stock.read(whole); }), errc::closed);
  std::error_code ec;
  EXPECT_FALSE(stock.write(whole, "1", {{"left", nullptr}}, ec));
  EXPECT_EQ(ec, errc::closed);
}

}  // namespace
}  // namespace holdfast
