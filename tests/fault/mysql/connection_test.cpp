// Connections that holdfast opens for the program's own rows.
#include <fcntl.h>
#include <mysql.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testkit/servers/port.hpp"
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

class mysql_connections : public on_mariadb {};

std::error_code opening(const std::string& url) {
  return code_of([&] { (void)mysql_connection::open(url); });
}

int descriptor_of(const mysql_connection& c) {
  return static_cast<int>(::mysql_get_socket(c.handle()));
}

TEST_F(mysql_connections, are_opened_by_a_url_over_tcp_and_over_a_socket) {
  query("CREATE TABLE t (id INT PRIMARY KEY, n INT, version INT NOT NULL)");
  query("INSERT INTO t VALUES (1, 0, 0)");
  const std::string by_socket =
      "mysql://holdfast:secret@localhost/test?socket=" + server().socket_path() + "&op-timeout=60s";
  for (const std::string& url : {server().url(), by_socket}) {
    const mysql_connection connection = mysql_connection::open(url);
    EXPECT_NE(::fcntl(descriptor_of(connection), F_GETFD) & FD_CLOEXEC, 0);
    optimistic_table table(connection, {.table = "t"});
    EXPECT_TRUE(table.update({{"id", 1}}, [](const sql_columns& row) {
      return std::optional(sql_columns{{"n", integer(row, "n") + 1}});
    }));
  }
  EXPECT_EQ(query("SELECT n FROM t").number(), 2);
}

TEST_F(mysql_connections, what_is_wrong_is_named_without_the_password) {
  const std::string port = std::to_string(server().port());
  const std::string nobody = std::to_string(testkit::free_port());
  EXPECT_EQ(opening("mysql://holdfast:wrong@127.0.0.1:" + port + "/test"), errc::refused);
  EXPECT_EQ(opening("mysql://holdfast:secret@127.0.0.1:" + port + "/none"), errc::refused);
  EXPECT_EQ(opening("mysql://holdfast:secret@127.0.0.1:" + nobody + "/test"), errc::unavailable);
  EXPECT_EQ(opening("redis://127.0.0.1:" + port), errc::bad_url);
  EXPECT_EQ(opening("mysql://a@h1,h2/test"), errc::bad_url);
  EXPECT_EQ(opening("mysql:///test"), errc::bad_url);
  EXPECT_EQ(opening(server().url() + "?no-such=1"), errc::bad_option);
  EXPECT_EQ(opening(server().url() + "?op-timeout=often"), errc::bad_option);
  try {
    (void)mysql_connection::open("mysql://holdfast:canary@127.0.0.1:" + port + "/test");
    FAIL();
  } catch (const lock_error& e) {
    EXPECT_EQ(std::string(e.what()).find("canary"), std::string::npos) << e.what();
  }
}

TEST_F(mysql_connections, a_server_without_tls_gets_no_password_when_tls_is_asked_for) {
  EXPECT_EQ(opening(server().url() + "?tls=1"), errc::refused);
}

TEST_F(mysql_connections, a_server_with_tls_is_verified) {
  mariadb_server secure({.tls = "server"}), expired({.tls = "expired"});
  const auto with_ca = [](mariadb_server& at, const std::string& ca) {
    return at.url() + "?tls-ca=" + at.tls_files().certificate(ca);
  };
  const mysql_connection verified = mysql_connection::open(with_ca(secure, "ca"));
  const testkit::sql_result cipher =
      secure.query("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER='holdfast'");
  EXPECT_EQ(cipher.number(), 1);
  EXPECT_NE(::mysql_get_ssl_cipher(verified.handle()), nullptr);
  EXPECT_EQ(opening(with_ca(secure, "other-ca")), errc::refused);
  EXPECT_EQ(opening(with_ca(expired, "ca")), errc::refused);
}

TEST_F(mysql_connections, a_child_of_fork_leaves_the_connection_of_its_parent_alone) {
  query("CREATE TABLE t (id INT PRIMARY KEY, n INT, version INT NOT NULL)");
  auto connection = std::make_optional(mysql_connection::open(server().url()));
  optimistic_table table(*connection, {.table = "t"});
  EXPECT_FALSE(table.read({{"id", 1}}));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_forked = code_of([&] { (void)table.read({{"id", 1}}); }) == errc::forked;
    {
      const optimistic_table gone = std::move(table);
      connection.reset();
    }
    ::_exit(is_forked ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(table.read({{"id", 1}}));
}

TEST_F(mysql_connections, an_empty_connection_and_another_character_set_are_refused) {
  EXPECT_EQ(code_of([] {
              (void)optimistic_table(mysql_connection(), {.table = "t"}).read({{"id", 1}});
            }),
            errc::closed);
  mariadb_link latin = link();
  ASSERT_EQ(::mysql_set_character_set(latin.handle(), "latin1"), 0);
  EXPECT_EQ(code_of([&] { mysql_connection{latin.handle()}; }), errc::bad_option);
}

}  // namespace
}  // namespace holdfast::mysql_test
