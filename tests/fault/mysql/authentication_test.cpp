// How a client proves its user to a real MariaDB, and what it refuses to send.
#include <openssl/err.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <thread>

#include "testkit/eventually.hpp"
#include "testkit/servers/scratch_folder.hpp"
#include "testkit/servers/tcp_proxy.hpp"
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;
using testkit::direction;
using testkit::tcp_proxy;

class mysql_authentication : public on_mariadb {
 protected:
  static std::string url_of(const std::string& user_info, const std::string& options = {}) {
    return "mysql://" + user_info + "@127.0.0.1:" + std::to_string(server().port()) + "/test" +
           (options.empty() ? "" : "?" + options);
  }
  // A lock is acquired, and the program's own rows can be used as well.
  static void expect_works(const std::string& url) {
    EXPECT_TRUE(client::open(url).mutex("job").try_acquire()) << url;
    EXPECT_NO_THROW((void)mysql_connection::open(url));
  }
  // Why neither works.
  static std::string refusal(const std::string& url, errc expected = errc::refused) {
    EXPECT_EQ(code_of([&] { (void)mysql_connection::open(url); }), expected) << url;
    try {
      (void)client::open(url);
      ADD_FAILURE() << "opened: " << url;
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), expected) << e.what();
      EXPECT_EQ(std::string(e.what()).find("secret"), std::string::npos) << e.what();
      return e.what();
    }
    return {};
  }
  static void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), text.npos) << text;
  }
};

TEST_F(mysql_authentication, a_password_comes_from_the_url_a_file_or_the_environment) {
  expect_works(url_of("holdfast:secret"));
  const testkit::scratch_folder folder;
  folder.write("password", "secret\n");
  std::filesystem::permissions(folder.file("password"), std::filesystem::perms::owner_read);
  expect_works(url_of("holdfast", "password-file=" + folder.file("password")));
  ::setenv("HOLDFAST_TEST_PASSWORD", "secret", 1);
  expect_works(url_of("holdfast", "password-env=HOLDFAST_TEST_PASSWORD"));
  ::setenv("HOLDFAST_TEST_PASSWORD", "other", 1);
  expect_part(refusal(url_of("holdfast", "password-env=HOLDFAST_TEST_PASSWORD")),
              "check the user and the password");
  ::unsetenv("HOLDFAST_TEST_PASSWORD");
}

// The server compares the user with that of the process at the other end of the socket.
TEST_F(mysql_authentication, a_unix_socket_proves_the_user_of_this_process) {
  mariadb_server own;
  const passwd* const me = ::getpwuid(::geteuid());
  ASSERT_TRUE(me);
  const std::string user = me->pw_name;
  own.query("CREATE OR REPLACE USER '" + user + "'@localhost IDENTIFIED VIA unix_socket");
  own.query("GRANT ALL ON *.* TO '" + user + "'@localhost WITH GRANT OPTION");
  own.query("CREATE USER somebody@localhost IDENTIFIED VIA unix_socket");
  const std::string place = "@localhost/test?socket=" + own.socket_path();
  expect_works("mysql://" + user + place);
  expect_part(refusal("mysql://somebody" + place), "check the user");
}

// Over TCP the server could request the password by it. The server of a Unix socket is on this
// machine.
TEST_F(mysql_authentication, an_old_plugin_is_allowed_over_a_unix_socket) {
  query("SET GLOBAL secure_auth=0");
  const std::string hash = query("SELECT OLD_PASSWORD('secret')").text();
  query("CREATE USER old@localhost IDENTIFIED VIA mysql_old_password USING '" + hash + "'");
  query("GRANT ALL ON test.* TO old@localhost");
  expect_works("mysql://old:secret@localhost/test?socket=" + server().socket_path());
  query("DROP USER old@localhost");
  query("SET GLOBAL secure_auth=1");
}

// The server is verified, and the password is encrypted on its way.
TEST_F(mysql_authentication, an_old_plugin_is_allowed_over_tls) {
  mariadb_server secure({.tls = "server"});
  secure.query("SET GLOBAL secure_auth=0");
  const std::string hash = secure.query("SELECT OLD_PASSWORD('secret')").text();
  secure.query("CREATE USER old@'127.0.0.1' IDENTIFIED VIA mysql_old_password USING '" + hash +
               "'");
  secure.query("GRANT ALL ON test.* TO old@'127.0.0.1'");
  expect_works("mysql://old:secret@127.0.0.1:" + std::to_string(secure.port()) +
               "/test?tls-ca=" + secure.tls_files().certificate("ca"));
}

TEST_F(mysql_authentication, ed25519_is_supported) {
  query("INSTALL SONAME 'auth_ed25519'");
  query("CREATE USER ed@'127.0.0.1' IDENTIFIED VIA ed25519 USING PASSWORD('secret')");
  query("GRANT ALL ON test.* TO ed@'127.0.0.1'");
  expect_works(url_of("ed:secret"));
  expect_part(refusal(url_of("ed:other")), "check the user and the password");
  query("DROP USER ed@'127.0.0.1'");
  query("UNINSTALL SONAME 'auth_ed25519'");
}

