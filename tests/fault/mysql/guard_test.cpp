// A guarded row of a real MariaDB refuses the writes of earlier holders, also those in flight.
#include <mysql.h>
#include <sys/socket.h>

#include <thread>

#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

class mysql_guard_test : public on_mariadb {
 protected:
  void SetUp() override {
    on_mariadb::SetUp();
    if (IsSkipped()) return;
    query("CREATE TABLE job (id INT PRIMARY KEY, done_by VARCHAR(40) NOT NULL DEFAULT '',"
          " fence_token BIGINT NOT NULL DEFAULT 0,"
          " fence_owner VARCHAR(255) NOT NULL DEFAULT '') ENGINE=InnoDB");
    query("INSERT INTO job (id) VALUES (1), (2)");
  }
  static std::string done_by(int id = 1) {
    return query("SELECT done_by FROM job WHERE id=" + std::to_string(id)).text();
  }
};

const guarded_row first_job{.table = "job", .key = {{"id", 1}}};

sql_columns by(const std::string& name) { return {{"done_by", name}}; }

TEST_F(mysql_guard_test, a_smaller_token_is_refused_and_an_equal_one_needs_the_same_owner) {
  for (const unsigned long flags : {0ul, static_cast<unsigned long>(CLIENT_FOUND_ROWS)}) {
    query("UPDATE job SET fence_token=0, fence_owner='', done_by=''");
    own_connection own(server(), flags);
    mysql_guard guard(own.connection, first_job);
    EXPECT_TRUE(guard.write(7, "a", by("a7")));
    EXPECT_TRUE(guard.write(7, "a", by("a7")));  // repeated, with equal values
    EXPECT_FALSE(guard.write(6, "a", by("a6")));
    EXPECT_FALSE(guard.write(7, "A", by("A7")));
    EXPECT_FALSE(guard.write(7, "a ", by("a 7")));
    EXPECT_FALSE(guard.write(0, "a", by("a0")));
    EXPECT_FALSE(guard.write(-1, "a", by("a-1")));
    EXPECT_EQ(done_by(), "a7");
    EXPECT_TRUE(guard.write(9223372036854775807, "it's", by("b")));
    EXPECT_FALSE(guard.write(9223372036854775806, "it's", by("c")));
    EXPECT_EQ(done_by(), "b");
    EXPECT_EQ(done_by(2), "");
  }
}

TEST_F(mysql_guard_test, a_holder_that_reads_first_raises_the_token_without_values) {
  own_connection own(server());
  mysql_guard guard(own.connection, first_job);
  EXPECT_TRUE(guard.write(5, "b", {}));
  EXPECT_FALSE(guard.write(4, "a", by("a")));
  EXPECT_TRUE(guard.write(5, "b", by("b")));
}

TEST_F(mysql_guard_test, exact_admits_the_owner_that_was_set_and_no_other) {
  own_connection own(server());
  mysql_guard guard(own.connection, first_job, fencing::exact);
  EXPECT_FALSE(guard.write(1, "a", by("a")));
  guard.set("a");
  guard.set("a");
  EXPECT_TRUE(guard.write(1, "a", by("a")));
  EXPECT_TRUE(guard.write(0, "a", by("a")));
  guard.set("b");
  EXPECT_FALSE(guard.write(2, "a", by("a again")));
  EXPECT_TRUE(guard.write(1, "b", by("b")));
  EXPECT_EQ(done_by(), "b");
}

TEST_F(mysql_guard_test, what_cannot_work_is_refused) {
  own_connection own(server());
  const auto writes = [&](const guarded_row& row, const sql_columns& values) {
    return code_of([&] { (void)mysql_guard(own.connection, row).write(1, "a", values); });
  };
  EXPECT_EQ(writes({.table = "job", .key = {{"id", 3}}}, by("a")), errc::mismatch);
  EXPECT_EQ(writes({.table = "none", .key = {{"id", 1}}}, by("a")), errc::mismatch);
  EXPECT_EQ(writes({.table = "job", .key = {}}, by("a")), errc::bad_option);
  EXPECT_EQ(writes(first_job, {{"id", 2}}), errc::bad_option);
  EXPECT_EQ(writes(first_job, {{"fence_token", 2}}), errc::bad_option);
  EXPECT_EQ(writes(first_job, {{"", 2}}), errc::bad_name);
  own.link.query("SELECT 1");
  mysql_guard exact(own.connection, {.table = "job", .key = {{"id", 3}}}, fencing::exact);
  EXPECT_EQ(code_of([&] { exact.set("a"); }), errc::mismatch);
  query("CREATE USER reader@'127.0.0.1'");
  query("GRANT SELECT ON test.* TO reader@'127.0.0.1'");
  testkit::sql_login login = server().login();
  login.user = "reader";
  login.password = "";
  mariadb_link reader(login);
  mysql_guard guard(mysql_connection(reader.handle()), first_job);
  EXPECT_EQ(code_of([&] { (void)guard.write(1, "a", by("a")); }), errc::refused);
  query("DROP USER reader@'127.0.0.1'");
}

