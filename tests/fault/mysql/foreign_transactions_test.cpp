// Transactions of other programs that lock the rows of a lock: deadlocks and lock wait timeouts.
#include <thread>

#include "testkit/eventually.hpp"
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;
using testkit::eventually;

class mysql_foreign : public on_mariadb {
 protected:
  static client open(const std::string& options) {
    return client::open(server().url() + "?retry-base=1ms&outage-timeout=60s&strategy=" + options);
  }
  // In a transaction, which the server ends after all others in a deadlock: it has written most.
  static mariadb_link writer() {
    query("CREATE TABLE IF NOT EXISTS weight (n INT)");
    mariadb_link out = link();
    out.query("SET innodb_lock_wait_timeout=60");
    out.query("BEGIN");
    out.query("INSERT INTO weight SELECT seq FROM seq_1_to_1000");
    return out;
  }
  static long long deadlocks() { return std::stoll(server().status("Innodb_deadlocks")); }
  // FLUSH TABLES WITH READ LOCK, until it waits for statements.
  static void begin_flush(mariadb_link& admin) {
    admin.send("FLUSH TABLES WITH READ LOCK");
    server().wait_until("SELECT STATE LIKE 'Waiting for%'" + of(admin), "1");
  }
  static void wait_until_flushed(mariadb_link& admin) {
    server().wait_until("SELECT COMMAND" + of(admin), "Sleep");
    admin.receive();
  }
  static std::string of(const mariadb_link& l) {
    return " FROM information_schema.PROCESSLIST WHERE ID=" + std::to_string(l.id());
  }
  // Until that many statements of the library wait for a row.
  static void wait_until_ours_waits(const std::string& part, std::size_t statements = 1) {
    server().wait_until(
        "SELECT COUNT(*)>=" + std::to_string(statements) +
            " FROM information_schema.PROCESSLIST WHERE "
            "USER='holdfast' AND COMMAND IN ('Query','Execute') AND TIME_MS>100 AND INFO LIKE '%" +
            part + "%'",
        "1");
  }
};

// The library locks "a" and then "b", and the other program "b" and then "a".
TEST_F(mysql_foreign, several_rows_are_granted_after_a_deadlock) {
  const client mine = open("row&ttl=4m");
  for (const char* name : {"a", "b"}) mine.mutex(name).acquire().release();
  const long long before = deadlocks();
  mariadb_link other = writer();
  other.query("SELECT 1 FROM holdfast_locks WHERE name='b' FOR UPDATE");
  std::error_code ec;
  lease_set held;
  std::thread ours([&] { held = mine.try_acquire_all_for({"a", "b"}, 60s, ec); });
  wait_until_ours_waits("FOR UPDATE");
  EXPECT_EQ(other.error_of("SELECT 1 FROM holdfast_locks WHERE name='a' FOR UPDATE"), 0u);
  EXPECT_EQ(deadlocks(), before + 1) << "ours was the victim";
  other.query("COMMIT");
  ours.join();
  EXPECT_TRUE(held) << ec.message();
  EXPECT_FALSE(open("row").mutex("a").try_acquire());
}

// FLUSH waits for a statement that waits for the first row. If the transaction that has this row
// waited for FLUSH, none of the three could continue. The server does not detect that.
TEST_F(mysql_foreign, several_rows_do_not_make_flush_tables_with_read_lock_wait) {
  const std::string longer_than_the_test = "row&ttl=4m&op-timeout=50s";
  const client mine = open(longer_than_the_test), theirs = open(longer_than_the_test);
  for (const char* name : {"a", "b"}) mine.mutex(name).acquire().release();
  mariadb_link other = link(), admin = server().root();
  other.query("BEGIN");
  other.query("SELECT 1 FROM holdfast_locks WHERE name='b' FOR UPDATE");
  lease_set both;
  std::error_code ec;
  std::jthread ours([&] { both = mine.try_acquire_all_for({"a", "b"}, 60s, ec); });
  wait_until_ours_waits("FOR UPDATE");
  std::error_code ec_of_waiter;
  std::jthread waiter([&] { lease one = theirs.mutex("a").try_acquire(ec_of_waiter); });
  wait_until_ours_waits("UPDATE `holdfast_locks`");
  begin_flush(admin);
  other.query("ROLLBACK");
  wait_until_flushed(admin);
  admin.query("UNLOCK TABLES");
  ours.join();
  waiter.join();
  EXPECT_TRUE(both) << ec.message();
  EXPECT_FALSE(ec_of_waiter) << ec_of_waiter.message();
}

// FLUSH waits for those that wait for the lock. The first of them has to be granted it, and to
// release it, although no new statement that locks a row is executed.
TEST_F(mysql_foreign, a_row_lock_is_handed_on_while_flush_tables_with_read_lock_waits) {
  std::vector<client> clients;
  std::vector<std::jthread> waiters;
  lease held = open("for-update").mutex("a").acquire();
  for (int i = 0; i < 3; ++i) clients.push_back(open("for-update&op-timeout=50s"));
  for (const client& c : clients) waiters.emplace_back([c] { c.mutex("a").acquire().release(); });
  wait_until_ours_waits("FOR UPDATE/*M! WAIT", waiters.size());
  mariadb_link admin = server().root();
  begin_flush(admin);
  held.release();
  wait_until_flushed(admin);
  admin.query("UNLOCK TABLES");
}

