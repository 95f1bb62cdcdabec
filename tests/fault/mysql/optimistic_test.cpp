// Updates without a lock on a real MariaDB: what is written, what is refused, and what is lost.
#include <mysql.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;

constexpr int sixty_four = 64;  // threads

class mysql_optimistic : public on_mariadb {
 protected:
  void SetUp() override {
    on_mariadb::SetUp();
    if (IsSkipped()) return;
    query("CREATE TABLE stock (id INT PRIMARY KEY, sold INT NOT NULL DEFAULT 0,"
          " note VARCHAR(40), version INT NOT NULL DEFAULT 0,"
          " exact DATETIME(6) NOT NULL DEFAULT '2026-01-01',"
          " coarse DATETIME NOT NULL DEFAULT '2026-01-01') ENGINE=InnoDB");
    query("INSERT INTO stock (id, sold) VALUES (1, 0), (2, 10)");
  }
  static long long cell(const std::string& column, int id = 1) {
    return query("SELECT " + column + " FROM stock WHERE id=" + std::to_string(id)).number();
  }
};

const sql_columns first{{"id", 1}};

std::optional<sql_columns> one_more(const sql_columns& row) {
  return sql_columns{{"sold", integer(row, "sold") + 1}};
}

TEST_F(mysql_optimistic, an_unchanged_row_is_written_and_its_version_rises) {
  own_connection own(server());
  optimistic_table stock(own.connection, {.table = "stock"});
  const auto row = stock.read(first);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->version, "0");
  EXPECT_EQ(integer(row->values, "sold"), 0);
  EXPECT_EQ(row->values.find("note")->second, sql_value(nullptr));
  EXPECT_TRUE(stock.write(*row, {{"sold", 5}, {"note", "it's \"new\" \\ ✓"}}));
  const auto again = stock.read(first, {"sold", "note"});
  EXPECT_EQ(again->version, "1");
  EXPECT_EQ(integer(again->values, "sold"), 5);
  EXPECT_EQ(text(again->values, "note"), "it's \"new\" \\ ✓");
  EXPECT_EQ(again->values.size(), 2u);
  EXPECT_FALSE(stock.read({{"id", 3}}));
}

// The documents' case: two editors open one row, and the second one to save has read old values.
TEST_F(mysql_optimistic, the_stale_write_of_a_second_editor_is_refused) {
  for (const row_version kind : {row_version::number, row_version::update_time}) {
    const std::string version = kind == row_version::number ? "version" : "coarse";
    own_connection a(server()), b(server(), CLIENT_FOUND_ROWS);
    optimistic_table at_a(a.connection, {.table = "stock", .version = version, .kind = kind});
    optimistic_table at_b(b.connection, {.table = "stock", .version = version, .kind = kind});
    const auto seen_by_a = at_a.read({{"id", 2}}), seen_by_b = at_b.read({{"id", 2}});
    EXPECT_TRUE(at_a.write(*seen_by_a, {{"sold", integer(seen_by_a->values, "sold") - 1}}));
    EXPECT_FALSE(at_b.write(*seen_by_b, {{"sold", integer(seen_by_b->values, "sold") - 3}}));
    // Equal values are a change too: without one, both editors would sell the same item.
    EXPECT_FALSE(at_b.write(*seen_by_b, {{"sold", cell("sold", 2)}}));
  }
  EXPECT_EQ(cell("sold", 2), 8);
}

// Two writers that set a time of whole seconds by themselves, as in the fact that NOW() does not
// change within a second: 10 - 1 and 10 - 3 make 7.
TEST_F(mysql_optimistic, plain_statements_with_a_time_in_seconds_lose_an_update) {
  mariadb_link a = link(), b = link();
  const std::string same_second = "SET timestamp=1780000000";
  a.query(same_second);
  b.query(same_second);
  a.query("UPDATE stock SET coarse=NOW() WHERE id=2");
  const std::string seen = a.query("SELECT coarse FROM stock WHERE id=2").text();
  const std::string guarded = ", coarse=NOW() WHERE id=2 AND coarse='" + seen + '\'';
  EXPECT_EQ(a.query("UPDATE stock SET sold=10-1" + guarded).affected, 1u);
  EXPECT_EQ(b.query("UPDATE stock SET sold=10-3" + guarded).affected, 1u);
  EXPECT_EQ(cell("sold", 2), 7);
}