#ifdef HOLDFAST_WITH_MEMORY
TEST_F(mysql_guard_test, a_holder_that_paused_beyond_its_lease_is_refused) {
  memory_store store("mysql-guard");
  const client a = client::open(store.url()), b = client::open(store.url());
  const lease paused = a.mutex("job").acquire({.ttl = std::chrono::seconds{2}});
  const std::int64_t token = paused.token();
  const std::string owner(paused.owner());
  own_connection at_a(server()), at_b(server());
  mysql_guard guard_a(at_a.connection, first_job), guard_b(at_b.connection, first_job);
  EXPECT_TRUE(guard_a.write(paused, by("a")));
  store.begin_outage();  // nothing of the holder reaches the store while it is paused
  store.advance(std::chrono::seconds{3});
  store.end_outage();
  const lease next = b.mutex("job").acquire();
  EXPECT_TRUE(guard_b.write(next, by("b")));
  EXPECT_FALSE(guard_a.write(token, owner, by("a, too late")));
  EXPECT_EQ(done_by(), "b");
}
#endif

// The later holder's statement is in front, and the earlier holder's waits behind it for the row.
TEST_F(mysql_guard_test, a_stale_statement_that_waits_for_the_row_is_refused_when_it_runs) {
  own_connection old_holder(server());
  mysql_guard stale(old_holder.connection, first_job);
  mariadb_link next = link();
  next.query("BEGIN");
  mysql_guard guard(mysql_connection(next.handle()), first_job);
  EXPECT_TRUE(guard.write(2, "b", by("b")));
  bool written = true;
  std::jthread writer([&] { written = stale.write(1, "a", by("a")); });
  server().wait_until_row_wait(old_holder.link.id());
  next.query("COMMIT");
  writer.join();
  EXPECT_FALSE(written);
  EXPECT_EQ(done_by(), "b");
}

// The server executes a statement whose connection was closed while it waited.
TEST_F(mysql_guard_test, a_stale_statement_of_a_closed_connection_runs_and_is_refused) {
  own_connection next(server());
  mysql_guard guard(next.connection, first_job);
  EXPECT_TRUE(guard.write(2, "b", by("b")));
  mariadb_link keeper = link();
  keeper.query("BEGIN");
  keeper.query("SELECT * FROM job FOR UPDATE");
  mariadb_link plain = link(), guarded = link();
  const unsigned long plain_id = plain.id(), guarded_id = guarded.id();
  plain.send("UPDATE job SET done_by='ghost' WHERE id=2");
  guarded.send("UPDATE job SET done_by='ghost', fence_token=LAST_INSERT_ID(1), fence_owner='a'"
               " WHERE id=1 AND (fence_token<1 OR (fence_token=1 AND fence_owner='a'))");
  server().wait_until_row_wait(plain_id);
  server().wait_until_row_wait(guarded_id);
  ::shutdown(plain.descriptor(), SHUT_RDWR);
  ::shutdown(guarded.descriptor(), SHUT_RDWR);
  keeper.query("COMMIT");
  server().wait_until_gone(plain_id);
  server().wait_until_gone(guarded_id);
  EXPECT_EQ(done_by(2), "ghost");
  EXPECT_EQ(done_by(1), "b");
}

TEST_F(mysql_guard_test, a_waiting_statement_whose_connection_is_killed_never_runs) {
  own_connection old_holder(server());
  mysql_guard stale(old_holder.connection, first_job);
  mariadb_link keeper = link();
  keeper.query("BEGIN");
  keeper.query("SELECT * FROM job WHERE id=1 FOR UPDATE");
  std::error_code code;
  std::jthread writer([&] { (void)stale.write(1, "a", by("a"), code); });
  server().wait_until_row_wait(old_holder.link.id());
  server().kill_connection(old_holder.link.id());
  keeper.query("COMMIT");
  writer.join();
  EXPECT_EQ(code, errc::outcome_unknown);
  EXPECT_EQ(done_by(), "");
  own_connection next(server());
  EXPECT_TRUE(mysql_guard(next.connection, first_job).write(2, "b", by("b")));
  EXPECT_EQ(done_by(), "b");
}

}  // namespace
}  // namespace holdfast::mysql_test