// A network to a server whose greeting names another plug-in than it does.
class greeting_with {
 public:
  greeting_with(int port, const std::string& plugin) : network_(port) {
    network_.set(direction::to_client, {.mutate = [plugin](std::string& bytes) {
                   constexpr char protocol_version = 10;
                   const std::string own = "mysql_native_password";
                   const auto at = bytes.find(own);
                   if (bytes.size() < 5 || bytes[4] != protocol_version || at == bytes.npos) return;
                   bytes.replace(at, own.size(), plugin);
                   bytes[0] = static_cast<char>(bytes.size() - 4);  // the length of the packet
                 }});
    network_.set(direction::to_server,
                 {.admits = [this](std::string_view bytes, const testkit::proxied_connection&) {
                   const std::lock_guard guard(mutex_);
                   return sent_ += bytes, true;
                 }});
  }
  std::string url() const {
    return "mysql://holdfast:secret@127.0.0.1:" + std::to_string(network_.port()) + "/test";
  }
  std::string sent() const {
    const std::lock_guard guard(mutex_);
    return sent_;
  }

 private:
  mutable std::mutex mutex_;
  std::string sent_;
  tcp_proxy network_;
};

// MariaDB 10.11 has no accounts of this kind. The client understands the greeting of a MySQL
// server, and the server then has it switch to the plug-in of the account.
TEST_F(mysql_authentication, caching_sha2_password_is_understood) {
  const greeting_with network(server().port(), "caching_sha2_password");
  expect_works(network.url());
  EXPECT_NE(network.sent().find("caching_sha2_password"), std::string::npos);
}

TEST_F(mysql_authentication, a_plugin_that_libmariadb_does_not_have_is_named) {
  const greeting_with network(server().port(), "hunting_sha2_password");
  const std::string why = refusal(network.url());
  expect_part(why, "hunting_sha2_password");
  expect_part(why, "plugin");
}

// The server sends this error in place of its greeting.
TEST_F(mysql_authentication, an_error_in_place_of_the_greeting_is_a_refusal_unless_it_may_pass) {
  constexpr unsigned host_not_privileged = 1130, unknown_database = 1049, too_many = 1040;
  const std::pair<unsigned, errc> sent[] = {{host_not_privileged, errc::refused},
                                            {unknown_database, errc::refused},
                                            {too_many, errc::unavailable}};
  for (const auto& [error, code] : sent) {
    tcp_proxy network(server().port());
    network.set(direction::to_client, {.mutate = [error = error](std::string& bytes) {
                  std::string packet = "\xff";
                  packet += static_cast<char>(error & 255u);
                  packet += static_cast<char>(error >> 8);
                  packet += "#HY000no";
                  bytes = std::string{static_cast<char>(packet.size()), 0, 0, 0} + packet;
                }});
    const std::string url = "mysql://holdfast:secret@127.0.0.1:" + std::to_string(network.port());
    EXPECT_EQ(code_of([&] { (void)mysql_connection::open(url + "/test"); }), code) << error;
  }
}

// In plain text no plug-in is admitted that would send the password itself.
TEST_F(mysql_authentication, a_server_that_requests_the_password_itself_does_not_get_it) {
  for (const char* plugin : {"mysql_clear_password", "dialog"}) {
    const greeting_with network(server().port(), plugin);
    expect_part(refusal(network.url()), plugin);
    EXPECT_EQ(network.sent().find("secret"), std::string::npos) << plugin;
  }
}

TEST_F(mysql_authentication, an_account_that_requires_tls_is_served_over_tls_alone) {
  mariadb_server secure({.tls = "server"});
  secure.query("CREATE USER careful@'127.0.0.1' IDENTIFIED BY 'secret' REQUIRE SSL");
  secure.query("GRANT ALL ON test.* TO careful@'127.0.0.1'");
  const std::string place = "mysql://careful:secret@127.0.0.1:" + std::to_string(secure.port()) +
                            "/test?tls-ca=" + secure.tls_files().certificate("ca");
  for (const char* strategy : {"row", "insert", "for-update", "named"})
    EXPECT_TRUE(client::open(place + "&strategy=" + strategy).mutex("job").try_acquire());
  expect_part(refusal("mysql://careful:secret@127.0.0.1:" + std::to_string(secure.port()) +
                      "/test"),
              "check the user and the password");
}

