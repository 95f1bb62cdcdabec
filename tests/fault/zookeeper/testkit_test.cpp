// The server that the other tests here run against.
#include <gtest/gtest.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <cstdint>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "testkit/servers/port.hpp"
#include "testkit/servers/zookeeper_link.hpp"
#include "testkit/servers/zookeeper_server.hpp"
#include "tests/fault/file/fixture.hpp"

namespace holdfast::zookeeper_test {
namespace {

using testkit::zookeeper_server;

bool serves(const zookeeper_server& s) {
  return s.ask("srvr").find("Mode: standalone") != std::string::npos;
}

TEST(zookeeper_testkit, a_server_comes_up_alone_and_again_after_it_was_killed) {
  if (!zookeeper_server::installed()) GTEST_SKIP() << zookeeper_server::not_installed;
  zookeeper_server server;
  EXPECT_TRUE(serves(server)) << server.log();
  server.kill_hard();
  EXPECT_EQ(server.ask("srvr"), "");
  server.start();
  EXPECT_TRUE(serves(server)) << server.log();
}

TEST(zookeeper_testkit, a_node_below_which_no_node_may_be_created_is_no_lock) {
  if (!zookeeper_server::installed()) GTEST_SKIP() << zookeeper_server::not_installed;
  constexpr std::int32_t all_rights = 31, create = 4;
  const zookeeper_server server;
  testkit::zookeeper_link link(server.port());
  link.create("/a");
  EXPECT_TRUE(link.set_rights("/a", all_rights - create));
  EXPECT_FALSE(link.set_rights("/b", all_rights)) << "there is no such node";
  const client c = client::open(server.url());
  const mutex a = c.mutex("a");
  std::error_code ec;
  EXPECT_FALSE(a.try_acquire({}, ec));
  EXPECT_EQ(ec, errc::refused);
  EXPECT_TRUE(link.set_rights("/a", all_rights));
  EXPECT_TRUE(a.try_acquire({}, ec)) << ec.message();
}

// Another program, or a proxy of the same test, took a server's port before it had started: a proxy
// that had its own target's port connected to itself until no descriptor was left.
TEST(zookeeper_testkit, a_server_s_port_is_none_that_others_are_given) {
  std::set<int> all;
  for (int i = 0; i < 200; ++i) {
    const int port = testkit::free_port(), socket = testkit::listen_on(0);
    EXPECT_LT(port, testkit::port_of(socket));
    all.insert(port);
    ::close(socket);
  }
  EXPECT_EQ(all.size(), 200u);
}

// Of a thousand each, two processes that draw by themselves have some fifty in common.
TEST(zookeeper_testkit, a_port_is_given_to_one_process) {
  constexpr int each = 1000;
  file_test::other_process other([](const file_test::other_process::line& to) {
    std::string all;
    for (int i = 0; i < each; ++i) all += std::to_string(testkit::free_port()) + ' ';
    to.say(all);
    ::pause();
  });
  std::istringstream theirs(other.hear());
  const std::set<int> of_other{std::istream_iterator<int>(theirs), {}};
  EXPECT_EQ(of_other.size(), static_cast<std::size_t>(each));
  for (int i = 0; i < each; ++i) EXPECT_FALSE(of_other.contains(testkit::free_port()));
}

TEST(zookeeper_testkit, a_server_with_tls_comes_up) {
  if (!zookeeper_server::installed()) GTEST_SKIP() << zookeeper_server::not_installed;
  zookeeper_server server({.tls = "server"});
  EXPECT_EQ(server.url().rfind("zookeepers://", 0), 0u);
}

}  // namespace
}  // namespace holdfast::zookeeper_test
