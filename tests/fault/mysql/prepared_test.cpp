// Statements that a connection executes again are prepared: on a real MariaDB the replies are the
// same as those to texts, and a server that does not prepare them is sent texts.
#include "backend/mysql/transport/execution.hpp"

#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "testkit/servers/tcp_proxy.hpp"
#include "tests/fault/mysql/awaited_connection.hpp"
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using mysql::sql_reply;
using mysql::sql_statement;

class mysql_prepared : public on_mariadb {
 protected:
  void SetUp() override {
    on_mariadb::SetUp();
    if (!IsSkipped()) mine.emplace(server().login());
  }
  void TearDown() override { mine.reset(); }
  std::optional<awaited_connection> mine;
};

TEST_F(mysql_prepared, a_statement_with_values_is_prepared_at_its_second_execution) {
  const sql_statement s("SELECT ?", {1});
  mine->execute(s);
  EXPECT_EQ(mine->counted(), counts(0, 0));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(mine->execute(s).cell(0, 0), "1");
  EXPECT_EQ(mine->counted(), counts(1, 3));
  for (int i = 0; i < 3; ++i) mine->execute("SELECT 2");
  EXPECT_EQ(mine->counted(), counts(1, 3)) << "it has no values";
}

TEST_F(mysql_prepared, replies_are_those_to_the_text) {
  const std::string bytes("a'\\\0\xff?", 6);
  const auto select = [&](std::string_view text, std::int64_t number) {
    return sql_statement("SELECT ?,?,NULL,'',-5,18446744073709551615,REPEAT('x',64),"
                         "REPEAT('y',65),REPEAT(?,300),?=x'6f' FROM seq_1_to_3",
                         {text, number, text, text});
  };
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  mine->execute(select("first", 0));
  for (const auto& [text, number] :
       {std::pair<std::string_view, std::int64_t>{bytes, 7}, {"", -1}, {"o", least}}) {
    const sql_statement s = select(text, number);
    const sql_reply got = mine->execute(s), expected = mine->execute(s.text());
    ASSERT_TRUE(got.is_ok()) << got.text;
    EXPECT_EQ(got.rows.size(), 3u);
    EXPECT_EQ(got.rows, expected.rows);
  }
  EXPECT_EQ(mine->counted(), counts(1, 3));
}

TEST_F(mysql_prepared, rows_and_ids_are_counted_as_for_the_text) {
  query("CREATE TABLE t (name VARBINARY(9) PRIMARY KEY, n BIGINT)");
  query("INSERT INTO t VALUES ('a',1),('b',1)");
  const auto update = [](std::string_view name, std::int64_t n) {
    return sql_statement("UPDATE t SET n=LAST_INSERT_ID(?) WHERE name=?", {n, name});
  };
  mine->execute(update("a", 1));
  for (const auto& [name, n, found] : {std::tuple{"a", 7, 1u}, {"a", 7, 1u}, {"none", 8, 0u}}) {
    const sql_reply got = mine->execute(update(name, n));
    EXPECT_EQ(got.affected, found) << name << ", changed or not";
    EXPECT_EQ(got.insert_id, found * static_cast<unsigned>(n));
  }
  EXPECT_EQ(mine->counted(), counts(1, 3));
}

