// The connections of a client on a real server: how they end, and what ends them.
#include <mysql.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>

#include "backend/mysql/transport/mariadb_connector.hpp"
#include "testkit/eventually.hpp"
#include "testkit/servers/port.hpp"
#include "testkit/servers/tcp_proxy.hpp"
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;

class mysql_client_connections : public on_mariadb {
 protected:
  static constexpr const char* count =
      "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER='holdfast'";
};

TEST_F(mysql_client_connections, end_with_the_client) {
  server().wait_until(count, "0");
  const std::string aborted = server().status("Aborted_clients");
  for (const std::string strategy : {"row", "insert", "named", "for-update"}) {
    {
      const client mine = client::open(server().url() + "?strategy=" + strategy);
      mine.mutex("job").acquire().release();
    }
    EXPECT_NO_THROW(server().wait_until(count, "0")) << strategy;
    EXPECT_EQ(server().status("Aborted_clients"), aborted) << strategy << ": without a farewell";
  }
}

// The attempt may have been given up just before it succeeds.
TEST_F(mysql_client_connections, that_no_session_awaits_any_more_are_closed) {
  server().wait_until(count, "0");
  auto attempt = std::make_unique<mysql::connecting>();
  attempt->handle = ::mysql_init(nullptr);
  ASSERT_TRUE(::mysql_real_connect(attempt->handle, "127.0.0.1", mariadb_server::user,
                                   mariadb_server::password, mariadb_server::database,
                                   static_cast<unsigned>(server().port()), nullptr, 0));
  EXPECT_EQ(query(count).text(), "1");
  attempt.reset();
  EXPECT_NO_THROW(server().wait_until(count, "0"));
}

// The next heartbeat is due after more than a minute.
TEST_F(mysql_client_connections, that_the_server_ends_while_they_are_idle_end_their_locks_at_once) {
  const client mine = client::open(server().url() + "?strategy=named&idle-timeout=5m");
  const lease held = mine.mutex("job").acquire();
  EXPECT_TRUE(held.held());
  query("KILL USER holdfast");
  EXPECT_TRUE(testkit::eventually([&] { return !held.held(); }));
}

TEST_F(mysql_client_connections, carry_a_statement_that_is_larger_than_the_buffers_of_a_socket) {
  const client mine = client::open(server().url());
  mine.mutex("job").acquire().release();
  constexpr std::size_t megabyte = 1 << 20;
  EXPECT_TRUE(mine.list(std::string(megabyte, 'x')).empty());
  EXPECT_EQ(mine.metrics().reconnects, 0u);
}

TEST_F(mysql_client_connections, that_wait_for_a_greeting_do_not_hold_up_the_end_of_the_client) {
  testkit::tcp_proxy network(server().port());
  network.set(testkit::direction::to_client, {.hold = true});
  const std::string url = "mysql://holdfast:secret@127.0.0.1:" + std::to_string(network.port()) +
                          "/test?connect-timeout=40s&op-timeout=500ms";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of([&] { (void)client::open(url); }), errc::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

// Connections to it are established, and it sends nothing.
class silent_server {
 public:
  silent_server() = default;
  silent_server(const silent_server&) = delete;
  silent_server& operator=(const silent_server&) = delete;
  ~silent_server() { ::close(listener_); }

  int port() const { return testkit::port_of(listener_); }
  // The client closes the first connection.
  bool is_left() const {
    const int first = ::accept(listener_, nullptr, nullptr);
    constexpr int limit_ms = 60'000;
    pollfd end{first, POLLIN, 0};
    char byte = 0;
    bool out = false;
    while (!out && ::poll(&end, 1, limit_ms) == 1) out = ::recv(first, &byte, 1, 0) <= 0;
    ::close(first);
    return out;
  }

 private:
  const int listener_ = testkit::listen_on(0);
};

TEST_F(mysql_client_connections,
       that_wait_for_a_greeting_are_closed_once_another_server_is_chosen) {
  const silent_server silent;
  const client mine =
      client::open("mysql://holdfast:secret@127.0.0.1:" + std::to_string(server().port()) +
                   ",127.0.0.1:" + std::to_string(silent.port()) + "/test?connect-timeout=10m");
  EXPECT_TRUE(silent.is_left());
}

}  // namespace
}  // namespace holdfast::mysql_test
