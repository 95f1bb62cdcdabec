// Opening a session: rights, TLS, and what is no ZooKeeper.
#include <sys/socket.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <thread>

#include "fixture.hpp"
#include "testkit/servers/port.hpp"
#include "testkit/servers/redis_server.hpp"

namespace holdfast::zookeeper_test {
namespace {

class zookeeper_opening : public on_zookeeper {};

// A server that has just started is slow to greet its first client over TLS.
const std::string for_first_tls = "op-timeout=60s&connect-timeout=60s";

TEST_F(zookeeper_opening, as_a_user_gives_its_rights_on_each_connection) {
  const zookeeper_server server;
  tcp_proxy proxy(server.port());
  const std::string port = std::to_string(proxy.port());
  session_client me("zookeeper://me:secret@127.0.0.1:" + port), other(server.url());
  me.open();
  other.open();
  ASSERT_EQ(me.create("/mine", node_kind::persistent, acl_of::creator).code, error::ok);
  EXPECT_EQ(other.create("/mine/x").code, error::no_auth);
  EXPECT_EQ(me.create("/mine/x").code, error::ok);
  proxy.reset_all();
  ASSERT_TRUE(eventually([&] { return me.count("again") >= 1; }));
  EXPECT_EQ(me.remove("/mine/x").code, error::ok);
  EXPECT_TRUE(me.close());
}

TEST_F(zookeeper_opening, over_tls_verifies_the_server) {
  const zookeeper_server server({.tls = "server"});
  const std::string port = std::to_string(server.port());
  const auto trusting = [&](const std::string& ca) {
    return '?' + for_first_tls + "&tls-ca=" + server.tls_files().certificate(ca);
  };
  session_client c(server.url() + trusting("ca") + "&attach=leader");
  c.open();
  EXPECT_EQ(c.create("/a").code, error::ok);
  EXPECT_TRUE(eventually([&] { return c.mode() == zookeeper::server_mode::standalone; }));
  EXPECT_TRUE(c.close());
  EXPECT_EQ(failure_to_open(server.url() + trusting("other-ca")).code, errc::refused);
  EXPECT_EQ(failure_to_open("zookeepers://localhost:" + port + trusting("ca")).text, "");
  const auto plain = failure_to_open(at_port(server.port(), "?op-timeout=5s"));
  EXPECT_EQ(plain.code, errc::unavailable);
  EXPECT_NE(plain.text.find("zookeepers:"), std::string::npos) << plain.text;
}

TEST_F(zookeeper_opening, over_tls_shows_a_certificate_of_its_own) {
  const zookeeper_server server({.tls = "server", .tls_clients = true});
  const auto& files = server.tls_files();
  const std::string trusting = server.url() + "?tls-ca=" + files.certificate("ca");
  EXPECT_EQ(failure_to_open(trusting + '&' + for_first_tls + "&tls-cert=" +
                            files.certificate("client") + "&tls-key=" + files.key("client"))
                .text,
            "");
  EXPECT_TRUE(bool(failure_to_open(trusting + "&op-timeout=2s").code));
}

// The server takes any digest, and only what a node's ACL allows depends on it.
TEST_F(zookeeper_opening, with_another_password_has_no_rights) {
  const zookeeper_server server;
  const std::string at = "@127.0.0.1:" + std::to_string(server.port());
  session_client me("zookeeper://me:secret" + at), other("zookeeper://me:wrong" + at);
  me.open();
  other.open();
  ASSERT_EQ(me.create("/mine", node_kind::persistent, acl_of::creator).code, error::ok);
  EXPECT_EQ(other.create("/mine/x").code, error::no_auth);
  EXPECT_TRUE(me.close());
  EXPECT_TRUE(other.close());
}

TEST_F(zookeeper_opening, needs_the_node_of_the_chroot) {
  const zookeeper_server server;
  const auto why = failure_to_open(server.url() + "/missing/one");
  EXPECT_EQ(why.code, errc::refused);
  EXPECT_NE(why.text.find("create /missing, create /missing/one"), std::string::npos) << why.text;
  EXPECT_TRUE(eventually([&] {
    return server.ask("dump").find("Session Sets (0)/(0)") != std::string::npos;
  })) << "the session that was of no use: "
      << server.ask("dump");
  session_client c(server.url());
  c.open();
  ASSERT_EQ(c.create("/missing").code, error::ok);
  EXPECT_EQ(failure_to_open(server.url() + "/missing/one").code, errc::refused);
  ASSERT_EQ(c.create("/missing/one").code, error::ok);
  EXPECT_EQ(failure_to_open(server.url() + "/missing/one").text, "");
  EXPECT_TRUE(c.close());
}

TEST_F(zookeeper_opening, leaves_no_session_behind_when_the_last_client_ends) {
  const zookeeper_server server({.config = {"maxSessionTimeout=3600000"}});
  {
    const client one = client::open(server.url() + "?session-timeout=1h");
    one.mutex("a").acquire().release();
    EXPECT_EQ(server.sessions(), "1");
  }
  EXPECT_TRUE(eventually([&] { return server.sessions() == "0"; })) << server.ask("dump");
}

TEST_F(zookeeper_opening, looks_for_the_chroot_again_after_a_cut) {
  const zookeeper_server server;
  tcp_proxy proxy(server.port());
  for (std::uint64_t byte = 40; byte < 140; byte += 10)  // a ConnectResponse has 41
    for (const direction d : {direction::to_server, direction::to_client}) {
      proxy.cut_after(d, byte);
      EXPECT_EQ(failure_to_open(at_port(proxy.port(), "/missing")).code, errc::refused) << byte;
    }
}

TEST_F(zookeeper_opening, fails_where_the_server_does_not_speak_tls) {
  const zookeeper_server server;
  const testkit::scratch_folder folder;
  const testkit::certificates files(folder);
  const auto why = failure_to_open("zookeepers://127.0.0.1:" + std::to_string(server.port()) +
                                   "?op-timeout=1s&tls-ca=" + files.certificate("ca"));
  EXPECT_TRUE(why.code == errc::unavailable || why.code == errc::refused) << why.text;
  EXPECT_NE(why.text.find("TLS"), std::string::npos) << why.text;
}

// Both read lines and await the end of one; so does a silent port. The bound is the op-timeout.
TEST_F(zookeeper_opening, fails_where_redis_answers_or_nobody) {
  if (!testkit::redis_server::installed()) GTEST_SKIP() << testkit::redis_server::not_installed;
  const testkit::redis_server redis;
  const int silent = testkit::listen_on(0);
  for (const int port : {redis.port(), testkit::port_of(silent)})
    for (const char* bounds : {"?op-timeout=300ms", "?op-timeout=1s&connect-timeout=200ms"}) {
      const auto why = failure_to_open(at_port(port, bounds));
      EXPECT_EQ(why.code, errc::unavailable);
      EXPECT_NE(why.text.find("is not a ZooKeeper server"), std::string::npos) << why.text;
    }
  ::close(silent);
}

TEST(zookeeper_opening_fails, at_once_where_nothing_listens) {
  const auto began = base::system_environment().now();
  const auto why = failure_to_open(at_port(testkit::free_port(), "?op-timeout=60s"));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_NE(why.text.find("127.0.0.1"), std::string::npos) << why.text;
  EXPECT_LT(base::system_environment().now() - began, 20s);
}

// Where most servers are down, the one that is up and has no quorum tells more.
TEST(zookeeper_opening_fails, by_the_words_of_a_server_that_was_reached) {
  const int silent = testkit::listen_on(0);
  const auto why = failure_to_open(
      at_port(testkit::port_of(silent), ",127.0.0.1:" + std::to_string(testkit::free_port()) +
                                            "?op-timeout=1200ms&connect-timeout=500ms"));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_NE(why.text.find("has no quorum"), std::string::npos) << why.text;
  ::close(silent);
}

TEST(zookeeper_opening_fails, where_something_else_answers) {
  const int listener = testkit::listen_on(0);
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends) {
      const int client = ::accept(listener, nullptr, nullptr);
      if (client < 0) {
        std::this_thread::sleep_for(1ms);
        continue;
      }
      const char answer[] = "-ERR unknown command\r\n";
      (void)!::write(client, answer, sizeof answer - 1);
      ::shutdown(client, SHUT_WR);
      char rest[256];
      while (::read(client, rest, sizeof rest) > 0) {}
      ::close(client);
    }
  });
  const auto why = failure_to_open(at_port(testkit::port_of(listener), "?op-timeout=500ms"));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_NE(why.text.find("not a ZooKeeper server"), std::string::npos) << why.text;
  ends = true;
  other.join();
  ::close(listener);
}

}  // namespace
}  // namespace holdfast::zookeeper_test
