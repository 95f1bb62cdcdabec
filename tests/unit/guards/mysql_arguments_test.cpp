// Arguments that a guard or a table refuses before it sends a statement, and the error of an empty
// connection for those that it accepts.
#include <gtest/gtest.h>
#include <holdfast/error.hpp>
#include <holdfast/mysql.hpp>
#include <holdfast/optimistic.hpp>

#include <cstdint>
#include <string>
#include <string_view>
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

#ifdef HOLDFAST_WITH_MYSQL
constexpr errc of_no_connection = errc::closed;
#else
constexpr errc of_no_connection = errc::unsupported;
#endif

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
  EXPECT_EQ(write("state"), of_no_connection) << "the connection is empty";
  std::error_code ec;
  EXPECT_FALSE(guard.write(1, "me", {}, ec));
  EXPECT_EQ(ec, of_no_connection);
  guard.set("me", ec);
  EXPECT_EQ(ec, of_no_connection);
}

TEST(mysql_guard_arguments, of_no_lease_are_refused_without_a_statement) {
  mysql_guard ordered(mysql_connection(), {.table = "job", .key = row_one});
  EXPECT_FALSE(ordered.write(0, "me", {}));
  EXPECT_FALSE(ordered.write(-1, "me", {}));
  mysql_guard exact(mysql_connection(), {.table = "job", .key = row_one}, fencing::exact);
  EXPECT_EQ(error_of_guard([&] { return exact.write(0, "me", {}); }), of_no_connection);
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
    EXPECT_EQ(error_of_guard([&] {
                return stock.write(key, "1", {{"left", nullptr}});
              }),
              errc::bad_option);
  }
  EXPECT_EQ(error_of_guard([&] { return stock.read(whole); }), of_no_connection);
  std::error_code ec;
  EXPECT_FALSE(stock.write(whole, "1", {{"left", nullptr}}, ec));
  EXPECT_EQ(ec, of_no_connection);
}

std::error_code error_of(draft_columns columns) {
  return error_of_guard([&] { return draft_table(mysql_connection(), std::move(columns)); });
}

TEST(draft_table_arguments, name_a_table_and_its_columns) {
  EXPECT_EQ(error_of(draft_columns{.table = "job"}), std::error_code());
  EXPECT_EQ(error_of(draft_columns{.table = ""}), errc::bad_name);
  EXPECT_EQ(error_of(draft_columns{.table = "job", .id = ""}), errc::bad_name);
  EXPECT_EQ(error_of(draft_columns{.table = "job", .version = ""}), errc::bad_name);
  EXPECT_EQ(error_of(draft_columns{.table = "job", .is_draft = ""}), errc::bad_name);
  EXPECT_EQ(error_of(draft_columns{.table = "job", .touched = ""}), errc::bad_name);
}

TEST(draft_table_arguments, leave_out_the_columns_of_the_table_itself) {
  const draft_columns own{.table = "job"};
  draft_table drafts(mysql_connection(), own);
  draft one{1, "1", {}};
  for (const std::string& column : {own.id, own.version, own.is_draft, own.touched}) {
    const sql_columns values = {{column, nullptr}};
    EXPECT_EQ(error_of_guard([&] { return drafts.create(values); }), errc::bad_option) << column;
    EXPECT_EQ(error_of_guard([&] { return drafts.save(one, values); }), errc::bad_option) << column;
    EXPECT_EQ(error_of_guard([&] { return drafts.submit(one, values); }), errc::bad_option)
        << column;
  }
  EXPECT_EQ(error_of_guard([&] { return drafts.create({{"state", nullptr}}); }), of_no_connection);
  EXPECT_EQ(error_of_guard([&] { return drafts.save(one, {}); }), of_no_connection);
  EXPECT_EQ(error_of_guard([&] { return drafts.abandon(one); }), of_no_connection);
}

TEST(draft_table_arguments, have_a_version_that_was_read) {
  draft_table drafts(mysql_connection(), {.table = "job"});
  for (const char* const version : {"", "x", "1x"}) {
    draft one{1, version, {}};
    EXPECT_EQ(error_of_guard([&] { return drafts.save(one, {}); }), errc::bad_option) << version;
    EXPECT_EQ(error_of_guard([&] { return drafts.submit(one, {}); }), errc::bad_option) << version;
    EXPECT_EQ(error_of_guard([&] { return drafts.abandon(one); }), errc::bad_option) << version;
  }
}

#ifdef HOLDFAST_WITH_MYSQL
TEST(mysql_connection_arguments, are_read_before_a_connection_is_opened) {
  const struct {
    const char* where;
    errc code;
    const char* text;
  } refused[] = {{"redis://h/d", errc::bad_url, "the scheme is not mysql:"},
                 {"mysql://h1,h2/d", errc::bad_url, "name one host"},
                 {"mysql:///d", errc::bad_url, "name a host"},
                 {"mysql://h/d?socket=/run/s", errc::bad_url, "the URL names another host"},
                 {"mysql:///d?socket=/run/s&tls=1", errc::bad_option, "a Unix socket has no TLS"},
                 {"mysql://localhost/d?socket=/run/s&tls-ca=/x", errc::bad_option,
                  "a Unix socket has no TLS"},
                 {"mysql://127.0.0.1/d?strategy=row", errc::bad_option, "no option \"strategy\""},
                 {"mysql://127.0.0.1/d?connect-timeout=x", errc::bad_option, "connect-timeout"},
                 {"mysql://127.0.0.1/d?op-timeout=x", errc::bad_option, "op-timeout"},
                 {"mysql://127.0.0.1/d?tls=x", errc::bad_option, "tls"}};
  for (const auto& each : refused) {
    try {
      (void)mysql_connection::open(each.where);
      ADD_FAILURE() << each.where;
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), each.code) << each.where;
      EXPECT_NE(e.detail().find(each.text), std::string_view::npos) << e.what();
    }
  }
}
#endif

}  // namespace
}  // namespace holdfast
