// The model of MariaDB does with connections, transactions and named locks as the real one does.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backend/mysql/strategies/for_update/statements.hpp"
#include "backend/mysql/strategies/named/statements.hpp"
#include "backend/mysql/strategies/row/statements.hpp"
#include "testkit/servers/mariadb_server.hpp"
#include "tests/fault/mysql/awaited_connection.hpp"
#include "tests/sim/mysql/model/model_mariadb.hpp"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using testkit::mariadb_server;

// A connection to both. A statement that waits is answered later.
class server_pair : private mariadb_listener {
 public:
  server_pair() {
    create(texts.create_table());
    create(texts.create_members());
    create(row_locks.create_table());
  }

  std::uint64_t connect() { return model_.connect(0); }
  std::optional<model_reply> execute(std::uint64_t c, const std::string& statement) {
    replies_.erase(c);
    model_.execute(c, statement, 0);
    while (model_.go_on(0)) {}
    return reply_of(c);
  }
  std::optional<model_reply> reply_of(std::uint64_t c) {
    const auto found = replies_.find(c);
    return found == replies_.end() ? std::nullopt : std::optional(found->second.back());
  }
  // To the last text that it executed.
  const std::vector<model_reply>& replies_of(std::uint64_t c) { return replies_[c]; }
  void pass(std::int64_t us) { model_.advance(us); }
  void disconnect(std::uint64_t c) {
    model_.disconnect(c);
    while (model_.go_on(0)) {}
  }
  void end_killed() { model_.end_killed(); }
  testkit::mariadb_link link() {
    testkit::mariadb_link out = server_.link();
    out.query("SET time_zone='+00:00', timestamp=1700000000");
    return out;
  }

  mysql_test::awaited_connection awaited_connection() {
    return mysql_test::awaited_connection(server_.login());
  }
  void await_row_wait(const testkit::mariadb_link& l) { server_.wait_until_row_wait(l.id()); }

  const mysql::row::statements texts{"locks"};
  const mysql::for_update::statements row_locks{"row_locks", ""};

 private:
  void on_reply(std::uint64_t c, const model_reply& r) override { replies_[c].push_back(r); }
  void on_closed(std::uint64_t) override {}
  void create(const std::string& statement) {
    model_.make_table(statement);
    server_.link().query(statement);
  }

