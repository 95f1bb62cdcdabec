// Connections that were lost, on a real server that starts again or whose clock is set meanwhile.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "testkit/eventually.hpp"
#include "testkit/servers/tcp_proxy.hpp"
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;

class mysql_lost_connections : public on_mariadb {};

int socket_option(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, level, name, &value, &size) == 0 ? value : -1;
}

// The sockets of this process that the kernel probes after that many seconds without a packet.
int probed_after(int seconds) {
  int out = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    if (socket_option(fd, IPPROTO_TCP, TCP_KEEPIDLE) != seconds) continue;
    EXPECT_EQ(socket_option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    ++out;
  }
  return out;
}

// Loopback loses no packets, so only the options of the sockets show that a cut is noticed.
TEST_F(mysql_lost_connections, are_noticed_by_probes_after_a_third_of_the_idle_timeout) {
  const client mine = client::open(server().url() + "?strategy=named&idle-timeout=33s");
  const lease held = mine.mutex("job").acquire();
  EXPECT_GE(probed_after(11), 2) << "one for commands, and that of the lock";
  EXPECT_TRUE(held.held());
}

// The server's uptime follows its clock, and the start that UUID_SHORT() contains does not.
TEST_F(mysql_lost_connections, are_killed_after_a_step_of_the_servers_clock) {
  mariadb_server stepped({.clock_shim = true});
  const client mine = client::open(stepped.url() + "?op-timeout=2s&ttl=5m");
  mine.mutex("job").acquire().release();
  mariadb_link stranger = stepped.link();
  stranger.query("BEGIN");
  stranger.query("SELECT * FROM holdfast_locks WHERE name='job' FOR UPDATE");
  stepped.set_clock(1h);
  std::jthread attempt([&] {
    std::error_code ec;
    EXPECT_FALSE(mine.mutex("job").try_acquire({}, ec));
  });
  const std::string waits =
      "FROM information_schema.PROCESSLIST WHERE USER='holdfast' AND INFO LIKE 'UPDATE%'";
  stepped.wait_until("SELECT COUNT(*) " + waits, "1");
  const std::string lost = stepped.query("SELECT ID " + waits).text();
  EXPECT_NO_THROW(stepped.wait_until_gone(std::stoul(lost))) << "it waits for the row";
  attempt.join();
  stranger.query("COMMIT");
  EXPECT_TRUE(mine.mutex("job").try_acquire_for(60s));
}

// The ids of its connections begin again, and the id of a lost one is another client's by then.
TEST_F(mysql_lost_connections, leave_their_ids_to_other_clients_after_a_restart) {
  server().restart();
  testkit::tcp_proxy network(server().port());
  client mine = client::open("mysql://holdfast:secret@127.0.0.1:" + std::to_string(network.port()) +
                             "/test?strategy=named&outage-timeout=30s&close-timeout=20s");
  const lease held = mine.mutex("job").acquire();
  const std::string last =
      query("SELECT MAX(ID) FROM information_schema.PROCESSLIST WHERE USER='holdfast'").text();
  network.set_both({.hold = true});
  server().restart();
  std::vector<mariadb_link> others;
  while (others.empty() || others.back().id() < std::stoul(last)) others.push_back(link());
  network.set_both({});
  EXPECT_TRUE(testkit::eventually([&] {
    std::error_code ec;
    const lease next = mine.mutex("next").try_acquire({}, ec);
    return next.held();
  }));
  EXPECT_TRUE(mine.close()) << "the lost connection is known to be dead";
  for (mariadb_link& other : others) EXPECT_EQ(other.error_of("DO 0"), 0u) << other.id();
}

}  // namespace
}  // namespace holdfast::mysql_test
