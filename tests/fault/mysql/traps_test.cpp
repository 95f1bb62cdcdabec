// Traps of MariaDB for a lock, shown by plain statements (docs/mysql.md).
#include <fcntl.h>
#include <mysql.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>

#include "testkit/servers/program.hpp"
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

class mysql_traps : public on_mariadb {};

// A waiter that is paused is granted, and its reply is in its socket; the server closes the idle
// session and frees the lock. The waiter then reads that it has the lock.
TEST_F(mysql_traps, a_waiter_that_was_paused_reads_a_grant_that_is_over) {
  mariadb_link holder = link(), paused = link(), next = link();
  const unsigned long paused_id = paused.id();
  paused.query("SET wait_timeout=1");
  holder.query("DO GET_LOCK('x', 0)");
  paused.send("SELECT GET_LOCK('x', 600)");
  server().wait_until_named_wait(paused_id);
  holder.query("DO RELEASE_LOCK('x')");
  server().wait_until_gone(paused_id);
  EXPECT_EQ(next.query("SELECT GET_LOCK('x', 600)").number(), 1);
  EXPECT_EQ(paused.receive().number(), 1);
  EXPECT_NE(paused.error_of("DO 1"), 0u);  // a second statement shows it
  EXPECT_EQ(next.query("SELECT IS_USED_LOCK('x')").number(), static_cast<long long>(next.id()));
}

// KILL returns before the statement has ended. Once KILL does not know the connection, it has.
TEST_F(mysql_traps, a_killed_statement_has_ended_when_kill_no_longer_knows_its_connection) {
  query("CREATE TABLE t (id INT PRIMARY KEY)");
  int inserted = 0;
  for (int i = 0; i < 100; ++i) {
    mariadb_link writer = link();
    const std::string row = std::to_string(i);
    writer.send("INSERT INTO t VALUES (" + row + ')');
    server().kill_connection(writer.id());
    const std::string look = "SELECT COUNT(*) FROM t WHERE id=" + row;
    const long long seen = query(look + " FOR UPDATE").number();
    inserted += static_cast<int>(seen);
    EXPECT_EQ(query(look).number(), seen);
  }
  EXPECT_EQ(query("SELECT COUNT(*) FROM t").number(), inserted);
}

// A client that has died in GET_LOCK leaves the queue; with a command behind it, it does not.
TEST_F(mysql_traps, a_command_behind_get_lock_keeps_a_dead_client_in_the_queue) {
  query("CREATE TABLE granted (id INT)");
  mariadb_link holder = link(), alone = link(), pipelined = link();
  holder.query("DO GET_LOCK('x', 0)");
  alone.send("SELECT GET_LOCK('x', 600)");
  pipelined.send("SELECT GET_LOCK('x', 600)");
  pipelined.send("INSERT INTO granted VALUES (1)");
  const unsigned long alone_id = alone.id(), ghost_id = pipelined.id();
  for (const unsigned long id : {alone_id, ghost_id}) server().wait_until_named_wait(id);
  for (mariadb_link* one : {&pipelined, &alone}) ::shutdown(one->descriptor(), SHUT_RDWR);
  server().wait_until_gone(alone_id);
  server().wait_until_named_wait(ghost_id);
  holder.query("DO RELEASE_LOCK('x')");
  server().wait_until_gone(ghost_id);
  EXPECT_EQ(query("SELECT COUNT(*) FROM granted").number(), 1);
}

TEST_F(mysql_traps, found_rows_makes_an_upsert_that_changed_nothing_look_like_an_insert) {
  query("CREATE TABLE l (k VARCHAR(20) PRIMARY KEY, owner VARCHAR(20))");
  own_connection plain(server()), found(server(), CLIENT_FOUND_ROWS);
  const auto acquire = [](own_connection& c, const std::string& owner) {
    return c.link
        .query("INSERT INTO l VALUES ('x', '" + owner + "') ON DUPLICATE KEY UPDATE owner=owner")
        .affected;
  };
  EXPECT_EQ(acquire(plain, "a"), 1u);
  EXPECT_EQ(acquire(plain, "b"), 0u);
  EXPECT_EQ(acquire(found, "c"), 1u);  // and a has the lock
  EXPECT_EQ(query("SELECT owner FROM l").text(), "a");
}