TEST_F(mysql_optimistic, an_update_time_rises_within_its_unit_and_when_the_clock_goes_back) {
  for (const std::string column : {"exact", "coarse"}) {
    own_connection own(server());
    optimistic_table stock(own.connection,
                           {.table = "stock", .version = column, .kind = row_version::update_time});
    own.link.query("SET timestamp=1780000000");
    std::string last;
    for (int i = 0; i < 5; ++i) {
      if (i == 3) own.link.query("SET timestamp=1779990000");  // hours back
      const auto row = stock.read(first);
      EXPECT_LT(last, row->version);
      last = row->version;
      EXPECT_TRUE(stock.write(*row, {{"sold", i}}));
      EXPECT_FALSE(stock.write(*row, {{"sold", -1}}));
    }
  }
}

void sixty_four_threads_lose_no_update(mariadb_server& server, const versioned_table& table,
                                       const std::function<long long()>& sold) {
  constexpr int each = 3;
  std::atomic<std::uint32_t> conflicts = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < sixty_four; ++i)
    threads.emplace_back([&] {
      own_connection own(server);
      optimistic_table stock(own.connection, table);
      for (int n = 0; n < each; ++n) {
        const update_outcome outcome = stock.update(first, one_more, {.attempts = 1'000'000});
        EXPECT_TRUE(outcome);
        conflicts += outcome.conflicts;
      }
    });
  threads.clear();
  EXPECT_EQ(sold(), sixty_four * each);
  EXPECT_GT(conflicts, 0u);
}

TEST_F(mysql_optimistic, sixty_four_threads_lose_no_update_by_version) {
  sixty_four_threads_lose_no_update(server(), {.table = "stock"}, [] { return cell("sold"); });
  EXPECT_EQ(cell("version"), cell("sold"));
}

TEST_F(mysql_optimistic, sixty_four_threads_lose_no_update_by_update_time) {
  sixty_four_threads_lose_no_update(server(),
                                    {.table = "stock",
                                     .version = "exact",
                                     .kind = row_version::update_time},
                                    [] { return cell("sold"); });
}

