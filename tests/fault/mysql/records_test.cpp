// Locks that are records of a table: strategy `insert` on a real MariaDB.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "testkit/servers/program.hpp"
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;

class mysql_records : public on_mariadb {
 protected:
  static client open(const std::string& options = {}) {
    return client::open(server().url() + "?strategy=insert" + options);
  }
  static long long count(const std::string& where = "TRUE") {
    return query("SELECT COUNT(*) FROM holdfast_records WHERE " + where).number();
  }
  // Why such a client cannot be opened.
  static std::string refusal(const std::string& options, errc expected) {
    try {
      open(options);
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), expected) << e.what();
      return e.what();
    }
    return "opened";
  }
};

TEST_F(mysql_records, a_record_is_inserted_renewed_and_deleted) {
  const client mine = open();
  holdfast::mutex lock = mine.mutex("nightly");
  lease held = lock.acquire({.note = "backup"});
  const sql_result seen = query("SELECT * FROM holdfast_records");
  EXPECT_EQ(seen.rows.size(), 1u);
  EXPECT_EQ(seen.of("resource"), "nightly");
  EXPECT_EQ(seen.of("description"), "backup");
  EXPECT_EQ(seen.of("owner"), held.owner());
  EXPECT_EQ(seen.of("count"), "1");
  EXPECT_EQ(seen.of("lease_ms"), "30000");
  held.extend(60s);
  const sql_result renewed = query("SELECT * FROM holdfast_records");
  EXPECT_GT(renewed.of("update_time"), seen.of("update_time"));
  EXPECT_EQ(renewed.of("lease_ms"), "60000");
  held.extend(1s);
  EXPECT_GT(mine.holders("nightly").at(0).expires_in, 30s) << "a renewal shortens no lease";
  held.release();
  EXPECT_EQ(count(), 0);
}

TEST_F(mysql_records, tokens_grow_without_records_and_are_not_below_the_servers_clock) {
  const client mine = open();
  holdfast::mutex lock = mine.mutex("x");
  std::int64_t last =
      query("SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))").number() * 1024;
  for (int i = 0; i < 3; ++i) {
    lease held = lock.acquire();
    EXPECT_GT(held.token(), last);
    last = held.token();
    held.release();
    query("DELETE FROM holdfast_records");
    mine.prune();
  }
  // A clock that was set back: the number is kept in a table of its own.
  query("UPDATE holdfast_records_numbers SET grant_number=grant_number+3600000000");
  EXPECT_GT(lock.acquire().token(), last + 3'600'000'000 * 1024 - 1);
}

TEST_F(mysql_records, both_shapes_and_own_columns_are_used) {
  query("CREATE TABLE job_lock (id INT AUTO_INCREMENT PRIMARY KEY, job VARCHAR(100) CHARACTER SET "
        "utf8mb4 NOT NULL UNIQUE, holder VARCHAR(64) NOT NULL DEFAULT '', changed DATETIME(6) NOT "
        "NULL DEFAULT CURRENT_TIMESTAMP(6), lease_ms INT NOT NULL DEFAULT 0, city VARCHAR(20) NOT "
        "NULL DEFAULT 'Bern')");
  const client own = open("&table=job_lock&key-column=job&owner-column=holder&time-column=changed"
                          "&note-column=&count-column=");
  const client orders = open("&shape=order&table=order_lock&type=charge");
  const client others = open("&shape=order&table=order_lock&type=ship");
  lease a = own.mutex("für").acquire();
  EXPECT_EQ(query("SELECT job FROM job_lock").text(), "für");
  EXPECT_EQ(query("SELECT city FROM job_lock").text(), "Bern");
  lease b = orders.mutex("17").acquire({.note = "by hand"});
  const sql_result seen = query("SELECT * FROM order_lock");
  EXPECT_EQ(seen.of("order_id"), "17");
  EXPECT_EQ(seen.of("type"), "charge");
  EXPECT_EQ(seen.of("memo"), "by hand");
  EXPECT_TRUE(others.mutex("17").try_acquire()) << "another type is another lock";
  EXPECT_FALSE(orders.mutex("17").try_acquire());
  EXPECT_EQ(orders.holders("17").at(0).owner, b.owner());
  EXPECT_EQ(own.list("f").at(0).name, "für");
  EXPECT_TRUE(own.list("x").empty());
}

// A program of the documents: INSERT is the lock, a duplicate key means busy, DELETE ends it.
constexpr const char* program_by_hand = R"py(
import sys, pymysql
port, verb, name = sys.argv[1:]
db = pymysql.connect(host="127.0.0.1", port=int(port), user="holdfast", password="secret",
                     database="test", autocommit=True).cursor()
try:
    if verb == "insert":
        db.execute("INSERT INTO holdfast_records (resource, description) VALUES (%s, 'by hand')",
                   (name,))
    elif db.execute("DELETE FROM holdfast_records WHERE resource=%s", (name,)) != 1:
        sys.exit(4)
except pymysql.err.IntegrityError as e:
    sys.exit(3 if e.args[0] == 1062 else 5)
)py";

