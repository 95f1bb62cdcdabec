// What an operator's commands cost among a million rows: each statement reads a bounded number of
// them.
#include <algorithm>
#include <chrono>

#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;

constexpr const char* million = "seq_1_to_1000000";
constexpr const char* fifth_of_it = "seq_1_to_200000";
constexpr long long rows_of_a_page = 1'000;

class mysql_many_rows : public on_mariadb {
 protected:
  static client open(const std::string& options) {
    return client::open(server().url() + "?ttl=10m&op-timeout=60s&strategy=" + options);
  }
  static void fill(const std::string& table, const std::string& columns, const char* rows) {
    query("INSERT INTO " + table + " SELECT " + columns + " FROM " + rows);
    query("ANALYZE TABLE " + table.substr(0, table.find(' ')));
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

TEST_F(mysql_many_rows, of_free_rows_none_is_read_to_list_show_break_and_prune_others) {
  const client c = open("row");
  fill("holdfast_locks",
       "CONCAT('free', seq), '', 1, '1970-01-01', '1970-01-01', 0, 0, '', '', 0, 0", million);
  const lease held = c.mutex("job").acquire();
  const lease reader = c.shared_mutex("book").acquire_shared();
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.list().size(), 2u); }), rows_of_a_page);
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.list("j").size(), 1u); }), rows_of_a_page);
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.holders("job").size(), 1u); }), rows_of_a_page);
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.prune(), 0u); }), rows_of_a_page);
  EXPECT_LT(cost_of([&] { EXPECT_TRUE(c.break_lock("job", held.owner())); }), rows_of_a_page);
}

// No statement returns more than a page, no page is read again, and the list is complete.
TEST_F(mysql_many_rows, a_list_of_held_rows_is_read_page_by_page) {
  const client c = open("row");
  fill("holdfast_locks",
       "CONCAT('held', seq), 'somebody', seq, UTC_TIMESTAMP(6) + INTERVAL 1 DAY, UTC_TIMESTAMP(6), "
       "0, 0, '', '', 0, TIMESTAMPDIFF(HOUR, '1970-01-01', UTC_TIMESTAMP(6)) + 24 + seq DIV 50000",
       fifth_of_it);
  fill("holdfast_locks_members",
       "CONCAT('book', seq DIV 3), seq, 7, UTC_TIMESTAMP(6) + INTERVAL 1 DAY, UTC_TIMESTAMP(6), 0, "
       "'', '', 0, 0, 0",
       fifth_of_it);
  const long long statements = counter("Com_select");
  std::vector<holder> all;
  EXPECT_LT(cost_of([&] { all = c.list(); }), 2'000'000);
  EXPECT_GE(counter("Com_select") - statements, 200'000 / rows_of_a_page);
  EXPECT_EQ(all.size(), 400'000u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const holder& a, const holder& b) { return a.name < b.name; }));
  const auto is_same = [](const holder& a, const holder& b) {
    return a.name == b.name && a.owner == b.owner;
  };
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end(), is_same), all.end()) << "one is there twice";
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.list("held7777").size(), 11u); }), rows_of_a_page);
}

TEST_F(mysql_many_rows, records_are_listed_and_pruned_page_by_page) {
  const client c = open("insert");
  fill("holdfast_records (resource, owner, update_time, lease_ms)",
       "seq, 'somebody', IF(seq % 100 = 0, '2001-01-01', UTC_TIMESTAMP(6)), IF(seq % 100 = 0, 1, "
       "86400000)",
       fifth_of_it);
  EXPECT_EQ(c.list("1234").size(), 110u);  // 123400 has expired
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.holders("77").size(), 1u); }), rows_of_a_page);
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.prune(), 2'000u); }), 1'000'000);
  EXPECT_EQ(c.list().size(), 198'000u);
}

TEST_F(mysql_many_rows, expired_members_are_pruned_in_one_pass_over_living_ones) {
  const client c = open("row");
  fill("holdfast_locks_members",
       "CONCAT('book', seq), 'x', 7, IF(seq % 100 = 0, '2001-01-01', UTC_TIMESTAMP(6) + INTERVAL 1 "
       "DAY), UTC_TIMESTAMP(6), 0, '', '', 0, 0, 0",
       fifth_of_it);
  EXPECT_LT(cost_of([&] { EXPECT_EQ(c.prune(), 2'000u); }), 1'000'000);
  EXPECT_EQ(c.prune(), 0u);
}

}  // namespace
}  // namespace holdfast::mysql_test
