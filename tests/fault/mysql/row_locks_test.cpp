// What SELECT ... FOR UPDATE locks on a real MariaDB: a row, a gap, nothing, or the whole table.
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

constexpr unsigned no_wait = 1205, deadlock = 1213, duplicate = 1062;

class mysql_row_locks : public on_mariadb {
 protected:
  void SetUp() override {
    on_mariadb::SetUp();
    if (IsSkipped()) return;
    query("CREATE TABLE item (id INT PRIMARY KEY, code VARCHAR(20) NOT NULL, label VARCHAR(20)"
          " NOT NULL, n INT NOT NULL DEFAULT 0, KEY by_code (code)) ENGINE=InnoDB");
  }
  static void fill_with_10_000_rows() {
    query("INSERT INTO item SELECT seq, seq, CONCAT('label', seq), 0 FROM seq_1_to_10000");
    query("ANALYZE TABLE item");
  }
  // In a transaction, and without waiting for rows.
  static mariadb_link session(const std::string& isolation = "REPEATABLE READ") {
    mariadb_link fresh = link();
    fresh.query("SET SESSION TRANSACTION ISOLATION LEVEL " + isolation);
    fresh.query("SET innodb_lock_wait_timeout=0");
    fresh.query("BEGIN");
    return fresh;
  }
  static sql_result plan_of(const std::string& condition) {
    return query("EXPLAIN SELECT * FROM item WHERE " + condition);
  }
};

// So the row of a lock is created outside the transaction that locks it.
TEST_F(mysql_row_locks, for_update_of_an_absent_row_excludes_nobody_and_inserts_deadlock) {
  mariadb_link a = session(), b = session();
  EXPECT_TRUE(a.query("SELECT * FROM item WHERE id=5 FOR UPDATE").rows.empty());
  EXPECT_TRUE(b.query("SELECT * FROM item WHERE id=5 FOR UPDATE").rows.empty());
  for (mariadb_link* one : {&a, &b}) one->query("SET innodb_lock_wait_timeout=600");
  const std::string insert = "INSERT INTO item (id, code, label) VALUES (5, '', '')";
  a.send(insert);
  server().wait_until_row_wait(a.id());  // for the gap, which b has locked too
  const unsigned at_b = b.error_of(insert);
  unsigned at_a = 0;
  try {
    a.receive();
  } catch (const sql_error& e) {
    at_a = e.code;
  }
  EXPECT_EQ(at_a + at_b, deadlock);  // one of them
}

TEST_F(mysql_row_locks, for_update_of_an_absent_row_locks_nothing_in_read_committed) {
  mariadb_link a = session("READ COMMITTED"), b = session("READ COMMITTED");
  for (mariadb_link* one : {&a, &b})
    EXPECT_TRUE(one->query("SELECT * FROM item WHERE id=5 FOR UPDATE").rows.empty());
  EXPECT_EQ(a.error_of("INSERT INTO item (id, code, label) VALUES (5, '', '')"), 0u);
  a.query("COMMIT");
  EXPECT_EQ(b.error_of("INSERT INTO item (id, code, label) VALUES (5, '', '')"), duplicate);
}

TEST_F(mysql_row_locks, for_update_by_primary_key_locks_one_row_of_10_000) {
  fill_with_10_000_rows();
  EXPECT_EQ(plan_of("id=5").of("type"), "const");
  EXPECT_EQ(plan_of("id=5").of("rows"), "1");
  mariadb_link a = session(), b = session();
  a.query("SELECT * FROM item WHERE id=5 FOR UPDATE");
  EXPECT_EQ(b.error_of("UPDATE item SET n=1 WHERE id=6"), 0u);
  EXPECT_EQ(b.error_of("UPDATE item SET n=1 WHERE id=5"), no_wait);
  EXPECT_LE(server().rows_locked_by(a.id()), 1);
}