TEST_F(mysql_records, a_program_with_pymysql_that_inserts_by_hand_excludes_and_is_excluded) {
  constexpr const char* python = "/usr/bin/python3";  // Debian's, which has Debian's packages
  constexpr int busy = 3;
  if (testkit::run_program({{python, "-c", "import pymysql"}, {}, "/dev/null"}) != 0)
    GTEST_SKIP() << "skipped: python3-pymysql is not installed";
  const auto theirs = [&](const char* verb) {
    return testkit::run_program(
        {{python, "-c", program_by_hand, std::to_string(server().port()), verb, "x"},
         {},
         "/dev/null"});
  };
  const client mine = open();
  holdfast::mutex lock = mine.mutex("x");
  EXPECT_EQ(theirs("insert"), 0);
  EXPECT_FALSE(lock.try_acquire());
  EXPECT_EQ(mine.holders("x").at(0).note, "by hand");
  lease held;
  std::jthread waiter([&] { held = lock.acquire(); });
  EXPECT_EQ(theirs("delete"), 0);
  waiter.join();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(theirs("insert"), busy);
  held.release();
  EXPECT_EQ(theirs("insert"), 0);
}

// The story of a crashed owner: without a lease its record blocks everyone until it is deleted.
TEST_F(mysql_records, the_record_of_a_crashed_owner_expires) {
  const client mine = open();
  holdfast::mutex lock = mine.mutex("x");
  lock.acquire().release();
  query("INSERT INTO holdfast_records (resource) VALUES ('x')");
  EXPECT_FALSE(lock.try_acquire_for(300ms)) << "the naive record has no lease";
  EXPECT_EQ(mine.prune(), 0u);
  EXPECT_EQ(mine.holders("x").at(0).expires_in, std::chrono::milliseconds::max());
  query("UPDATE holdfast_records SET lease_ms=500, update_time=UTC_TIMESTAMP(6)");
  const lease held = lock.acquire();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(count("owner='" + held.owner() + '\''), 1) << "the record was taken over";
}

// The story of a clean-up job: one that goes by the age of a record frees a living owner's.
TEST_F(mysql_records, a_clean_up_leaves_the_records_of_living_owners) {
  const client mine = open(), other = open();
  holdfast::mutex lock = mine.mutex("held"), rival = other.mutex("held");
  const lease held = lock.acquire();
  query("INSERT INTO holdfast_records (resource, owner, update_time, lease_ms) VALUES "
        "('a', 'dead', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR, 30000),"
        "('b', 'dead', UTC_TIMESTAMP(6) - INTERVAL 31 SECOND, 30000),"
        "('c', 'alive', UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE, 90000)");
  EXPECT_EQ(other.prune(), 2u);
  EXPECT_EQ(count("resource IN ('held', 'c')"), 2);
  EXPECT_FALSE(rival.try_acquire());
  query("UPDATE holdfast_records SET update_time=update_time - INTERVAL 2 SECOND");
  query("DELETE FROM holdfast_records WHERE update_time < UTC_TIMESTAMP(6) - INTERVAL 1 SECOND");
  const lease second = rival.acquire();
  EXPECT_TRUE(held.held()) << "the naive job lets two owners in, until the first renewal";
  EXPECT_GT(second.token(), held.token()) << "which the fence refuses";
}

TEST_F(mysql_records, a_clean_up_keeps_to_its_prefix_and_its_type) {
  const client some = open("&prefix=a_"), all = open();
  query("INSERT INTO holdfast_records (resource, owner, update_time, lease_ms) VALUES "
        "('a_1', 'dead', '2001-01-01', 1), ('ab1', 'dead', '2001-01-01', 1)");
  EXPECT_EQ(some.prune(), 1u);
  EXPECT_EQ(all.prune(), 1u);
}

