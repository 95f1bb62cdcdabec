// A session at a real server: what it does there, and what becomes of it under faults.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "fixture.hpp"
#include "testkit/asleep.hpp"

namespace holdfast::zookeeper_test {
namespace {

class zookeeper_session : public on_zookeeper {};

constexpr const char* quick = "?session-timeout=1s&op-timeout=20s";
// Of a session that must outlive whatever a busy machine does.
const zookeeper_options for_long_sessions{.config = {"maxSessionTimeout=10000"}};

TEST_F(zookeeper_session, reads_and_writes_nodes) {
  const zookeeper_server server;
  session_client c(server.url());
  c.open();
  EXPECT_NE(c.id(), 0);
  const answer made = c.create("/a");
  ASSERT_EQ(made.code, error::ok);
  const auto node = zookeeper::read_created(made.bytes());
  ASSERT_TRUE(node);
  EXPECT_EQ(node->path, "/a");
  EXPECT_EQ(node->stat.czxid, made.zxid) << "a write's zxid is that of the node it made";
  EXPECT_EQ(c.create("/a").code, error::node_exists);
  EXPECT_EQ(c.create("/x/y").code, error::no_node);
  EXPECT_EQ(c.create("/c", node_kind::container).code, error::ok);
  const answer own = c.create("/c/n-", node_kind::ephemeral_sequential);
  ASSERT_EQ(own.code, error::ok);
  EXPECT_EQ(zookeeper::read_created(own.bytes())->path, "/c/n-0000000000");
  EXPECT_EQ(zookeeper::read_created(own.bytes())->stat.ephemeral_owner, c.id());

  std::string body;
  zookeeper::append_watched_path(body, "/c", false);
  const answer list = c.call(opcode::get_children2, body);
  const auto children = zookeeper::read_children(list.bytes());
  ASSERT_TRUE(children);
  EXPECT_EQ(children->names, (std::vector<std::string_view>{"n-0000000000"}));
  EXPECT_EQ(children->stat.children, 1);

  body.clear();
  zookeeper::append_set_data(body, "/a", "other", 7);
  EXPECT_EQ(c.call(opcode::set_data, body).code, error::bad_version);
  body.clear();
  zookeeper::append_set_data(body, "/a", "other", 0);
  EXPECT_EQ(c.call(opcode::set_data, body).code, error::ok);
  body.clear();
  zookeeper::append_watched_path(body, "/a", false);
  const answer read = c.call(opcode::get_data, body);
  const auto data = zookeeper::read_data(read.bytes());
  ASSERT_TRUE(data);
  EXPECT_EQ(data->data, "other");
  EXPECT_EQ(data->stat.version, 1);
  body.clear();
  zookeeper::append_path(body, "/a");
  EXPECT_EQ(c.call(opcode::sync, body).code, error::ok);
  EXPECT_EQ(c.exists("/none").code, error::no_node);
  EXPECT_EQ(c.remove("/a").code, error::ok);
  EXPECT_EQ(c.remove("/a").code, error::no_node);
  EXPECT_TRUE(c.close());
}

TEST_F(zookeeper_session, executes_a_multi_whole_or_not_at_all) {
  const zookeeper_server server;
  session_client c(server.url());
  c.open();
  std::string body;
  zookeeper::multi_writer(body)
      .create("/a", "1", node_kind::persistent, acl_of::anyone)
      .create("/c", "", node_kind::container, acl_of::anyone)
      .set_data("/a", "2", 0)
      .check("/a", 1)
      .end();
  const answer done = c.call(opcode::multi, body);
  auto result = zookeeper::read_multi(done.bytes());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->code, error::ok);
  EXPECT_EQ(result->created, (std::vector<std::string_view>{"/a", "/c"}));
  body.clear();
  zookeeper::multi_writer(body).remove("/a", -1).check("/none", 0).remove("/c", -1).end();
  const answer failed = c.call(opcode::multi, body);
  EXPECT_EQ(failed.code, error::ok) << "the header does not tell";
  result = zookeeper::read_multi(failed.bytes());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->code, error::no_node);
  EXPECT_EQ(result->failed_at, 1u);
  EXPECT_EQ(c.exists("/a").code, error::ok);
  // A multi of nothing is a transaction of its own: what a renewal needs.
  body.clear();
  zookeeper::multi_writer(body).end();
  const auto first = c.call(opcode::multi, body).zxid;
  EXPECT_EQ(c.call(opcode::multi, body).zxid, first + 1);
  EXPECT_TRUE(c.close());
}

