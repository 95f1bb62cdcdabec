// What an operator's commands cost among a million rows: each statement reads a bounded number of
// them.
#include <algorithm>
#include <chrono>

#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;

constexpr const char* million = "seq_1_to_1000000";
constexpr long long rows_of_a_page = 1'000;

class mysql_million : public on_mariadb {
 protected:
  static client open(const std::string& options) {
    return client::open(server().url() + "?ttl=10m&op-timeout=60s&strategy=" + options);
  }
  static void fill(const std::string& table, const std::string& columns) {
    query("SET SESSION unique_checks=0");
    query("INSERT INTO " + table + " SELECT " + columns + " FROM " + million);
    query("ANALYZE TABLE " + table);
  }
  static long long counter(const std::string& name) { return std::stoll(server().status(name)); }
  static long long rows_read() {
    long long all = 0;
    for (const char* name : {"Handler_read_first", "Handler_read_key", "Handler_read_next",
                             "Handler_read_prev", "Handler_read_rnd", "Handler_read_rnd_next"})
      all += counter(name);
    return all;
  }
  // The rows that the server reads for it.
  template <class Command>
  static long long cost_of(Command command) {
    const long long before = rows_read();
    command();
    return rows_read() - before;
  }
};

TEST_F(mysql_million, of_free_rows_none_is_read_to_list_show_break_and_prune_others) {
  const client c = open("row");
  fill("holdfast_locks", "CONCAT('free', seq), '', 1, '1970-01-01', '1970-01-01', 0, 0, '', '', 0");
  const lease held = c.mutex("job").acquire();
  const lease reader = c.shared_mutex("book").acquire_shared();
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.list().size(), 2u); }), rows_of_a_page);
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.list("j").size(), 1u); }), rows_of_a_page);
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.holders("job").size(), 1u); }), rows_of_a_page);
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.prune(), 0u); }), rows_of_a_page);
  EXPECT_LT(cost_of([&] { EXPECT_TRUE(c.break_lock("job", held.owner())); }), rows_of_a_page);
}

// No statement returns more than a page, and the list is complete.
TEST_F(mysql_million, a_list_of_held_rows_is_read_page_by_page) {
  const client c = open("row");
  fill("holdfast_locks", "CONCAT('held', seq), 'somebody', seq, UTC_TIMESTAMP(6) + INTERVAL 1 DAY "
                         "+ INTERVAL seq DIV 5000 SECOND, UTC_TIMESTAMP(6), 0, 0, '', '', 0");
  fill("holdfast_locks_members", "CONCAT('book', seq DIV 3), seq, 7, UTC_TIMESTAMP(6) + INTERVAL 1 "
                                 "DAY, UTC_TIMESTAMP(6), 0, '', '', 0, 0, 0");
  const long long statements = counter("Com_select");
  std::vector<holder> all;
  const long long cost = cost_of([&] { all = c.list(); });
  EXPECT_EQ(all.size(), 2'000'000u);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &holder::name));
  const auto is_same = [](const holder& a, const holder& b) {
    return a.name == b.name && a.owner == b.owner;
  };
  EXPECT_EQ(std::ranges::adjacent_find(all, is_same), all.end()) << "a holder is listed twice";
  EXPECT_GE(counter("Com_select") - statements, 1'000'000 / rows_of_a_page);
  EXPECT_LT(cost, 10'000'000) << "a page reads the pages before it again";
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.list("held77777").size(), 11u); }), 2'000'000);
}

TEST_F(mysql_million, records_are_listed_and_pruned_page_by_page) {
  const client c = open("insert");
  query("INSERT INTO holdfast_records (resource, owner, update_time, lease_ms) SELECT seq, "
        "'somebody', UTC_TIMESTAMP(6), 86400000 FROM " +
        std::string(million));
  query("UPDATE holdfast_records SET lease_ms=1, update_time='2001-01-01' WHERE id % 400 = 0");
  query("ANALYZE TABLE holdfast_records");
  EXPECT_EQ(c.list("1234").size(), 111u);
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.holders("77").size(), 1u); }), rows_of_a_page);
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.prune(), 2'500u); }), 5'000'000);
  EXPECT_EQ(c.list().size(), 997'500u);
}

TEST_F(mysql_million, expired_members_are_pruned_in_one_pass_over_living_ones) {
  const client c = open("row");
  fill("holdfast_locks_members",
       "CONCAT('book', seq), 'x', 7, IF(seq % 400 = 0, '2001-01-01', UTC_TIMESTAMP(6) + INTERVAL 1 "
       "DAY), UTC_TIMESTAMP(6), 0, '', '', 0, 0, 0");
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.prune(), 2'500u); }), 5'000'000);
  EXPECT_EQ(c.prune(), 0u);
}

}  // namespace
}  // namespace holdfast::mysql_test
