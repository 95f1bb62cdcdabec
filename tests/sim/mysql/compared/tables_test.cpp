// The model of MariaDB's tables executes random lists of the strategies' statements as the real one
// does.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "backend/mysql/strategies/insert/statements.hpp"
#include "backend/mysql/strategies/row/statements.hpp"
#include "testkit/servers/mariadb_server.hpp"
#include "tests/sim/mysql/model/model_tables.hpp"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using testkit::mariadb_server;

constexpr std::int64_t begin_us = 1'700'000'000'000'000;

// One statement after the other goes to both. The real server's clock stands where the model's is.
class both_servers {
 public:
  both_servers() : link_(server_.link()) {
    link_.query("SET time_zone='+00:00', sql_mode='STRICT_ALL_TABLES'");
  }

  void pass(std::int64_t us) { now_ += us; }
  // `counts`: the insert id is a number of a lock, not that of a new row.
  void execute(const std::string& statement, bool counts = false) {
    const std::string micros = std::to_string(1'000'000 + now_ % 1'000'000).substr(1);
    link_.query("SET timestamp=" + std::to_string(now_ / 1'000'000) + '.' + micros);
    const model_reply expected = model_.execute(statement, now_);
    testkit::sql_result real;
    unsigned error = 0;
    try {
      real = link_.query(statement);
    } catch (const testkit::sql_error& e) {
      error = e.code;
    }
    EXPECT_EQ(expected.error, error) << statement;
    EXPECT_EQ(expected.rows, real.rows) << statement;
    if (real.columns.empty()) {
      EXPECT_EQ(expected.affected, real.affected) << statement;
    }
    if (counts) {
      EXPECT_EQ(expected.insert_id, real.insert_id) << statement;
    }
  }
  // A read without an order of its rows.
  void read_set(const std::string& statement) {
    std::vector<sql_row_seen> expected = model_.execute(statement, now_).rows;
    std::vector<sql_row_seen> real = link_.query(statement).rows;
    std::ranges::sort(expected);
    std::ranges::sort(real);
    EXPECT_EQ(expected, real) << statement;
  }

 private:
  mariadb_server server_;
  testkit::mariadb_link link_;
  sql_tables tables_;
  model_tables model_{tables_};
  std::int64_t now_ = begin_us;
};

struct drawn_request {
  drawn_request(std::mt19937_64& dice, bool may_be_new) {
    const auto below = [&](unsigned n) { return static_cast<unsigned>(dice() % n); };
    name = below(2) == 0 ? "a" : may_be_new ? "b|_%" : "b";
    owner = std::string(1, static_cast<char>('x' + below(3)));
    request = {.name = name,
               .owner = owner,
               .note = below(2) == 0 ? "" : "a note",
               .host = "host",
               .pid = 7,
               .ttl = std::chrono::milliseconds(100 * (1 + below(3)))};
  }
  std::string name, owner;
  mysql::retrying::lock_request request;
};

// `takes`: whether a step of a try draws a number.
template <class Statements, class Takes>
void play(both_servers& on, const Statements& texts, std::uint8_t steps, Takes takes,
          std::mt19937_64& dice, int count = 400) {
  for (int i = 0; i < count; ++i) {
    const drawn_request drawn(dice, true);
    const mysql::retrying::lock_request& r = drawn.request;
    switch (dice() % 8) {
      case 0: on.execute(texts.renew(r).text()); break;
      case 1: on.execute(texts.release(r.name, r.owner, lock_mode::exclusive).text(), true); break;
      case 2: on.execute(texts.look(r.name).text()); break;
      default: {
        const auto step = static_cast<std::uint8_t>(dice() % steps);
        on.execute(texts.try_lock(r, step).text(), takes(step));
      }
    }
    constexpr std::int64_t pauses[] = {0, 0, 1, 1'000, 99'999, 100'000, 100'001, 300'000};
    on.pass(pauses[dice() % std::size(pauses)]);
    if (testing::Test::HasFailure()) return;
  }
}

class mysql_tables : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!mariadb_server::installed()) GTEST_SKIP() << mariadb_server::not_installed;
  }
  std::mt19937_64 dice{static_cast<std::uint64_t>(GetParam())};
};

TEST_P(mysql_tables, executes_the_statements_of_row) {
  both_servers on;
  const mysql::row::statements texts("locks");
  on.execute(texts.look("a").text());  // there is no table
  on.execute(texts.create_table());
  play(
      on, texts, 5, [](std::uint8_t step) { return step == 0 || step == 3; }, dice);
}

// The reads of an operator: holders of locks, and expired records.
void expect_same_lists(both_servers& on, const mysql::insert::statements& texts) {
  for (const std::string_view name : {"a", "b", "b|_%"}) on.execute(texts.holders_of(name));
  for (const std::string_view prefix : {"", "a", "b", "b|", "b|_%", "b%", "c"})
    for (const std::int64_t limit : {1, 10}) {
      on.execute(texts.page_of_holders(prefix, {}, limit));
      on.execute(texts.expired_by_prefix(prefix, {}, limit));
      const mysql::sql_row last{"a", "x"};
      mysql::retrying::page_cursors after_a;
      after_a[0].last = last;
      on.execute(texts.page_of_holders(prefix, after_a, limit));
      on.execute(texts.expired_by_prefix(prefix, last, limit));
    }
}

void expect_same_schema(both_servers& on, const mysql::insert::statements& texts) {
  on.read_set(texts.show_columns());
  on.read_set(texts.show_unique_keys());
  on.execute(texts.show_numbers());
}

void play_insert(const mysql::insert::columns& columns, std::mt19937_64& dice) {
  both_servers on;
  const mysql::insert::statements texts("records", columns);
  expect_same_schema(on, texts);  // there is no table
  on.execute(texts.create_records());
  on.execute(texts.create_numbers());
  expect_same_schema(on, texts);
  for (int part = 0; part < 4 && !testing::Test::HasFailure(); ++part) {
    play(
        on, texts, 7, [](std::uint8_t step) { return step == 2 || step == 5; }, dice, 100);
    expect_same_lists(on, texts);
  }
  for (const char* name : {"a", "b|_%"})
    for (const char* owner : {"x", "y", "z"}) on.execute(texts.expiry(name, owner).text());
  expect_same_lists(on, texts);
}

TEST_P(mysql_tables, executes_the_statements_of_insert) {
  play_insert({.key = "resource",
               .type = {},
               .note = "description",
               .owner = "owner",
               .count = "count",
               .update_time = "update_time",
               .lease = "lease_ms",
               .type_value = "lock"},
              dice);
}

TEST_P(mysql_tables, executes_the_statements_of_insert_on_records_of_orders) {
  play_insert({.key = "order_id",
               .type = "type",
               .note = "memo",
               .owner = "owner",
               .count = "count",
               .update_time = "update_time",
               .lease = "lease_ms",
               .type_value = "lock"},
              dice);
}

INSTANTIATE_TEST_SUITE_P(seeds, mysql_tables, testing::Range(1, 4));

}  // namespace
}  // namespace holdfast::sim