TEST_F(mysql_row_locks, for_update_by_an_unindexed_column_locks_the_whole_table) {
  fill_with_10_000_rows();
  EXPECT_EQ(plan_of("label='label5'").of("type"), "ALL");
  EXPECT_GT(std::stoi(plan_of("label='label5'").of("rows")), 5'000);
  mariadb_link a = session(), b = session();
  EXPECT_EQ(a.query("SELECT * FROM item WHERE label='label5' FOR UPDATE").rows.size(), 1u);
  EXPECT_EQ(b.error_of("UPDATE item SET n=1 WHERE id=9000"), no_wait);  // an unrelated row
  EXPECT_EQ(b.error_of("INSERT INTO item (id, code, label) VALUES (20000, '', '')"), no_wait);
  EXPECT_GE(server().rows_locked_by(a.id()), 10'000);
}

TEST_F(mysql_row_locks, read_committed_keeps_one_lock_yet_another_scan_waits) {
  fill_with_10_000_rows();
  mariadb_link a = session("READ COMMITTED"), b = session("READ COMMITTED");
  a.query("SELECT * FROM item WHERE label='label5' FOR UPDATE");
  EXPECT_EQ(b.error_of("UPDATE item SET n=1 WHERE id=9000"), 0u);
  EXPECT_EQ(b.error_of("SELECT * FROM item WHERE label='label7' FOR UPDATE"), no_wait);
}

TEST_F(mysql_row_locks, a_text_column_that_is_compared_with_a_number_is_scanned) {
  fill_with_10_000_rows();
  EXPECT_EQ(plan_of("code='5'").of("type"), "ref");
  EXPECT_EQ(plan_of("code=5").of("type"), "ALL");
  // Which is why values of text columns are sent as text literals of the column's collation.
  EXPECT_EQ(plan_of("code=_utf8mb4 x'35'").of("type"), "ref");
}

TEST_F(mysql_row_locks, explain_of_for_update_by_primary_key_waits_for_the_row) {
  query("INSERT INTO item VALUES (5, '', '', 0)");
  mariadb_link a = session(), b = session();
  a.query("SELECT * FROM item WHERE id=5 FOR UPDATE");
  EXPECT_EQ(b.error_of("EXPLAIN SELECT * FROM item WHERE id=5 FOR UPDATE"), no_wait);
  EXPECT_EQ(b.error_of("EXPLAIN SELECT * FROM item WHERE id=5"), 0u);
}

// Trap: after a deadlock the transaction is gone, and the next statement runs without the lock.
TEST_F(mysql_row_locks, after_a_deadlock_the_locks_are_gone_and_statements_commit_by_themselves) {
  query("INSERT INTO item VALUES (1, '', '', 0), (2, '', '', 0)");
  mariadb_link a = session(), b = session();
  for (mariadb_link* one : {&a, &b}) one->query("SET innodb_lock_wait_timeout=60");
  a.query("SELECT * FROM item WHERE id=1 FOR UPDATE");
  a.query("UPDATE item SET n=n+1 WHERE id=1");  // b, which has written nothing, is the victim
  b.query("SELECT * FROM item WHERE id=2 FOR UPDATE");
  a.send("SELECT * FROM item WHERE id=2 FOR UPDATE");
  server().wait_until_row_wait(a.id());
  EXPECT_EQ(b.error_of("SELECT * FROM item WHERE id=1 FOR UPDATE"), deadlock);
  EXPECT_EQ(a.receive().rows.size(), 1u);
  a.query("ROLLBACK");
  b.query("UPDATE item SET n=7 WHERE id=2");
  b.query("ROLLBACK");
  EXPECT_EQ(query("SELECT n FROM item WHERE id=2").number(), 7);
}

TEST_F(mysql_row_locks, after_a_lock_wait_timeout_the_transaction_and_its_locks_stay) {
  query("INSERT INTO item VALUES (1, '', '', 0), (2, '', '', 0)");
  mariadb_link a = session(), b = session();
  a.query("SELECT * FROM item WHERE id=1 FOR UPDATE");
  b.query("SELECT * FROM item WHERE id=2 FOR UPDATE");
  EXPECT_EQ(b.error_of("SELECT * FROM item WHERE id=1 FOR UPDATE"), no_wait);
  EXPECT_EQ(a.error_of("SELECT * FROM item WHERE id=2 FOR UPDATE"), no_wait);
}

TEST_F(mysql_row_locks, a_second_begin_or_a_truncate_releases_silently) {
  for (const std::string statement : {"BEGIN", "TRUNCATE TABLE other"}) {
    query("CREATE OR REPLACE TABLE other (id INT)");
    query("REPLACE INTO item VALUES (1, '', '', 0)");
    mariadb_link a = session(), b = session();
    a.query("SELECT * FROM item WHERE id=1 FOR UPDATE");
    EXPECT_EQ(b.error_of("SELECT * FROM item WHERE id=1 FOR UPDATE"), no_wait);
    a.query(statement);
    EXPECT_EQ(b.error_of("SELECT * FROM item WHERE id=1 FOR UPDATE"), 0u);
  }
}

}  // namespace
}  // namespace holdfast::mysql_test