  mariadb_server server_;
  std::map<std::uint64_t, std::vector<model_reply>> replies_;
  model_mariadb model_{*this, [] { return std::int64_t{1'700'000'000'000'000}; }};
};

void expect_same_rows(server_pair& both, std::uint64_t c, testkit::mariadb_link& l,
                      const std::string& text) {
  const auto model = both.execute(c, text);
  const testkit::sql_result real = l.query(text);
  ASSERT_TRUE(model) << text;
  EXPECT_EQ(model->rows, real.rows) << text;
}

std::string outcome_of(unsigned error, const std::vector<sql_row_seen>& rows) {
  if (error != 0) return "error " + std::to_string(error);
  return rows.empty() ? "no row" : rows.at(0).at(0).value_or("NULL");
}

std::string outcome_of(const std::optional<model_reply>& r) {
  return r ? outcome_of(r->error, r->rows) : "waits";
}

std::string outcome_of(testkit::mariadb_link& l, const std::string& text) {
  try {
    return outcome_of(0, l.query(text).rows);
  } catch (const testkit::sql_error& e) {
    return outcome_of(e.code, {});
  }
}

class mysql_server_model : public testing::Test {
 protected:
  void SetUp() override {
    if (!mariadb_server::installed()) GTEST_SKIP() << mariadb_server::not_installed;
  }
};

TEST_F(mysql_server_model, a_row_is_locked_until_its_transaction_ends) {
  server_pair both;
  const std::uint64_t a = both.connect(), b = both.connect();
  testkit::mariadb_link real_a = both.link(), real_b = both.link();
  const auto expect_same = [&](std::uint64_t c, testkit::mariadb_link& l, const std::string& text) {
    expect_same_rows(both, c, l, text);
  };
  expect_same(a, real_a, both.texts.create("x").text());
  expect_same(a, real_a, "START TRANSACTION");
  expect_same(a, real_a, both.texts.lock_row("x").text());
  real_b.query("SET innodb_lock_wait_timeout=1");
  both.execute(b, "SET SESSION innodb_lock_wait_timeout=1");
  EXPECT_FALSE(both.execute(b, both.texts.create("x").text())) << "it waits";
  unsigned error = 0;
  try {
    real_b.query(both.texts.create("x").text());
  } catch (const testkit::sql_error& e) {
    error = e.code;
  }
  both.pass(1'000'001);
  ASSERT_TRUE(both.reply_of(b));
  EXPECT_EQ(both.reply_of(b)->error, error);
  const std::string opened = both.texts.open_to_members("x").text();
  both.execute(a, opened);
  real_a.query(opened);
  expect_same(b, real_b, both.texts.look("x").text());  // it sees what is committed
  expect_same(a, real_a, "ROLLBACK");
  expect_same(b, real_b, both.texts.look("x").text());
  expect_same(b, real_b, both.texts.create("x").text());
}

TEST_F(mysql_server_model, a_transaction_whose_wait_would_close_a_cycle_is_a_deadlocks_victim) {
  server_pair both;
  const std::uint64_t a = both.connect(), b = both.connect();
  testkit::mariadb_link real_a = both.link(), real_b = both.link();
  for (const char* name : {"x", "y"})
    expect_same_rows(both, a, real_a, both.texts.create(name).text());
  expect_same_rows(both, a, real_a, "START TRANSACTION");
  expect_same_rows(both, b, real_b, "START TRANSACTION");
  expect_same_rows(both, a, real_a, both.texts.lock_row("x").text());
  expect_same_rows(both, b, real_b, both.texts.lock_row("y").text());
  EXPECT_FALSE(both.execute(a, both.texts.lock_row("y").text())) << "it waits";
  real_a.send(both.texts.lock_row("y").text());
  both.await_row_wait(real_a);
  EXPECT_EQ(outcome_of(both.execute(b, both.texts.lock_row("x").text())), "error 1213");
  EXPECT_EQ(outcome_of(real_b, both.texts.lock_row("x").text()), "error 1213");
  ASSERT_TRUE(both.reply_of(a)) << "the victim's transaction has ended";
  EXPECT_EQ(both.reply_of(a)->rows, real_a.receive().rows);
  expect_same_rows(both, a, real_a, "COMMIT");
  expect_same_rows(both, b, real_b, both.texts.look("x").text());
}

// A shared commit sends the statements for several rows as one text.
TEST_F(mysql_server_model, several_statements_are_executed_up_to_the_first_error) {
  server_pair both;
  const std::uint64_t a = both.connect(), b = both.connect();
  testkit::mariadb_link other = both.link();
  auto real = both.awaited_connection();
  real.execute("SET time_zone='+00:00', timestamp=1700000000");
  const auto take = [&](std::string_view name) {
    return "/*M! SET STATEMENT innodb_lock_wait_timeout=1 FOR */ " +
           both.texts.try_lock({.name = name, .owner = "o", .ttl = 10s}, 0).text();
  };
  const std::string text = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;START TRANSACTION;" +
                           take("x") + ';' + take("y") + ";COMMIT";
  const auto expect_same = [&] {
    const mysql::sql_reply last = real.execute(text);
    std::vector<mysql::sql_reply> expected = last.earlier;
    expected.push_back(last);
    const std::vector<model_reply>& got = both.replies_of(a);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].error, expected[i].error) << i;
      EXPECT_EQ(got[i].affected, expected[i].affected) << i;
      EXPECT_EQ(got[i].insert_id, expected[i].insert_id) << i;
    }
  };
  std::string lines = text;
  std::ranges::replace(lines, ';', '\n');
  expect_same_rows(both, b, other, both.texts.create("x").text());
  both.execute(a, lines);  // there is no row "y"
  expect_same();
  expect_same_rows(both, b, other, both.texts.create("y").text());
  both.execute(a, lines);
  expect_same();
  expect_same_rows(both, b, other, "START TRANSACTION");
  expect_same_rows(both, b, other, both.texts.lock_row("y").text());
  both.execute(a, lines);
  both.pass(1'000'001);
  expect_same();
  both.execute(a, "ROLLBACK");
  EXPECT_TRUE(real.execute("ROLLBACK").is_ok());
  expect_same_rows(both, b, other, "COMMIT");
  for (const char* name : {"x", "y"})
    expect_same_rows(both, b, other, both.texts.look(name).text());
}