// The lock is free once the last copy of the descriptor is closed, not when its client has ended.
TEST_F(mysql_traps, a_child_program_inherits_the_connection_and_keeps_its_lock) {
  mariadb_link parent = link(), next = link();
  EXPECT_EQ(::fcntl(parent.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
  parent.query("DO GET_LOCK('x', 0)");
  const unsigned long parent_id = parent.id();
  testkit::program child({{"sleep", "600"}});
  parent.abandon();
  EXPECT_EQ(next.query("SELECT GET_LOCK('x', 0)").number(), 0);
  EXPECT_EQ(next.query("SELECT IS_USED_LOCK('x')").number(), static_cast<long long>(parent_id));
  child.kill();
  server().wait_until_gone(parent_id);
  EXPECT_EQ(next.query("SELECT GET_LOCK('x', 0)").number(), 1);
}

// libmariadb leaves the socket of a TLS connection blocking.
TEST_F(mysql_traps, a_non_blocking_call_over_tls_waits_for_the_reply) {
  mariadb_server secure({.tls = "server"});
  for (const bool has_tls : {false, true}) {
    const std::unique_ptr<MYSQL, void (*)(MYSQL*)> mysql(::mysql_init(nullptr), ::mysql_close);
    const char tls = has_tls ? 1 : 0;
    const std::string ca = secure.tls_files().certificate("ca");
    ::mysql_options(mysql.get(), MYSQL_OPT_NONBLOCK, nullptr);
    ::mysql_options(mysql.get(), MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &tls);
    if (has_tls) ::mysql_options(mysql.get(), MYSQL_OPT_SSL_CA, ca.c_str());
    ASSERT_TRUE(::mysql_real_connect(mysql.get(), "127.0.0.1", mariadb_server::user,
                                     mariadb_server::password, mariadb_server::database,
                                     static_cast<unsigned>(secure.port()), nullptr, 0))
        << ::mysql_error(mysql.get());
    const std::string statement = "SELECT SLEEP(0.5)";
    int status = 0;
    const int awaited =
        ::mysql_real_query_start(&status, mysql.get(), statement.data(), statement.size());
    EXPECT_EQ(awaited == 0, has_tls);  // 0: the reply was read inside the call
    for (int wait = awaited; wait != 0;) {
      pollfd readable{static_cast<int>(::mysql_get_socket(mysql.get())), POLLIN, 0};
      ASSERT_EQ(::poll(&readable, 1, 60'000), 1);
      wait = ::mysql_real_query_cont(&status, mysql.get(), wait);
    }
    EXPECT_EQ(status, 0);
    ::mysql_free_result(::mysql_store_result(mysql.get()));
  }
}

// UUID_SHORT() is the second of the server's start and a counter.
TEST_F(mysql_traps, uuid_short_repeats_after_a_restart_within_the_second_of_the_start) {
  constexpr int tries = 20;
  mariadb_server fresh;
  const auto draw = [&] { return std::stoull(fresh.query("SELECT UUID_SHORT()").text()); };
  const auto second_of = [](unsigned long long id) { return id >> 24; };
  bool has_repeated = false;
  for (int i = 0; i < tries && !has_repeated; ++i) {
    const auto before = draw();
    fresh.kill_hard();
    fresh.start();
    const auto after = draw();
    EXPECT_GE(second_of(after), second_of(before));
    has_repeated = second_of(after) == second_of(before);
    EXPECT_TRUE(!has_repeated || after <= before);
  }
  const auto before = draw();
  fresh.restart();  // which waits for another second
  EXPECT_GT(draw(), before);
  if (!has_repeated) GTEST_SKIP() << "skipped: this machine takes a second to start a server";
}

// A server whose TCP keepalive gives up a silent connection frees its locks then, long before the
// idle timeout of 30 s. Loopback loses no packets, so what is shown is that the lease ends sooner.
TEST_F(mysql_traps, a_short_keepalive_of_the_server_shortens_the_leases_of_connections) {
  mariadb_server hasty(
      {.config = {"tcp_keepalive_time=2", "tcp_keepalive_interval=1", "tcp_keepalive_probes=2"}});
  for (const char* strategy : {"named", "for-update"}) {
    const std::string options = std::string("?idle-timeout=30s&strategy=") + strategy;
    const client mine = client::open(hasty.url() + options);
    const lease held = mine.mutex("x").acquire();
    EXPECT_LT(held.expires(), lease_clock::now() + std::chrono::seconds{4});
    const client by_socket = client::open("mysql://holdfast:secret@localhost/test" + options +
                                          "&socket=" + hasty.socket_path());
    const lease local = by_socket.mutex("y").acquire();  // a Unix socket has no keepalive
    EXPECT_GT(local.expires(), lease_clock::now() + std::chrono::seconds{20});
    EXPECT_TRUE(held.held());
  }
}

TEST_F(mysql_traps, a_named_lock_is_held_on_a_primary_and_its_replica_at_once) {
  mariadb_server primary({.server_id = 1, .replication = true});
  mariadb_server replica({.server_id = 2, .replication = true});
  replica.replicate(primary);
  mariadb_link a = primary.link(), b = replica.link();
  EXPECT_EQ(a.query("SELECT GET_LOCK('x', 0)").number(), 1);
  EXPECT_EQ(b.query("SELECT GET_LOCK('x', 0)").number(), 1);
  EXPECT_EQ(b.query("SELECT @@read_only").number(), 1);
}

// Read-only servers refuse FOR UPDATE, but not shared locks: @@read_only has to be asked.
TEST_F(mysql_traps, a_read_only_server_grants_named_and_shared_locks) {
  query("CREATE TABLE t (id INT PRIMARY KEY)");
  query("INSERT INTO t VALUES (1)");
  query("SET GLOBAL read_only=1");
  mariadb_link user = link();
  user.query("BEGIN");
  EXPECT_EQ(user.error_of("SELECT * FROM t WHERE id=1 FOR UPDATE"), 1290u);
  EXPECT_EQ(user.error_of("SELECT * FROM t WHERE id=1 LOCK IN SHARE MODE"), 0u);
  EXPECT_EQ(user.query("SELECT GET_LOCK('x', 0)").number(), 1);
  query("SET GLOBAL read_only=0");
}

}  // namespace
}  // namespace holdfast::mysql_test