TEST_F(zookeeper_session, that_is_closed_leaves_nothing) {
  const zookeeper_server server;
  session_client c(server.url()), other(server.url());
  c.open();
  other.open();
  ASSERT_EQ(c.create("/own", node_kind::ephemeral).code, error::ok);
  ASSERT_EQ(other.exists("/own", true).code, error::ok);
  EXPECT_TRUE(c.close());
  EXPECT_TRUE(eventually([&] { return other.count("2 /own") == 1; }));
  EXPECT_EQ(other.exists("/own").code, error::no_node);
  EXPECT_TRUE(c.call(opcode::sync, "").was_cut);
  EXPECT_TRUE(other.close());
  EXPECT_TRUE(eventually([&] {
    return server.ask("dump").find("Sessions with Ephemerals (0)") != std::string::npos;
  })) << server.ask("dump");
}

TEST_F(zookeeper_session, lives_on_over_cuts_with_its_nodes_and_watches) {
  const zookeeper_server server(for_long_sessions);
  tcp_proxy proxy(server.port());
  session_client c(at_port(proxy.port(), "?session-timeout=10s")), other(server.url());
  c.open();
  other.open();
  const auto id = c.id();
  ASSERT_EQ(c.create("/own", node_kind::ephemeral).code, error::ok);
  ASSERT_EQ(other.create("/watched").code, error::ok);
  ASSERT_EQ(c.exists("/watched", true).code, error::ok);
  for (int i = 1; i <= 5; ++i) {
    proxy.reset_all();
    ASSERT_TRUE(eventually([&] { return c.count("again") >= i; }));
  }
  EXPECT_EQ(c.id(), id);
  EXPECT_TRUE(eventually([&] { return c.exists("/own").code == error::ok; }));
  EXPECT_EQ(other.remove("/watched").code, error::ok);
  EXPECT_TRUE(eventually([&] { return c.count("2 /watched") == 1; }));
  EXPECT_EQ(c.count("lost"), 0);
  EXPECT_TRUE(c.close());
}

// Removed and made again while nobody was connected: the event is one of data.
TEST_F(zookeeper_session, learns_of_a_node_that_was_made_again_as_of_another) {
  const zookeeper_server server(for_long_sessions);
  tcp_proxy proxy(server.port());
  session_client c(at_port(proxy.port(), "?session-timeout=10s")), other(server.url());
  c.open();
  other.open();
  ASSERT_EQ(other.create("/watched").code, error::ok);
  ASSERT_EQ(c.exists("/watched", true).code, error::ok);
  proxy.refuse(true);
  proxy.reset_all();
  EXPECT_EQ(other.remove("/watched").code, error::ok);
  EXPECT_EQ(other.create("/watched").code, error::ok);
  proxy.refuse(false);
  EXPECT_TRUE(eventually([&] { return c.count("3 /watched") == 1; }));
  EXPECT_EQ(c.count("2 /watched"), 0);
  EXPECT_EQ(c.count("lost"), 0);
  EXPECT_TRUE(c.close());
}

// At each byte of the exchanges with which a session is made, attached again and written over.
TEST_F(zookeeper_session, stands_a_cut_at_every_byte) {
  const zookeeper_server server(for_long_sessions);
  tcp_proxy proxy(server.port());
  session_client c(at_port(proxy.port(), "?session-timeout=10s"));
  c.open();
  const auto id = c.id();
  for (const direction d : {direction::to_server, direction::to_client})
    for (std::uint64_t byte = 0; byte < 90; byte += 3) {
      const int before = c.count("again");
      proxy.cut_after(d, byte);
      proxy.reset_all();
      ASSERT_TRUE(eventually([&] { return c.count("again") > before; })) << byte;
      ASSERT_TRUE(eventually([&] { return c.exists("/").code == error::ok; })) << byte;
    }
  EXPECT_EQ(c.id(), id);
  EXPECT_TRUE(c.close());
}

// Rule A: renewed by new connections. Rule B: by writes over one.
TEST_F(zookeeper_session, is_kept_alive_by_either_rule) {
  const zookeeper_server server(for_long_sessions);
  session_client any(server.url() + "?session-timeout=10s");
  session_client leader(server.url() + "?session-timeout=10s&attach=leader");
  any.open();
  leader.open();
  const auto a = any.id(), b = leader.id();
  EXPECT_TRUE(eventually([&] { return leader.mode() == zookeeper::server_mode::standalone; }));
  const auto made = leader.deadline();
  EXPECT_TRUE(eventually([&] { return any.count("again") >= 4; }));
  EXPECT_TRUE(eventually([&] { return leader.deadline() > made + 3s; }));
  EXPECT_GT(any.deadline(), made + 2s);
  EXPECT_EQ(any.id(), a);
  EXPECT_EQ(leader.id(), b);
  EXPECT_LT(leader.count("again"), 4) << "it needs no new connection";
  EXPECT_TRUE(any.close());
  EXPECT_TRUE(leader.close());
}

