// The sentinels that the fault tests use do what they say.
#include <gtest/gtest.h>

#include <csignal>

#include "fixture.hpp"
#include "testkit/servers/sentinel_servers.hpp"

namespace holdfast::redis_test {
namespace {

using testkit::redis_link;
using testkit::redis_silent;
using testkit::sentinel_servers;

class redis_sentinel_testkit : public on_redis {};

std::string named_by(sentinel_servers& s, std::size_t i) {
  return to_text(s.sentinel(i).command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", s.name()}));
}

std::string address_of(const redis_server& s) {
  return "[127.0.0.1, " + std::to_string(s.port()) + ']';
}

TEST_F(redis_sentinel_testkit, all_sentinels_name_the_first_server_and_have_a_quorum) {
  sentinel_servers s({.sentinels = 5, .quorum = 3});
  for (std::size_t i = 0; i < s.sentinel_count(); ++i) {
    EXPECT_EQ(named_by(s, i), address_of(s.server(0)));
    EXPECT_EQ(s.sentinel(i).command({"SENTINEL", "CKQUORUM", s.name()}).text.substr(0, 2), "OK");
    EXPECT_NE(s.url().find(std::to_string(s.sentinel(i).port())), std::string::npos);
  }
  EXPECT_EQ(&s.master(), &s.server(0));
}

TEST_F(redis_sentinel_testkit, a_replica_is_promoted_when_the_master_is_killed) {
  sentinel_servers s({.down_after = 500ms});
  s.master().command({"SET", "k", "v"});
  s.wait_until_copied();
  s.master().kill_hard();
  redis_server& next = s.wait_until_promoted();
  EXPECT_NE(&next, &s.server(0));
  EXPECT_EQ(&next, &s.master());
  EXPECT_EQ(next.command({"GET", "k"}).text, "v");
  s.wait_until_published();
  for (std::size_t i = 0; i < s.sentinel_count(); ++i) EXPECT_EQ(named_by(s, i), address_of(next));
  s.server(0).start();
  s.wait_until_replica(s.server(0));
  EXPECT_EQ(s.server(0).command({"GET", "k"}).text, "v");
}

// Sentinels make a server that was started again a replica after 8 s. Until then they may promote
// it although it is a master.
TEST_F(redis_sentinel_testkit, a_server_that_was_started_again_is_promoted) {
  sentinel_servers s({.down_after = 500ms});
  s.server(1).kill_hard();
  s.server(1).start();
  s.server(2).kill_hard();
  s.master().kill_hard();
  EXPECT_EQ(&s.wait_until_promoted(), &s.server(1));
}

TEST_F(redis_sentinel_testkit, a_healthy_master_is_replaced_by_command) {
  sentinel_servers s;
  s.fail_over();
  EXPECT_NE(&s.wait_until_promoted(), &s.server(0));
}

TEST_F(redis_sentinel_testkit, a_sentinel_is_stopped_killed_and_started_again_with_its_state) {
  sentinel_servers s({.down_after = 500ms});
  s.sentinel(2).stop();
  EXPECT_THROW(s.sentinel(2).command({"PING"}), redis_silent);
  s.sentinel(2).go_on();
  EXPECT_EQ(named_by(s, 2), address_of(s.server(0)));
  s.sentinel(2).kill();
  s.master().kill_hard();
  redis_server& next = s.wait_until_promoted();
  s.sentinel(2).start();
  s.wait_until_published();
  EXPECT_EQ(named_by(s, 2), address_of(next));
}

TEST_F(redis_sentinel_testkit, passwords_are_required_of_clients_and_do_not_hinder_a_failover) {
  sentinel_servers s({.down_after = 500ms,
                      .password = "watchword",
                      .acl = "asker on >secret +@all",
                      .servers = {.password = "grown-up"}});
  redis_link asks("127.0.0.1", s.sentinel(0).port());
  EXPECT_EQ(asks.command({"ROLE"}).text.substr(0, 6), "NOAUTH");
  EXPECT_EQ(asks.command({"AUTH", "watchword"}).text, "OK");
  EXPECT_EQ(asks.command({"AUTH", "asker", "secret"}).text, "OK");
  redis_link reads("127.0.0.1", s.master().port());
  EXPECT_EQ(reads.command({"ROLE"}).text.substr(0, 6), "NOAUTH");
  s.master().kill_hard();
  EXPECT_NE(&s.wait_until_promoted(), &s.server(0));
}

TEST_F(redis_sentinel_testkit, servers_and_sentinels_that_speak_tls_fail_over) {
  if (!redis_server::has_tls()) GTEST_SKIP() << redis_server::no_tls;
  sentinel_servers s({.down_after = 500ms, .tls = true});
  EXPECT_TRUE(s.url().starts_with("rediss+sentinel://"));
  EXPECT_THROW(redis_link("127.0.0.1", s.sentinel(0).port()).command({"PING"}), redis_silent);
  s.master().kill_hard();
  EXPECT_NE(&s.wait_until_promoted(), &s.server(0));
}

TEST_F(redis_sentinel_testkit, the_sentinels_die_with_their_object) {
  std::string port;
  {
    sentinel_servers s({.sentinels = 1, .quorum = 1});
    port = std::to_string(s.sentinel(0).port());
    EXPECT_EQ(redis_link("127.0.0.1", s.sentinel(0).port()).command({"PING"}).text, "PONG");
  }
  EXPECT_THROW(redis_link("127.0.0.1", std::stoi(port)), redis_silent);
}

}  // namespace
}  // namespace holdfast::redis_test