TEST_F(mysql_authentication, an_account_that_requires_a_certificate_is_served_with_it) {
  mariadb_server secure({.tls = "server"});
  secure.query("CREATE USER certified@'127.0.0.1' IDENTIFIED BY 'secret' REQUIRE X509");
  secure.query("GRANT ALL ON test.* TO certified@'127.0.0.1'");
  const auto& files = secure.tls_files();
  const std::string place = "mysql://certified:secret@127.0.0.1:" + std::to_string(secure.port()) +
                            "/test?tls-ca=" + files.certificate("ca");
  expect_works(place + "&tls-cert=" + files.certificate("client") +
               "&tls-key=" + files.key("client"));
  (void)refusal(place);
}

// libmariadb itself would take the Unix socket of the machine's own server.
TEST_F(mysql_authentication, localhost_with_a_port_is_reached_by_tcp) {
  expect_works("mysql://holdfast:secret@localhost:" + std::to_string(server().port()) + "/test");
}

TEST_F(mysql_authentication, a_client_that_wants_tls_refuses_a_server_without_it) {
  expect_part(refusal(url_of("holdfast:secret", "tls=1")), "the server must have TLS");
}

TEST_F(mysql_authentication, a_client_refuses_the_certificate_of_another_authority) {
  mariadb_server secure({.tls = "server"});
  const std::string place = "mysql://holdfast:secret@127.0.0.1:" + std::to_string(secure.port()) +
                            "/test?tls-ca=" + secure.tls_files().certificate("other-ca");
  expect_part(refusal(place), "?tls-ca= verifies");
}

// OpenSSL keeps errors for each thread, and libmariadb takes any of them for one of its connection.
TEST_F(mysql_authentication, an_openssl_error_of_the_program_ends_no_connection) {
  mariadb_server secure({.tls = "server"});
  const std::string place = secure.url() + "?connect-timeout=30s&op-timeout=30s&tls-ca=" +
                            secure.tls_files().certificate("ca") + "&strategy=";
  for (const std::string strategy : {"row", "named"}) {
    ERR_raise(ERR_LIB_USER, ERR_R_INTERNAL_ERROR);
    const client mine = client::open(place + strategy);
    for (int i = 0; i < 20; ++i) {
      ERR_raise(ERR_LIB_USER, ERR_R_INTERNAL_ERROR);
      EXPECT_NO_THROW(mine.mutex("job").acquire().release()) << strategy;
    }
    EXPECT_EQ(mine.metrics().reconnects, 0u) << strategy;
  }
  ERR_clear_error();
}

// libmariadb leaves the sockets of TLS blocking; then one statement that waits would stop the
// heartbeats of all the locks of its client.
TEST_F(mysql_authentication, over_tls_a_waiter_holds_up_no_heartbeat) {
  mariadb_server secure({.tls = "server"});
  const std::string place = secure.url() +
                            "?idle-timeout=4s&connect-timeout=30s&op-timeout=30s&tls-ca=" +
                            secure.tls_files().certificate("ca") + "&strategy=";
  for (const std::string strategy : {"named", "for-update"}) {
    const client mine = client::open(place + strategy), other = client::open(place + strategy);
    const lease held = mine.mutex("job").acquire();
    lease first = other.mutex("wanted").acquire(), second;
    std::jthread waiter([&] { second = mine.mutex("wanted").acquire(); });
    const auto begun = held.expires();
    EXPECT_TRUE(testkit::eventually([&] { return held.expires() > begun + 4s || !held.held(); }));
    EXPECT_TRUE(held.held()) << strategy;
    first.release();
    waiter.join();
    EXPECT_TRUE(second.held()) << strategy;
  }
}

TEST_F(mysql_authentication, each_missing_right_is_named) {
  (void)client::open(url_of("holdfast:secret", "strategy=for-update"));
  (void)client::open(url_of("holdfast:secret", "strategy=insert")).mutex("x").acquire();
  (void)client::open(url_of("holdfast:secret")).mutex("x").acquire();
  struct {
    const char *strategy, *rights, *missing;
  } const cases[] = {
      {"row", "SELECT", "UPDATE command denied"},
      {"row", "SELECT, UPDATE", "INSERT command denied"},
      {"insert", "SELECT", "INSERT"},
      {"insert", "SELECT, INSERT", "UPDATE"},
      {"for-update", "SELECT", "UPDATE"},
  };
  for (const auto& each : cases) {
    query("CREATE USER poor@'127.0.0.1' IDENTIFIED BY 'x'");
    query(std::string("GRANT ") + each.rights + " ON test.* TO poor@'127.0.0.1'");
    std::string why;
    try {
      const client c = client::open(url_of("poor:x", std::string("strategy=") + each.strategy));
      (void)c.mutex("new").try_acquire();
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), errc::refused) << e.what();
      why = e.what();
    }
    EXPECT_NE(why.find(each.missing), why.npos)
        << each.strategy << ", " << each.rights << ": " << why;
    query("DROP USER poor@'127.0.0.1'");
  }
}

}  // namespace
}  // namespace holdfast::mysql_test
