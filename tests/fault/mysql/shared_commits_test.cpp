// Statements that wait for a connection share a commit: on a real MariaDB each of them has the
// effect, the reply and the outcome that it would have alone.
#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "backend/mysql/strategies/row/statements.hpp"
#include "testkit/eventually.hpp"
#include "testkit/servers/mariadb_proxy.hpp"
#include "tests/fault/mysql/awaited_connection.hpp"
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;
using mysql::sql_reply;
using testkit::eventually;
using testkit::fault_time;
using testkit::mariadb_proxy;
using testkit::statement_fault;

class mysql_several_statements : public on_mariadb {
 protected:
  void SetUp() override {
    on_mariadb::SetUp();
    if (IsSkipped()) return;
    query("CREATE TABLE t (name VARBINARY(9) PRIMARY KEY, n BIGINT)");
    query("INSERT INTO t VALUES ('a',1),('b',2)");
  }
};

TEST_F(mysql_several_statements, of_one_text_have_a_reply_each) {
  awaited_connection mine(server().login());
  const sql_reply last = mine.execute(
      "START TRANSACTION;UPDATE t SET n=LAST_INSERT_ID(7) WHERE name='a';"
      "UPDATE t SET n=LAST_INSERT_ID(8) WHERE name='none';SELECT n FROM t ORDER BY name;COMMIT");
  ASSERT_TRUE(last.is_ok()) << last.text;
  ASSERT_EQ(last.earlier.size(), 4u);
  EXPECT_EQ(last.earlier[1].affected, 1u);
  EXPECT_EQ(last.earlier[1].insert_id, 7u);
  EXPECT_EQ(last.earlier[2].affected, 0u);
  EXPECT_EQ(last.earlier[2].insert_id, 0u) << "that of the statement before it";
  ASSERT_EQ(last.earlier[3].rows.size(), 2u);
  EXPECT_EQ(last.earlier[3].cell(0, 0), "7");
  EXPECT_TRUE(mine.execute("SELECT 1").earlier.empty());
}

TEST_F(mysql_several_statements, of_one_text_end_with_the_first_error) {
  awaited_connection mine(server().login());
  const sql_reply last =
      mine.execute("START TRANSACTION;UPDATE t SET n=3 WHERE name='a';INSERT INTO t VALUES ('b',4);"
                   "UPDATE t SET n=5 WHERE name='b';COMMIT");
  EXPECT_EQ(last.error, 1062u);
  EXPECT_EQ(last.earlier.size(), 2u);
  EXPECT_EQ(query("SELECT n FROM t WHERE name='a'").text(), "1") << "it is not committed";
  EXPECT_TRUE(mine.execute("ROLLBACK").is_ok());
  EXPECT_EQ(mine.execute("SELECT n FROM t ORDER BY name").cell(0, 0), "1");
}

class mysql_shared_commits : public on_mariadb {
 protected:
  static constexpr std::size_t most_locks = 8;

  static std::string url_at(int port, const std::string& options) {
    return "mysql://holdfast:secret@127.0.0.1:" + std::to_string(port) +
           "/test?outage-timeout=60s&retry-base=1ms&strategy=row&turns=1&" + options;
  }
  static client open(const std::string& options) {
    return client::open(url_at(server().port(), options));
  }
  static std::string name_of(std::size_t lock) { return "lock" + std::to_string(lock); }
  static long long commits() { return std::stoll(server().status("Com_commit")); }

  // Until the end of this: threads that acquire and release these locks, three for each.
  class busy_threads {
   public:
    explicit busy_threads(const client& c, std::size_t locks = most_locks) : client_(c) {
      for (std::size_t i = 0; i < 3 * locks; ++i)
        threads_.emplace_back([this, i, locks](std::stop_token stop) { run(i % locks, stop); });
    }
    void stop() {
      for (std::jthread& t : threads_) t.request_stop();
      threads_.clear();
    }
    int cycles(std::size_t lock) const { return cycles_[lock]; }

   private:
    void run(std::size_t lock, const std::stop_token& stop) {
      const mutex m = client_.mutex(name_of(lock));
      while (!stop.stop_requested()) {
        std::error_code ec;
        lease held = m.acquire({}, stop, ec);
        if (!held) continue;
        EXPECT_EQ(holders_[lock]++, 0) << name_of(lock);
        EXPECT_GT(held.token(), last_token_[lock].exchange(held.token()));
        --holders_[lock];
        held.release(ec);
        EXPECT_NE(ec, errc::lost) << name_of(lock);
        ++cycles_[lock];
      }
    }
    const client& client_;
    std::array<std::atomic<int>, most_locks> holders_{}, cycles_{};
    std::array<std::atomic<std::int64_t>, most_locks> last_token_{};
    std::vector<std::jthread> threads_;
  };
};

TEST_F(mysql_shared_commits, are_for_locks_whose_threads_outnumber_the_connections) {
  const client mine = open("connections=1");
  const long long before = commits();
  busy_threads all(mine);
  EXPECT_TRUE(eventually([&] { return commits() >= before + 200; }));
  all.stop();
  for (std::size_t i = 0; i < most_locks; ++i) {
    EXPECT_GT(all.cycles(i), 0) << name_of(i);
    EXPECT_TRUE(open("connections=1").mutex(name_of(i)).try_acquire()) << name_of(i);
  }
}