TEST_F(mysql_server_model, a_transaction_reads_what_was_there_at_its_first_read) {
  server_pair both;
  const std::uint64_t a = both.connect(), b = both.connect();
  testkit::mariadb_link real_a = both.link(), real_b = both.link();
  const auto expect_same = [&](std::uint64_t c, testkit::mariadb_link& l, const std::string& text) {
    expect_same_rows(both, c, l, text);
  };
  const mysql::retrying::lock_request member{.name = "x", .owner = "o", .ttl = 10s};
  for (const std::string& text :
       {both.texts.create("x").text(), both.texts.add_member(member, 7).text()})
    expect_same(b, real_b, text);
  const std::string count = "SELECT permits FROM `locks_members` WHERE name=x'78'";
  expect_same(a, real_a, "START TRANSACTION");
  expect_same(a, real_a, count);
  expect_same(b, real_b, both.texts.release("x", "o", lock_mode::shared).text());
  expect_same(a, real_a, count);
  expect_same(a, real_a, "COMMIT");
  expect_same(a, real_a, count);
}

TEST_F(mysql_server_model, a_list_of_holders_is_read_page_by_page) {
  server_pair both;
  const std::uint64_t a = both.connect();
  testkit::mariadb_link real_a = both.link();
  for (const std::string_view name : {"y", "x", "z"}) {
    const mysql::retrying::lock_request mine{.name = name, .owner = "o", .ttl = 10s};
    expect_same_rows(both, a, real_a, both.texts.create(name).text());
    expect_same_rows(both, a, real_a, both.texts.try_lock(mine, 0).text());
  }
  const mysql::retrying::lock_request member{.name = "x", .owner = "m", .ttl = 10s};
  expect_same_rows(both, a, real_a, both.texts.add_member(member, 7).text());
  for (const std::int64_t limit : {1, 2, 10})
    expect_same_rows(both, a, real_a, both.texts.page_of_holders("", {}, limit));
  expect_same_rows(both, a, real_a, both.texts.holders_of("x"));
  const std::uint64_t b = both.connect();
  testkit::mariadb_link real_b = both.link();
  const mysql::retrying::lock_request later{.name = "y", .owner = "m", .ttl = 10s};
  expect_same_rows(both, a, real_a, "START TRANSACTION");
  expect_same_rows(both, a, real_a, both.texts.add_member(later, 7).text());
  expect_same_rows(both, b, real_b, both.texts.page_of_holders("", {}, 10));  // without it
  expect_same_rows(both, a, real_a, "COMMIT");
  expect_same_rows(both, b, real_b, both.texts.page_of_holders("", {}, 10));
}

TEST_F(mysql_server_model, a_bell_shows_whether_another_connection_had_it) {
  server_pair both;
  const std::uint64_t a = both.connect(), b = both.connect();
  testkit::mariadb_link real_a = both.link(), real_b = both.link();
  const std::string waits = both.texts.wait_for_bell("x").text(),
                    ends = both.texts.release_bell("x").text();
  expect_same_rows(both, a, real_a, waits);
  EXPECT_FALSE(both.execute(b, waits));
  real_b.send(waits);
  const std::string waiters =
      "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE='User lock'";
  while (real_a.query(waiters).number() == 0) std::this_thread::sleep_for(1ms);
  expect_same_rows(both, a, real_a, ends);
  ASSERT_TRUE(both.reply_of(b));
  const testkit::sql_result real = real_b.receive();
  EXPECT_EQ(both.reply_of(b)->rows.at(0).at(1), real.rows.at(0).at(1));
  EXPECT_EQ(both.reply_of(b)->rows.at(0).at(0), std::to_string(a));
  EXPECT_EQ(real.rows.at(0).at(0), real_a.query("SELECT CONNECTION_ID()").rows.at(0).at(0));
}