// The one who held it knows before the server ends the session.
TEST_F(zookeeper_session, that_is_out_of_reach_lapses_before_its_nodes_go) {
  const zookeeper_server server;
  tcp_proxy proxy(server.port());
  session_client c(at_port(proxy.port(), quick)), other(server.url());
  c.open();
  other.open();
  for (int round = 0; round < 5; ++round) {
    const auto id = eventual_owner_of_own(c, other);
    const int gone = other.count("2 /own"), lost = c.count("lost");
    proxy.set_both({.hold = true});
    ASSERT_TRUE(eventually([&] { return other.count("2 /own") > gone; }));
    EXPECT_GE(base::system_environment().now(), c.deadline_of(id));
    EXPECT_TRUE(eventually([&] { return c.count("lost") > lost; }));
    EXPECT_GE(c.count("doubtful"), 1);
    proxy.set_both({});
    proxy.reset_all();
  }
  EXPECT_TRUE(eventually_creates(c, "/a")) << "a new session";
  EXPECT_TRUE(c.close());
}

// The thread that drives the loop is stopped by a handler of the program. The next connections
// belong to a loop with a thread of its own.
TEST_F(zookeeper_session, is_renewed_while_the_thread_that_drives_it_is_stopped) {
  static std::atomic<bool> goes_on;
  static std::atomic<int> stopped;
  goes_on = false;
  stopped = 0;
  const auto wait_here = [](int) {
    ++stopped;
    while (!goes_on) ::usleep(1'000);
  };
  struct sigaction before {
  }, now{};
  now.sa_handler = wait_here;
  ASSERT_EQ(::sigaction(SIGUSR1, &now, &before), 0);
  for (const char* attach : {"any", "leader"}) {
    const zookeeper_server server(for_long_sessions);
    tcp_proxy proxy(server.port());
    session_client c(at_port(proxy.port(), "?session-timeout=10s&attach=" + std::string(attach)));
    session_client other(server.url());
    c.open();
    other.open();
    const auto id = eventual_owner_of_own(c, other);
    proxy.set(direction::to_client, {.hold = true});  // so that the thread drives until it stops
    const auto sent = proxy.counts().to_server;
    stopped = 0;
    goes_on = false;
    std::atomic<pid_t> id_of_caller{0};
    std::thread caller([&] {
      id_of_caller = ::gettid();
      (void)c.exists("/own");
    });
    ASSERT_TRUE(eventually([&] { return proxy.counts().to_server > sent; }));
    // Stopped before it waits, it would keep a mutex of the loop that others need.
    ASSERT_TRUE(eventually([&] { return testkit::falls_asleep(::getpid(), id_of_caller, 25ms); }));
    ::pthread_kill(caller.native_handle(), SIGUSR1);
    ASSERT_TRUE(eventually([&] { return stopped == 1; }));
    proxy.set_both({});
    const auto begun = base::system_environment().now();
    EXPECT_TRUE(eventually([&] { return c.deadline() > begun + 15s || c.count("lost") > 0; }));
    EXPECT_EQ(c.count("lost"), 0) << attach;
    EXPECT_EQ(c.id(), id) << attach;
    goes_on = true;
    caller.join();
    EXPECT_EQ(c.exists("/own").code, error::ok);
    EXPECT_TRUE(c.close());
  }
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(zookeeper_session, outlives_a_restart_of_the_server) {
  zookeeper_server server;
  session_client c(server.url() + "?session-timeout=4s");
  c.open();
  ASSERT_EQ(c.create("/kept").code, error::ok);
  server.kill_hard();
  EXPECT_TRUE(eventually([&] { return c.count("doubtful") >= 1; }));
  server.start();
  EXPECT_TRUE(eventually([&] { return c.exists("/kept").code == error::ok; }));
  EXPECT_TRUE(c.close());
}

TEST_F(zookeeper_session, is_left_alone_by_a_child_of_fork) {
  const zookeeper_server server;
  session_client c(server.url());
  c.open();
  ASSERT_EQ(c.create("/own", node_kind::ephemeral).code, error::ok);
  const pid_t child = ::fork();
  if (child == 0) {
    c.over().forked();
    ::_exit(c.close() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(c.exists("/own").code, error::ok);
  EXPECT_TRUE(c.close());
}

}  // namespace
}  // namespace holdfast::zookeeper_test