TEST_F(mysql_shared_commits, of_two_clients_do_not_deadlock) {
  const client mine = open("connections=2"), theirs = open("connections=2");
  for (std::size_t i = 0; i < most_locks; ++i) mine.mutex(name_of(i)).acquire().release();
  const auto deadlocks = [] { return std::stoll(server().status("Innodb_deadlocks")); };
  const long long before = deadlocks(), commits_before = commits();
  busy_threads ours(mine), others(theirs);
  EXPECT_TRUE(eventually([&] { return commits() >= commits_before + 100; }));
  ours.stop();
  others.stop();
  EXPECT_EQ(deadlocks(), before);
}

TEST_F(mysql_shared_commits, that_are_cut_or_killed_lose_no_lock_and_leave_none) {
  for (const statement_fault f :
       {statement_fault::cut, statement_fault::kill, statement_fault::kill_query})
    for (const fault_time t : {fault_time::before, fault_time::after}) {
      mariadb_proxy proxy(server());
      const client mine = client::open(url_at(proxy.port(), "connections=1&ttl=5m"));
      busy_threads all(mine);
      // The first statements of a connection that is opened again are others. A KILL QUERY that
      // comes late ends the next statement: if that was a shared commit, the next one is sent in
      // ten seconds.
      std::uint64_t n = 4;
      EXPECT_TRUE(eventually([&] {
        proxy.strike(4 + n++ % 50, t, f);
        EXPECT_TRUE(eventually([&] { return !proxy.struck().empty(); }));
        return proxy.struck().starts_with("SET TRANSACTION");
      }));
      all.stop();
    }
  for (std::size_t i = 0; i < most_locks; ++i)
    EXPECT_TRUE(eventually([&] { return bool(open("ttl=5m").mutex(name_of(i)).try_acquire()); }))
        << name_of(i) << " is left in the table";
}

// The level at which they are executed. At REPEATABLE READ the row stays locked, and its holder
// cannot renew the lease.
TEST_F(mysql_shared_commits, unlock_a_row_at_once_whose_lock_is_held) {
  const client theirs = open("ttl=5m");
  lease held = theirs.mutex("a").acquire();
  theirs.mutex("z").acquire().release();
  mariadb_link other = link(), mine = link();
  other.query("START TRANSACTION");
  other.query("SELECT 1 FROM holdfast_locks WHERE name='z' FOR UPDATE");
  const mysql::row::statements texts("holdfast_locks");
  const auto take = [&](std::string_view name) {
    return texts.try_lock({.name = name, .owner = "o", .ttl = 1min}, 0).text();
  };
  mine.query("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
  mine.query("START TRANSACTION");
  EXPECT_EQ(mine.query(take("a")).affected, 0u);
  mine.send(take("z"));
  server().wait_until_row_wait(mine.id());
  std::error_code ec;
  held.extend(5min, ec);
  EXPECT_FALSE(ec) << ec.message();
}

// FLUSH TABLES WITH READ LOCK waits for a statement that waits for a row of the text, and the next
// statement of the text would wait for FLUSH.
TEST_F(mysql_shared_commits, do_not_wait_for_a_table_once_they_have_a_row) {
  const client c = open("ttl=5m");
  for (const char* name : {"a", "b"}) c.mutex(name).acquire().release();
  const auto update = [](const std::string& name) {
    return "UPDATE holdfast_locks SET renewals=renewals+1 WHERE name='" + name + '\'';
  };
  mariadb_link text = link(), waiter = link(), admin = server().root();
  text.query("START TRANSACTION");
  text.query(update("a"));
  waiter.send(update("a"));
  server().wait_until_row_wait(waiter.id());
  admin.send("FLUSH TABLES WITH READ LOCK");
  server().wait_until("SELECT STATE LIKE 'Waiting for%' FROM information_schema.PROCESSLIST "
                      "WHERE ID=" +
                          std::to_string(admin.id()),
                      "1");
  const std::string at_once =
      "/*M! SET STATEMENT innodb_lock_wait_timeout=1,lock_wait_timeout=0 FOR */ ";
  EXPECT_EQ(text.error_of(at_once + update("b")), 1205u);
  text.query("ROLLBACK");
  waiter.receive();
  admin.receive();
  admin.query("UNLOCK TABLES");
}

TEST_F(mysql_shared_commits, begin_no_other_transaction) {
  query("SET GLOBAL completion_type='CHAIN'");
  const client mine = open("connections=1");
  const lease_set both = mine.acquire_all({"a", "b"});
  const lease after = mine.mutex("c").acquire();
  EXPECT_EQ(query("SELECT COUNT(*) FROM test.holdfast_locks WHERE owner<>x''").text(), "3");
  query("SET GLOBAL completion_type=DEFAULT");
}

TEST_F(mysql_shared_commits, do_not_wait_long_with_a_row_that_another_transaction_keeps) {
  const client mine = open("connections=2&ttl=5m");
  const long long before = commits();
  busy_threads all(mine);
  ASSERT_TRUE(eventually([&] { return commits() >= before + 20; }));
  mariadb_link other = link();
  other.query("START TRANSACTION");
  other.query("SELECT 1 FROM holdfast_locks WHERE name='lock0' FOR UPDATE");
  std::array<int, most_locks> until_then{};
  for (std::size_t i = 0; i < most_locks; ++i) until_then[i] = all.cycles(i);
  EXPECT_TRUE(eventually([&] {
    for (std::size_t i = 1; i < most_locks; ++i)
      if (all.cycles(i) < until_then[i] + 20) return false;
    return true;
  }));
  const int counted_late = 3;  // each thread may have released it before
  EXPECT_LE(all.cycles(0), until_then[0] + counted_late);
  other.query("COMMIT");
  EXPECT_TRUE(eventually([&] { return all.cycles(0) > until_then[0] + counted_late; }));
  all.stop();
}

}  // namespace
}  // namespace holdfast::mysql_test