TEST_F(mysql_optimistic, update_reports_conflicts_limits_absence_and_a_stop) {
  own_connection own(server());
  mariadb_link rival = link();
  optimistic_table stock(own.connection, {.table = "stock"});
  int calls = 0;
  const auto slow = [&](const sql_columns& row) {
    ++calls;
    rival.query("UPDATE stock SET version=version+1 WHERE id=1");
    return one_more(row);
  };
  const update_outcome refused = stock.update(first, slow, {.attempts = 3, .pause = 0us});
  EXPECT_EQ(refused.status, update_status::conflict);
  EXPECT_EQ(refused.conflicts, 3u);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(cell("sold"), 0);
  EXPECT_EQ(stock.update({{"id", 9}}, one_more).status, update_status::absent);
  const auto keep = [](const sql_columns&) { return std::optional<sql_columns>(); };
  EXPECT_EQ(stock.update(first, keep).status, update_status::kept);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(stock.update(first, one_more, {}, stop.get_token()));  // one attempt is made
  const update_outcome stopped = stock.update(first, slow, {.attempts = 1'000}, stop.get_token());
  EXPECT_EQ(stopped.status, update_status::stopped);
  EXPECT_EQ(stopped.conflicts, 1u);
}

TEST_F(mysql_optimistic, a_composite_key_names_one_row) {
  query("CREATE TABLE seat (hall VARCHAR(20), number INT, guest VARCHAR(40), v BIGINT NOT NULL,"
        " PRIMARY KEY (hall, number))");
  query("INSERT INTO seat VALUES ('a`b', 1, NULL, 7), ('a`b', 2, NULL, 7), ('c', 1, NULL, 7)");
  own_connection own(server());
  optimistic_table seats(own.connection,
                         {.table = "test.seat", .key = {"hall", "number"}, .version = "v"});
  const auto seat = seats.read({{"hall", "a`b"}, {"number", 2}});
  ASSERT_TRUE(seat);
  EXPECT_TRUE(seats.write(*seat, {{"guest", "Ada"}}));
  EXPECT_EQ(query("SELECT GROUP_CONCAT(hall, number, v) FROM seat WHERE guest='Ada'").text(),
            "a`b28");
  EXPECT_EQ(code_of([&] { (void)seats.read({{"hall", "c"}}); }), errc::bad_option);
  EXPECT_EQ(code_of([&] {
              (void)seats.read({{"hall", "c"}, {"number", nullptr}});
            }),
            errc::bad_option);
  optimistic_table half(own.connection, {.table = "seat", .key = {"hall"}, .version = "v"});
  EXPECT_EQ(code_of([&] { (void)half.read({{"hall", "a`b"}}); }), errc::mismatch);
  query("UPDATE seat SET v=9");
  EXPECT_EQ(code_of([&] {
              (void)half.write({{"hall", "a`b"}}, "9", {{"guest", "x"}});
            }),
            errc::mismatch);
}

TEST_F(mysql_optimistic, names_and_values_are_data_in_every_sql_mode_and_character_set) {
  query("CREATE TABLE `od``d \"t\"` (`k'` VARCHAR(40) PRIMARY KEY, `va``l` VARBINARY(300),"
        " version INT UNSIGNED NOT NULL) CHARACTER SET latin1");
  own_connection own(server());
  for (const std::string mode : {"", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"}) {
    own.link.query("SET sql_mode='" + mode + "'");
    own.link.query("DELETE FROM `od``d \"t\"`");
    own.link.query("INSERT INTO `od``d \"t\"` VALUES ('é'' OR 1=1 -- ', '', 4294967290)");
    optimistic_table table(own.connection, {.table = "od`d \"t\"", .key = {"k'"}});
    const sql_columns key{{"k'", "é' OR 1=1 -- "}};
    std::vector<std::byte> bytes;
    for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<std::byte>(i));
    const auto row = table.read(key);
    ASSERT_TRUE(row) << mode;
    EXPECT_TRUE(table.write(*row, {{"va`l", bytes}}));
    EXPECT_EQ(table.read(key)->values.find("va`l")->second, sql_value(bytes));
    EXPECT_EQ(table.read(key)->version, "4294967291");
  }
}

TEST_F(mysql_optimistic, numbers_keep_their_values) {
  query("CREATE TABLE n (id BIGINT PRIMARY KEY, d DOUBLE, f DECIMAL(30,3), u BIGINT UNSIGNED,"
        " version BIGINT NOT NULL)");
  query("INSERT INTO n VALUES (-9223372036854775807, 0, 0, 0, -2)");
  own_connection own(server());
  optimistic_table table(own.connection, {.table = "n"});
  const sql_columns key{{"id", -9223372036854775807}};
  const sql_columns values{{"d", 0.1}, {"f", "123456789012345678901234567.125"}};
  EXPECT_TRUE(table.write(*table.read(key), values));
  EXPECT_TRUE(table.write(*table.read(key), {{"u", "18446744073709551615"}}));
  const auto row = table.read(key);
  EXPECT_EQ(row->version, "0");
  EXPECT_EQ(row->values.find("d")->second, sql_value(0.1));
  EXPECT_EQ(text(row->values, "f"), "123456789012345678901234567.125");
  EXPECT_EQ(text(row->values, "u"), "18446744073709551615");
  EXPECT_EQ(code_of([&] { (void)table.write(*row, {{"d", 1.0 / 0.0}}); }), errc::bad_option);
  query("ALTER TABLE n MODIFY version TINYINT NOT NULL DEFAULT -128");
  query("INSERT INTO n (id) VALUES (1)");
  optimistic_table small(own.connection, {.table = "n"});
  EXPECT_TRUE(small.write(first, "-128", {{"d", 0.5}})) << "the smallest number is not the highest";
  EXPECT_EQ(small.read(first)->version, "-127");
}

TEST_F(mysql_optimistic, what_cannot_work_is_refused_by_name) {
  query("CREATE TABLE bad (id INT PRIMARY KEY, v VARCHAR(9) NOT NULL, n INT, a INT)");
  query("INSERT INTO bad VALUES (1, 'x', NULL, 0)");
  own_connection own(server());
  const auto reads = [&](const versioned_table& t) {
    return code_of([&] { (void)optimistic_table(own.connection, t).read(first); });
  };
  EXPECT_EQ(reads({.table = "bad", .version = "v"}), errc::mismatch);
  EXPECT_EQ(reads({.table = "bad", .version = "n"}), errc::mismatch);
  EXPECT_EQ(reads({.table = "bad", .version = "none"}), errc::mismatch);
  EXPECT_EQ(reads({.table = "none"}), errc::mismatch);
  EXPECT_EQ(reads({.table = "stock", .kind = row_version::update_time}), errc::mismatch);
  EXPECT_EQ(reads({.table = ""}), errc::bad_name);
  EXPECT_EQ(reads({.table = std::string(65, 'x')}), errc::bad_name);
  EXPECT_EQ(reads({.table = "stock", .version = "a\nb"}), errc::bad_name);
  EXPECT_EQ(reads({.table = "stock", .key = {}}), errc::bad_option);
  EXPECT_EQ(reads({.table = "stock", .key = {"version"}}), errc::bad_option);
  optimistic_table stock(own.connection, {.table = "stock"});
  const auto writes = [&](std::string_view version, const sql_columns& changes) {
    return code_of([&] { (void)stock.write(first, version, changes); });
  };
  EXPECT_EQ(writes("0", {}), errc::bad_option);
  EXPECT_EQ(writes("0", {{"version", 1}}), errc::bad_option);
  EXPECT_EQ(writes("0", {{"id", 1}}), errc::bad_option);
  EXPECT_EQ(writes("0 OR 1=1", {{"sold", 1}}), errc::bad_option);
  EXPECT_EQ(writes("0", {{"note", std::string(41, 'x')}}), errc::mismatch);
  EXPECT_EQ(writes("2147483646", {{"sold", 1}}), std::error_code()) << "the row has another one";
  EXPECT_EQ(writes("2147483647", {{"sold", 1}}), errc::exhausted);
  EXPECT_EQ(code_of([] { mysql_connection{nullptr}; }), errc::bad_option);
}

TEST_F(mysql_optimistic, a_transaction_can_write_once_but_not_retry) {
  own_connection own(server());
  mariadb_link rival = link();
  optimistic_table stock(own.connection, {.table = "stock"});
  own.link.query("BEGIN");
  const auto row = stock.read(first);
  EXPECT_EQ(code_of([&] { stock.update(first, one_more); }), errc::mismatch);
  rival.query("UPDATE stock SET version=version+1 WHERE id=1");
  EXPECT_EQ(stock.read(first)->version, "0");  // the snapshot of the transaction
  EXPECT_FALSE(stock.write(*row, {{"sold", 1}}));
  own.link.query("ROLLBACK");
  own.link.query("SET autocommit=0");
  EXPECT_EQ(code_of([&] { stock.update(first, one_more); }), errc::mismatch);
  query("CREATE TABLE plain (id INT PRIMARY KEY, sold INT, version INT NOT NULL) ENGINE=MyISAM");
  query("INSERT INTO plain VALUES (1, 0, 0)");
  own.link.query("ROLLBACK");
  EXPECT_EQ(code_of([&] {
              optimistic_table(own.connection, {.table = "plain"}).update(first, one_more);
            }),
            errc::mismatch)
      << "reading a table without transactions begins none";
  own.link.query("SET autocommit=1");
  EXPECT_TRUE(stock.update(first, one_more));
}

TEST_F(mysql_optimistic, a_row_that_another_transaction_keeps_is_a_conflict_or_unavailable) {
  own_connection own(server());
  mariadb_link keeper = link();
  keeper.query("BEGIN");
  keeper.query("UPDATE stock SET sold=sold WHERE id=1");
  keeper.query("SELECT * FROM stock WHERE id=1 FOR UPDATE");
  own.link.query("SET innodb_lock_wait_timeout=0");
  optimistic_table stock(own.connection, {.table = "stock"});
  const auto row = stock.read(first);
  EXPECT_EQ(code_of([&] { (void)stock.write(*row, {{"sold", 1}}); }), errc::unavailable);
  const update_outcome outcome = stock.update(first, one_more, {.attempts = 2});
  EXPECT_EQ(outcome.status, update_status::conflict);
  keeper.query("COMMIT");
  EXPECT_TRUE(stock.update(first, one_more));
}

// A reply that comes too late would leave the outcome unknown.
TEST_F(mysql_optimistic, a_wait_for_a_row_ends_before_the_bound_of_a_reply) {
  optimistic_table stock(mysql_connection::open(server().url() + "?op-timeout=2s"),
                         {.table = "stock"});
  const auto row = stock.read(first);
  mariadb_link keeper = link();
  keeper.query("BEGIN");
  keeper.query("SELECT * FROM stock WHERE id=1 FOR UPDATE");
  EXPECT_EQ(code_of([&] { (void)stock.write(*row, {{"sold", 1}}); }), errc::unavailable);
  keeper.query("COMMIT");
  EXPECT_TRUE(stock.write(*row, {{"sold", 1}}));
}

TEST_F(mysql_optimistic, a_connection_that_ends_during_a_write_leaves_the_outcome_unknown) {
  own_connection own(server());
  mariadb_link keeper = link();
  optimistic_table stock(own.connection, {.table = "stock"});
  const auto row = stock.read(first);
  keeper.query("BEGIN");
  keeper.query("SELECT * FROM stock WHERE id=1 FOR UPDATE");
  std::error_code code;
  std::string reason;
  std::jthread writer([&] {
    try {
      (void)stock.write(row->key, row->version, {{"sold", 1}});
    } catch (const lock_error& e) {
      code = e.code();
      reason = e.detail();
    }
  });
  server().wait_until_row_wait(own.link.id());
  server().kill_connection(own.link.id());
  writer.join();
  EXPECT_EQ(code, errc::outcome_unknown);
  EXPECT_NE(reason.find("the row may have been written, read it again"), reason.npos) << reason;
  EXPECT_EQ(code_of([&] { (void)stock.read(first); }), errc::unavailable);
}

}  // namespace
}  // namespace holdfast::mysql_test
