// The MariaDB servers that tests start do what their header promises.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "testkit/servers/mariadb_server.hpp"
#include "testkit/servers/port.hpp"

namespace holdfast::testkit {
namespace {

class mysql_testkit : public testing::Test {
 protected:
  void SetUp() override {
    if (!mariadb_server::installed()) GTEST_SKIP() << mariadb_server::not_installed;
  }
};

void create_table(mariadb_link& link) {
  link.query("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB");
  link.query("INSERT INTO t VALUES (1, 'one')");
}

TEST_F(mysql_testkit, a_server_keeps_its_data_across_kill_shutdown_and_restart) {
  mariadb_server server;
  const int port = server.port();
  mariadb_link link = server.link();
  create_table(link);
  server.restart();
  EXPECT_EQ(server.port(), port);
  EXPECT_EQ(link.error_of("SELECT 1"), 2013u);
  EXPECT_EQ(server.query("SELECT v FROM t WHERE id=1").text(), "one");
  server.kill_hard();
  server.start();
  EXPECT_EQ(server.query("SELECT v FROM t WHERE id=1").text(), "one");
  server.shut_down();
  EXPECT_EQ(connect_to(port), -1);
  server.start();
  EXPECT_EQ(server.link().query("SELECT v FROM t WHERE id=1").text(), "one");
}

TEST_F(mysql_testkit, root_logs_in_over_the_socket_only_and_the_user_has_one_database) {
  mariadb_server server;
  EXPECT_EQ(server.query("SELECT CURRENT_USER()").text(), "root@localhost");
  const auto code_of = [](const sql_login& login) {
    try {
      mariadb_link(login).query("DO 1");
      return 0u;
    } catch (const sql_error& e) {
      return e.code;
    }
  };
  EXPECT_EQ(code_of({.port = server.port(), .user = "root"}), 1045u);
  sql_login login = server.login();
  EXPECT_EQ(code_of(login), 0u);
  login.password = "wrong";
  EXPECT_EQ(code_of(login), 1045u);
  EXPECT_EQ(server.link().error_of("CREATE DATABASE other"), 1044u);
  EXPECT_EQ(code_of({.socket = server.socket_path(),
                     .user = mariadb_server::user,
                     .password = mariadb_server::password,
                     .database = mariadb_server::database}),
            0u);
}

TEST_F(mysql_testkit, further_lines_of_the_configuration_are_in_force) {
  mariadb_server server({.config = {"wait_timeout=7", "max_connections=11"}});
  EXPECT_EQ(server.link().query("SELECT @@wait_timeout").number(), 7);
  EXPECT_EQ(server.variable("max_connections"), "11");
  EXPECT_THROW(mariadb_server({.config = {"no_such_setting=1"}}), std::runtime_error);
}

TEST_F(mysql_testkit, a_stopped_server_is_silent_until_it_continues) {
  mariadb_server server;
  mariadb_link link = server.link();
  server.stop();
  link.send("SELECT 7");
  server.go_on();
  EXPECT_EQ(link.receive().number(), 7);
}

TEST_F(mysql_testkit, the_server_ends_with_its_object) {
  pid_t pid = 0;
  {
    const mariadb_server server;
    pid = server.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(mysql_testkit, results_have_rows_nulls_counts_and_ids) {
  mariadb_server server;
  mariadb_link link = server.link();
  link.query("CREATE TABLE c (id INT AUTO_INCREMENT PRIMARY KEY, v TEXT)");
  EXPECT_EQ(link.query("INSERT INTO c (v) VALUES ('a')").insert_id, 1u);
  EXPECT_EQ(link.query("INSERT INTO c (v) VALUES (NULL)").affected, 1u);
  const sql_result all = link.query("SELECT v, id FROM c ORDER BY id");
  ASSERT_EQ(all.rows.size(), 2u);
  EXPECT_EQ(all.of("id"), "1");
  EXPECT_EQ(all.rows[0][0], "a");
  EXPECT_EQ(all.rows[1][0], std::nullopt);
  EXPECT_EQ(link.error_of("INSERT INTO c VALUES (1, 'b')"), 1062u);
}

TEST_F(mysql_testkit, waits_for_a_row_and_for_a_named_lock_are_noticed) {
  mariadb_server server;
  mariadb_link holder = server.link(), waiter = server.link();
  create_table(holder);
  holder.query("BEGIN");
  holder.query("UPDATE t SET v='two' WHERE id=1");
  waiter.send("UPDATE t SET v='three' WHERE id=1");
  server.wait_until_row_wait(waiter.id());
  holder.query("COMMIT");
  EXPECT_EQ(waiter.receive().affected, 1u);
  holder.query("DO GET_LOCK('x', 0)");
  waiter.send("SELECT GET_LOCK('x', 60)");
  server.wait_until_named_wait(waiter.id());
  server.kill_connection(holder.id());
  EXPECT_EQ(waiter.receive().text(), "1");
  EXPECT_EQ(holder.error_of("DO 1"), 2013u);
}

TEST_F(mysql_testkit, a_tls_server_shows_its_certificate) {
  mariadb_server server({.tls = "server"});
  EXPECT_EQ(server.variable("have_ssl"), "YES");
  const scratch_folder folder;
  const auto show = [&](const std::string& ca) {
    return run_program({{"mariadb", "--no-defaults", "--protocol=tcp", "--host=127.0.0.1",
                         "--port=" + std::to_string(server.port()), "--user=holdfast",
                         "--password=secret", "--ssl-verify-server-cert",
                         "--ssl-ca=" + server.tls_files().certificate(ca), "--execute=DO 1"},
                        {},
                        folder.file("out")});
  };
  EXPECT_EQ(show("ca"), 0) << folder.read("out");
  EXPECT_NE(show("other-ca"), 0);
}

TEST_F(mysql_testkit, a_replica_follows_its_primary_and_is_promoted) {
  mariadb_server primary({.server_id = 1, .replication = true});
  mariadb_server replica({.server_id = 2, .replication = true});
  replica.replicate(primary);
  mariadb_link link = primary.link();
  create_table(link);
  replica.catch_up_with(primary);
  EXPECT_EQ(replica.query("SELECT v FROM t WHERE id=1").text(), "one");
  mariadb_link at_replica = replica.link();
  EXPECT_EQ(at_replica.error_of("UPDATE t SET v='x' WHERE id=1"), 1290u);
  primary.kill_hard();
  replica.promote();
  EXPECT_EQ(at_replica.error_of("UPDATE t SET v='x' WHERE id=1"), 0u);
  EXPECT_EQ(replica.variable("read_only"), "0");
}

}  // namespace
}  // namespace holdfast::testkit