TEST_F(mysql_prepared, errors_are_those_of_the_text) {
  query("CREATE TABLE t (name VARBINARY(9) PRIMARY KEY)");
  const sql_statement insert("INSERT INTO t VALUES (?)", {"a"});
  EXPECT_TRUE(mine->execute(insert).is_ok());
  const sql_reply twice = mine->execute(insert), as_text = mine->execute(insert.text());
  EXPECT_EQ(twice.error, 1062u);
  EXPECT_EQ(twice.text, as_text.text);
  EXPECT_TRUE(mine->execute(sql_statement("INSERT INTO t VALUES (?)", {"b"})).is_ok());
  const sql_statement nowhere("SELECT ? FROM nowhere", {"a"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(mine->execute(nowhere).error, 1146u);
  EXPECT_EQ(mine->counted().second, 2) << "of the one that the server prepares";
}

TEST_F(mysql_prepared, an_error_that_follows_rows_is_that_of_the_text) {
  const sql_statement s("SELECT EXP(?*seq) FROM seq_1_to_3", {400});  // out of range for 2 and 3
  for (int i = 0; i < 3; ++i) EXPECT_EQ(mine->execute(s).error, 1690u);
  EXPECT_EQ(mine->counted(), counts(1, 2));
}

TEST_F(mysql_prepared, a_server_that_prepares_no_more_is_sent_texts) {
  query("SET GLOBAL max_prepared_stmt_count=0");
  const sql_statement s("SELECT ?", {"a"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(mine->execute(s).cell(0, 0), "a");
  query("SET GLOBAL max_prepared_stmt_count=DEFAULT");
  EXPECT_EQ(mine->execute(s).cell(0, 0), "a");
  EXPECT_EQ(mine->counted().second, 0) << "it is asked once";
}

TEST_F(mysql_prepared, a_statement_that_the_server_has_forgotten_is_sent_as_a_text) {
  const std::string unknown_statement = "\xff\xdb\x04", must_be_prepared_again = "\xff\x4f\x06";
  const sql_statement s("SELECT ?", {"a"});
  for (const std::string& error : {unknown_statement, must_be_prepared_again}) {
    testkit::tcp_proxy network(server().port());
    network.set(testkit::direction::to_client, {.mutate = [&](std::string& bytes) {
                  const auto at = bytes.find(unknown_statement);
                  if (at != bytes.npos) bytes.replace(at, error.size(), error);
                }});
    testkit::sql_login login = server().login();
    login.port = network.port();
    awaited_connection own(login);
    for (int i = 0; i < 2; ++i) own.execute(s);
    own.have_all_forgotten();
    for (int i = 0; i < 2; ++i) {
      const sql_reply got = own.execute(s);
      EXPECT_TRUE(got.is_ok()) << got.text;
      EXPECT_EQ(got.cell(0, 0), "a");
    }
  }
}

TEST_F(mysql_prepared, a_table_may_change_in_between) {
  query("CREATE TABLE t (name VARBINARY(9) PRIMARY KEY, n INT)");
  query("INSERT INTO t VALUES ('a',1)");
  const sql_statement s("SELECT n,name FROM t WHERE name=?", {"a"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(mine->execute(s).cell(0, 0), "1");
  query("ALTER TABLE t MODIFY n VARCHAR(20), ADD other INT FIRST");
  query("UPDATE t SET n='a long text of it'");
  EXPECT_EQ(mine->execute(s).cell(0, 0), "a long text of it");
}

TEST_F(mysql_prepared, a_connection_prepares_a_limited_number) {
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 40; ++i) {
      const std::string number = std::to_string(i);
      EXPECT_EQ(mine->execute(sql_statement("SELECT ?+" + number, {0})).cell(0, 0), number);
    }
  EXPECT_EQ(mine->counted(), counts(16, 32));
}

TEST_F(mysql_prepared, locks_of_each_strategy_are_acquired_and_released_by_prepared_statements) {
  for (const std::string strategy : {"row", "for-update", "named"}) {
    const client c = client::open(server().url() + "?strategy=" + strategy);
    const mutex m = c.mutex("job");
    const auto executed = [] { return std::stoll(server().status("Com_stmt_execute")); };
    const auto prepared = [] { return std::stoll(server().status("Com_stmt_prepare")); };
    for (int i = 0; i < 2; ++i) m.acquire().release();
    const long long before = executed(), prepared_before = prepared();
    for (int i = 0; i < 20; ++i) m.acquire().release();
    EXPECT_GE(executed() - before, 20) << strategy;
    EXPECT_LE(prepared() - prepared_before, 2) << strategy;
  }
}

}  // namespace
}  // namespace holdfast::mysql_test