// The library locks the record and then its number, and the other program the other way round.
TEST_F(mysql_foreign, a_record_is_granted_after_a_deadlock) {
  const client mine = open("insert&ttl=4m");
  mine.mutex("a").acquire().release();
  query("INSERT INTO holdfast_records (resource, lease_ms, update_time) VALUES ('a', 1, "
        "'2001-01-01')");  // expired: it is taken over by an UPDATE of both tables
  const long long before = deadlocks();
  mariadb_link other = writer();
  other.query("SELECT 1 FROM holdfast_records_numbers WHERE name='a' FOR UPDATE");
  std::error_code ec;
  lease held;
  std::thread ours([&] { held = mine.mutex("a").try_acquire_for(60s, {}, ec); });
  wait_until_ours_waits("UPDATE");
  EXPECT_EQ(other.error_of("SELECT 1 FROM holdfast_records WHERE resource='a' FOR UPDATE"), 0u);
  EXPECT_EQ(deadlocks(), before + 1) << "ours was the victim";
  other.query("COMMIT");
  ours.join();
  EXPECT_TRUE(held) << ec.message();
}

// A statement waits a quarter of the ttl for the row, and is repeated.
TEST_F(mysql_foreign, a_waiter_outlasts_the_lock_wait_timeout_of_its_statements) {
  for (const std::string strategy : {"row", "insert"}) {
    const client mine = open(strategy + "&ttl=4s");
    mine.mutex("a").acquire().release();
    const std::string row = strategy == "row" ? "holdfast_locks" : "holdfast_records_numbers";
    mariadb_link other = writer();
    other.query("SELECT 1 FROM " + row + " WHERE name='a' FOR UPDATE");
    const auto timeouts = [&] {
      return std::stoll(server()
                            .query("SELECT SUM(ERRORS) FROM (SELECT VARIABLE_VALUE AS ERRORS "
                                   "FROM information_schema.GLOBAL_STATUS WHERE "
                                   "VARIABLE_NAME='Innodb_row_lock_waits') s")
                            .text());
    };
    const long long before = timeouts();
    std::error_code ec;
    lease held;
    std::thread ours([&] { held = mine.mutex("a").try_acquire_for(60s, {}, ec); });
    EXPECT_TRUE(eventually([&] { return timeouts() >= before + 2; })) << strategy;
    EXPECT_FALSE(held);
    other.query("COMMIT");
    ours.join();
    EXPECT_TRUE(held) << strategy << ": " << ec.message();
  }
}

// A lock that another program has is busy, however long the server lets statements wait.
TEST_F(mysql_foreign, a_row_lock_of_another_program_is_waited_for) {
  query("SET GLOBAL innodb_lock_wait_timeout=1");
  const client mine = open("for-update");
  mine.mutex("a").acquire().release();
  mariadb_link other = writer();
  other.query("SELECT 1 FROM holdfast_row_locks WHERE name='a' FOR UPDATE");
  EXPECT_FALSE(mine.mutex("a").try_acquire());
  EXPECT_FALSE(mine.mutex("a").try_acquire_for(1500ms)) << "longer than that timeout";
  lease held;
  std::thread ours([&] { held = mine.mutex("a").acquire(); });
  wait_until_ours_waits("FOR UPDATE");
  other.query("COMMIT");
  ours.join();
  EXPECT_TRUE(held.held());
  query("SET GLOBAL innodb_lock_wait_timeout=DEFAULT");
}

// The row of a new lock is in a transaction that may be rolled back.
TEST_F(mysql_foreign, a_row_that_another_program_is_inserting_is_waited_for) {
  const client mine = open("for-update");
  mariadb_link other = writer();
  other.query("INSERT INTO holdfast_row_locks (name) VALUES ('new')");
  EXPECT_FALSE(mine.mutex("new").try_acquire());
  lease held;
  std::thread ours([&] { held = mine.mutex("new").acquire(); });
  wait_until_ours_waits("holdfast_row_locks");
  other.query("ROLLBACK");
  ours.join();
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(open("for-update").mutex("new").try_acquire());
}

// The server looks for no deadlock between a named lock and a row: the callers' timeouts end it.
TEST_F(mysql_foreign, a_deadlock_of_a_named_lock_and_a_row_ends_with_the_callers_timeouts) {
  const client names = open("named"), rows = open("for-update");
  const client other_names = open("named"), other_rows = open("for-update");
  const lease named = names.mutex("a").acquire(), row = other_rows.mutex("b").acquire();
  std::thread holder_of_name([&] { EXPECT_FALSE(rows.mutex("b").try_acquire_for(500ms)); });
  EXPECT_FALSE(other_names.mutex("a").try_acquire_for(500ms));
  holder_of_name.join();
  EXPECT_TRUE(named.held() && row.held());
}

}  // namespace
}  // namespace holdfast::mysql_test
