// Drills of a few seconds on real servers, through the drill's own proxies.
#include <string>

#ifdef HOLDFAST_WITH_MYSQL
#include "testkit/servers/mariadb_server.hpp"
#endif
#ifdef HOLDFAST_WITH_REDIS
#include "testkit/servers/cluster_servers.hpp"
#include "testkit/servers/redis_server.hpp"
#include "testkit/servers/sentinel_servers.hpp"
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
#include "testkit/servers/zookeeper_server.hpp"
#endif
#include "tests/cli/cli_test.hpp"

namespace holdfast::cli_test {
namespace {

// A silent connection is noticed after a second.
constexpr const char* soon_noticed = "op-timeout=1s&connect-timeout=1s";

class drill_of_servers : public cli {
 protected:
  static words short_drill(const std::string& url, const words& options = {}) {
    words line =
        holdfast({"drill", "--url", url, "--minutes", "0.1", "--seed", "1", "--yes", "--json"});
    line.insert(line.end(), options.begin(), options.end());
    return line;
  }
  // How often the report counts the fault.
  static int times(const std::string& fault, const std::string& report) {
    const std::string front = "{\"fault\":\"" + fault + "\",\"times\":";
    const auto at = report.find(front);
    return at == report.npos ? 0 : std::stoi(report.substr(at + front.size()));
  }
  static void expect_part(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), text.npos) << part << '\n' << text;
  }
  // Each connection goes through a proxy, which has cut some, and the token has refused each stale
  // write.
  static void expect_cuts_and_no_stale_write(const std::string& report) {
    expect_part(report, "\"no_proxies\":\"\"");
    expect_part(report, "\"stale_with_token\":0");
    EXPECT_GE(times("link.cut", report), 1) << report;
  }
  static void expect_sound(const std::string& url) {
    process run(
        short_drill(url + (url.find('?') == url.npos ? '?' : '&') + std::string(soon_noticed)));
    EXPECT_EQ(run.wait(), (ending{0, 0})) << run.out() << run.err();
    expect_cuts_and_no_stale_write(run.out());
  }
#ifdef HOLDFAST_WITH_REDIS
  // A failover may lose the last grants: two holders, which end the drill with 1.
  static void expect_one_failover(process& run) {
    const ending how = run.wait();
    EXPECT_TRUE(how == (ending{0, 0}) || how == (ending{1, 0})) << run.out() << run.err();
    expect_cuts_and_no_stale_write(run.out());
    EXPECT_EQ(times("failover", run.out()), 1) << run.out();
    EXPECT_EQ(run.out().find("the failover failed"), std::string::npos) << run.out();
  }
#endif
};

TEST_F(drill_of_servers, requests_a_failover_of_sentinel_and_cluster_without_tls_only) {
  for (const char* url : {"file:", "redis://127.0.0.1:1", "rediss+sentinel://127.0.0.1:1/main"}) {
    process run(short_drill(url, {"--failover", "auto"}));
    EXPECT_EQ(run.wait(), (ending{64, 0})) << url << run.err();
    expect_part(run.err(), "--failover=auto ");
  }
  process plan(holdfast(
      {"drill", "--failover", "auto", "--url", "redis+sentinel://:hunter2@127.0.0.1:1/main/0"}));
  EXPECT_EQ(plan.wait(), (ending{64, 0}));
  expect_part(plan.out(), "at half time: SENTINEL FAILOVER main\n");
  expect_part(plan.out(), "passes their connections through proxies of its own");
  EXPECT_EQ((plan.out() + plan.err()).find("hunter2"), std::string::npos);
}

#ifdef HOLDFAST_WITH_REDIS
TEST_F(drill_of_servers, is_sound_through_proxies_on_redis) {
  using testkit::redis_server;
  if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  const redis_server server({.password = "hunter2"});
  expect_sound("redis://:hunter2@127.0.0.1:" + std::to_string(server.port()));
}

// The workers connect to a proxy, and verify the host of the URL.
TEST_F(drill_of_servers, verifies_the_certificate_through_proxies_on_redis) {
  using testkit::redis_server;
  if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  if (!redis_server::has_tls()) GTEST_SKIP() << redis_server::no_tls;
  const redis_server server({.tls = "server"});
  expect_sound("rediss://localhost:" + std::to_string(server.port()) +
               "?tls-ca=" + server.tls_files().certificate("ca"));
}

TEST_F(drill_of_servers, promotes_a_replica_with_sentinel_and_passwords_on_redis) {
  using testkit::redis_server;
  if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  testkit::sentinel_servers all({.password = "watchword", .servers = {.password = "hunter2"}});
  process run(short_drill(all.url(":hunter2@") + "?sentinel-password-env=HOLDFAST_TEST_SENTINELS",
                          {"--failover", "auto"}),
              {.environment = {{"HOLDFAST_TEST_SENTINELS", "watchword"}}});
  expect_one_failover(run);
  all.wait_until_promoted();
  const std::string printed = run.out() + run.err();
  EXPECT_EQ(printed.find("hunter2"), std::string::npos);
  EXPECT_EQ(printed.find("watchword"), std::string::npos);
}

TEST_F(drill_of_servers, promotes_a_replica_of_each_master_of_a_cluster_on_redis) {
  using testkit::redis_server;
  if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  testkit::cluster_servers all;
  process run(short_drill(all.url(), {"--failover", "auto"}));
  expect_one_failover(run);
  for (std::size_t master = 0; master < 3; ++master)
    EXPECT_NE(all.wait_until_failed_over(master), master);
}
#endif

#ifdef HOLDFAST_WITH_ZOOKEEPER
TEST_F(drill_of_servers, is_sound_through_proxies_on_zookeeper) {
  using testkit::zookeeper_server;
  if (!zookeeper_server::installed()) GTEST_SKIP() << zookeeper_server::not_installed;
  const zookeeper_server server;
  expect_sound(server.url() + "?session-timeout=2s");
}
#endif

#ifdef HOLDFAST_WITH_MYSQL
TEST_F(drill_of_servers, is_sound_through_proxies_on_mysql) {
  using testkit::mariadb_server;
  if (!mariadb_server::installed()) GTEST_SKIP() << mariadb_server::not_installed;
  const mariadb_server server;
  expect_sound(server.url());
}
#endif

}  // namespace
}  // namespace holdfast::cli_test