TEST_F(mysql_records, many_clients_do_not_overlap_and_do_not_deadlock) {
  constexpr int threads = 8, turns = 20;
  open();
  query("CREATE TABLE n (i INT)");
  query("INSERT INTO n VALUES (0)");
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&] {
      const client mine = open("&op-timeout=60s");
      holdfast::mutex lock = mine.mutex("x");
      mariadb_link plain = link();
      for (int i = 0; i < turns; ++i) {
        const lease held = lock.acquire();
        const long long n = plain.query("SELECT i FROM n").number();
        plain.query("UPDATE n SET i=" + std::to_string(n + 1));
      }
    });
  }
  all.clear();
  EXPECT_EQ(query("SELECT i FROM n").number(), threads * turns);
  EXPECT_EQ(server().status("Innodb_deadlocks"), "0");
}

TEST_F(mysql_records, a_table_that_does_not_suit_is_refused_with_the_remedy) {
  const std::string rest =
      "owner VARBINARY(64) NOT NULL, `count` INT, description TEXT, lease_ms INT NOT NULL";
  query("CREATE TABLE no_key (resource VARBINARY(9), update_time TIMESTAMP(6), " + rest + ")");
  query("CREATE TABLE part (resource VARCHAR(99) CHARACTER SET utf8mb4, update_time DATETIME(6), " +
        rest + ", UNIQUE KEY (resource(5)))");
  query("CREATE TABLE seconds (resource VARBINARY(9) UNIQUE, update_time TIMESTAMP, " + rest + ")");
  query("CREATE TABLE numbers (resource INT UNIQUE, update_time TIMESTAMP(6), " + rest + ")");
  query("CREATE TABLE bare (resource VARBINARY(9) UNIQUE, description TEXT)");
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal("&table=no_key", errc::mismatch), "ALTER TABLE no_key ADD UNIQUE KEY (resource)");
  has(refusal("&table=part", errc::mismatch), "ALTER TABLE part ADD UNIQUE KEY (resource)");
  has(refusal("&table=seconds", errc::mismatch), "MODIFY update_time TIMESTAMP(6)");
  has(refusal("&table=numbers", errc::mismatch), "MODIFY resource VARBINARY(767)");
  has(refusal("&table=bare", errc::mismatch),
      "name the column with owner-column, or add it: ALTER");
  EXPECT_EQ(query("SHOW TABLES LIKE '%_numbers'").rows.size(), 0u) << "nothing is half-created";
}

TEST_F(mysql_records, options_that_contradict_are_refused) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal("&shape=square", errc::bad_option), "there is resource, order");
  has(refusal("&key-column=a`b", errc::bad_option), "key-column: give 1 to 64 letters");
  has(refusal("&owner-column=", errc::bad_option), "owner-column: give 1 to 64 letters");
  has(refusal("&type=x", errc::bad_option), "name it with type-column");
  has(refusal("&note-column=owner", errc::bad_option), "has the same name");
  has(refusal("&table=" + std::string(60, 't'), errc::bad_option), "1 to 56");
}

TEST_F(mysql_records, a_user_without_the_right_to_create_gets_the_statements) {
  query("CREATE USER poor@'%' IDENTIFIED BY 'x'");
  query("GRANT SELECT, INSERT, UPDATE, DELETE ON test.* TO poor@'%'");
  const std::string url =
      "mysql://poor:x@127.0.0.1:" + std::to_string(server().port()) + "/test?strategy=insert";
  for (const char* table : {"holdfast_records`", "holdfast_records_numbers`"}) {
    try {
      static_cast<void>(client::open(url));
      ADD_FAILURE() << "opened without " << table;
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), errc::refused);
      const std::string text = e.what();
      const std::size_t at = text.find("CREATE TABLE");
      ASSERT_NE(at, std::string::npos) << text;
      EXPECT_NE(text.find(table, at), std::string::npos) << text;
      query(text.substr(at, text.rfind('\'') + 1 - at));
    }
  }
  EXPECT_TRUE(client::open(url).mutex("x").try_acquire());
  query("DROP USER poor@'%'");
}

TEST_F(mysql_records, a_row_is_found_by_its_key_among_ten_thousand) {
  const client mine = open();
  query("INSERT INTO holdfast_records (resource) SELECT seq FROM seq_1_to_10000");
  const lease held = mine.mutex("x").acquire();
  mariadb_link other = link();
  other.query("BEGIN");
  other.query("UPDATE holdfast_records SET description='' WHERE resource='17'");
  EXPECT_TRUE(mine.mutex("y").try_acquire()) << "the row of another lock is locked";
  EXPECT_EQ(mine.list().size(), 10'001u);
}

}  // namespace
}  // namespace holdfast::mysql_test
