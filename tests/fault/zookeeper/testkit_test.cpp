// The server that the other tests here run against.
#include <gtest/gtest.h>

#include "testkit/servers/zookeeper_server.hpp"

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

TEST(zookeeper_testkit, a_server_with_tls_comes_up) {
  if (!zookeeper_server::installed()) GTEST_SKIP() << zookeeper_server::not_installed;
  zookeeper_server server({.tls = "server"});
  EXPECT_EQ(server.url().rfind("zookeepers://", 0), 0u);
}

}  // namespace
}  // namespace holdfast::zookeeper_test