TEST_F(mysql_server_model, named_locks_are_granted_in_order_and_end_with_their_connection) {
  server_pair both;
  const mysql::named::statements texts("test", "");
  const std::string key = texts.key_of("job");
  const std::string tries = texts.try_lock(key, lock_mode::exclusive).text();
  const std::string waits = texts.wait(key, lock_mode::exclusive).text();
  const std::string confirms = texts.confirm(key, lock_mode::exclusive).text();
  const std::uint64_t a = both.connect(), b = both.connect(), c = both.connect();
  auto real_a = std::make_unique<testkit::mariadb_link>(both.link());
  testkit::mariadb_link real_b = both.link(), real_c = both.link();
  const auto first_of = [](const auto& rows) { return rows.at(0).at(0); };
  const auto expect_same = [&](std::uint64_t id, testkit::mariadb_link& l,
                               const std::string& text) {
    EXPECT_EQ(first_of(both.execute(id, text)->rows), first_of(l.query(text).rows)) << text;
  };
  expect_same(a, *real_a, confirms);  // nobody has it
  expect_same(a, *real_a, tries);
  expect_same(b, real_b, tries);
  expect_same(b, real_b, confirms);
  expect_same(a, *real_a, confirms);
  expect_same(b, real_b, texts.release(key).text());
  EXPECT_FALSE(both.execute(b, waits));
  EXPECT_FALSE(both.execute(c, waits));
  std::thread waits_b([&] { EXPECT_EQ(first_of(real_b.query(waits).rows), "1"); });
  both.disconnect(a);
  real_a.reset();
  waits_b.join();
  ASSERT_TRUE(both.reply_of(b));
  EXPECT_EQ(first_of(both.reply_of(b)->rows), "1");
  EXPECT_FALSE(both.reply_of(c));
  expect_same(b, real_b, texts.release(key).text());
  EXPECT_EQ(first_of(both.reply_of(c)->rows), "1");
}

// A connection to both, as strategy `for-update` sets it.
struct pinned_pair {
  explicit pinned_pair(server_pair& b) : both(b), id(b.connect()), real(b.link()) {
    for (const char* text :
         {"SET SESSION autocommit=0", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"})
      expect_same(text);
  }
  void expect_same(const std::string& text) {
    EXPECT_EQ(outcome_of(both.execute(id, text)), outcome_of(real, text)) << text;
  }
  void begin_wait(const std::string& text) {
    EXPECT_EQ(outcome_of(both.execute(id, text)), "waits") << text;
    real.send(text);
    both.await_row_wait(real);
  }
  void expect_same_end_of_wait() {
    EXPECT_EQ(outcome_of(both.reply_of(id)), outcome_of(0, real.receive().rows));
  }

  server_pair& both;
  const std::uint64_t id;
  testkit::mariadb_link real;
};

TEST_F(mysql_server_model, a_row_is_locked_by_one_transaction_until_its_connection_ends) {
  server_pair both;
  const mysql::for_update::statements& texts = both.row_locks;
  const std::string tries = texts.try_lock("job", lock_mode::exclusive).text();
  const std::string waits = texts.wait("job", lock_mode::exclusive).text();
  pinned_pair a(both), b(both), other(both);
  const std::string confirms = texts.confirm("job", lock_mode::exclusive).text();
  a.expect_same(confirms);
  a.expect_same(tries);  // there is no row, and nothing is locked
  a.expect_same(confirms);
  b.expect_same(tries);
  other.expect_same(texts.create("job").text());
  other.expect_same("COMMIT");
  a.expect_same(tries);
  b.expect_same(tries);
  other.expect_same(texts.probes("job").read);
  other.expect_same(texts.probes("job").as_writer);
  other.expect_same(texts.probes("job").as_reader);
  other.expect_same(texts.end_of_try().text());
  a.expect_same(confirms);
  b.begin_wait(waits);
  a.expect_same(texts.release("job").text());
  b.expect_same_end_of_wait();
  a.expect_same(tries);
  both.disconnect(b.id);
  b.real.close();
  a.expect_same(waits);  // the server may see the end of a connection later
}

TEST_F(mysql_server_model, a_writer_that_waits_for_a_row_keeps_later_readers_out) {
  server_pair both;
  const mysql::for_update::statements& texts = both.row_locks;
  const std::string reads = texts.try_lock("job", lock_mode::shared).text();
  pinned_pair a(both), b(both), writer(both), later(both);
  later.expect_same(texts.create("job").text());
  later.expect_same("COMMIT");
  a.expect_same(reads);
  b.expect_same(reads);
  later.expect_same(texts.probes("job").as_writer);
  later.expect_same(texts.probes("job").as_reader);
  later.expect_same(texts.end_of_try().text());
  writer.expect_same(texts.try_lock("job", lock_mode::exclusive).text());
  writer.begin_wait(texts.wait("job", lock_mode::exclusive).text());
  later.expect_same(reads);
  a.expect_same(texts.release("job").text());
  later.expect_same(reads);
  b.expect_same(texts.release("job").text());
  writer.expect_same_end_of_wait();
  later.expect_same(reads);
  later.begin_wait(texts.wait("job", lock_mode::shared).text());
  writer.expect_same(texts.release("job").text());
  later.expect_same_end_of_wait();
}

TEST_F(mysql_server_model, a_table_is_described_as_one_for_row_locks) {
  server_pair both;
  const std::uint64_t a = both.connect();
  testkit::mariadb_link real_a = both.link();
  expect_same_rows(both, a, real_a, both.row_locks.describe_table());
  expect_same_rows(both, a, real_a,
                   mysql::for_update::statements("no_such_table", "").describe_table());
}

TEST_F(mysql_server_model, a_killed_connection_is_not_known_any_more) {
  server_pair both;
  const std::uint64_t a = both.connect(), b = both.connect();
  testkit::mariadb_link real_a = both.link(), real_b = both.link();
  const std::string id_text = *real_b.query("SELECT CONNECTION_ID()").rows.at(0).at(0);
  EXPECT_EQ(both.execute(a, "KILL " + std::to_string(b))->error, 0u);
  real_a.query("KILL " + id_text);
  both.end_killed();
  unsigned error = 0;
  for (int i = 0; i < 1000 && error == 0; ++i) {
    try {
      real_a.query("KILL " + id_text);
      std::this_thread::sleep_for(1ms);
    } catch (const testkit::sql_error& e) {
      error = e.code;
    }
  }
  EXPECT_EQ(both.execute(a, "KILL " + std::to_string(b))->error, error);
}

TEST_F(mysql_server_model, a_connection_is_listed_with_its_address_until_it_has_ended) {
  server_pair both;
  const std::uint64_t a = both.connect(), b = both.connect();
  testkit::mariadb_link real_a = both.link(), real_b = both.link();
  const std::string own_row =
      "SELECT UUID_SHORT()>>24,CONNECTION_ID(),"
      "(SELECT HOST FROM information_schema.PROCESSLIST WHERE ID=CONNECTION_ID())";
  const auto list_of = [](std::uint64_t id) {
    return "SELECT ID,HOST FROM information_schema.PROCESSLIST WHERE ID IN (" + std::to_string(id) +
           ",CONNECTION_ID())";
  };
  const auto model = both.execute(b, own_row)->rows.at(0), real = real_b.query(own_row).rows.at(0);
  EXPECT_EQ(both.execute(a, own_row)->rows.at(0).at(0), model.at(0));
  EXPECT_EQ(real_a.query(own_row).rows.at(0).at(0), real.at(0));
  EXPECT_EQ(model.at(1), std::to_string(b));
  EXPECT_EQ(real.at(1), std::to_string(real_b.id()));
  for (const auto& row : {model, real}) EXPECT_NE(row.at(2)->find(':'), std::string::npos);
  const sql_row_seen of_model{model.at(1), model.at(2)}, of_real{real.at(1), real.at(2)};
  auto listed_by_model = both.execute(a, list_of(b))->rows;
  auto listed = real_a.query(list_of(real_b.id())).rows;
  EXPECT_EQ(listed_by_model.size(), 2u);
  EXPECT_EQ(listed.size(), 2u);
  EXPECT_EQ(std::ranges::count(listed_by_model, of_model), 1);
  EXPECT_EQ(std::ranges::count(listed, of_real), 1);
  both.execute(a, "KILL " + std::to_string(b));
  both.end_killed();
  const std::string kill = "KILL " + std::to_string(real_b.id());
  while (real_a.error_of(kill) != testkit::sql_unknown_thread) std::this_thread::sleep_for(1ms);
  listed_by_model = both.execute(a, list_of(b))->rows;
  listed = real_a.query(list_of(real_b.id())).rows;
  EXPECT_EQ(std::ranges::count(listed_by_model, of_model), 0);
  EXPECT_EQ(std::ranges::count(listed, of_real), 0);
  EXPECT_EQ(listed_by_model.size(), listed.size());
}

}  // namespace
}  // namespace holdfast::sim
