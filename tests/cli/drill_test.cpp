// holdfast drill.
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/drill_figures.hpp"
#include "cli/drill_route.hpp"
#include "cli/server_address.hpp"
#include "history/history.hpp"
#include "tests/cli/cli_test.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "testkit/servers/redis_server.hpp"
#endif

namespace holdfast::cli_test {
namespace {

class drill : public cli {
 protected:
  static words drill_of(const std::string& url, const words& options) {
    words line = holdfast({"drill", "--url", url});
    line.insert(line.end(), options.begin(), options.end());
    return line;
  }
};

TEST_F(drill, without_yes_prints_what_it_would_do_and_does_nothing) {
  process run(drill_of(file_url(), {"--minutes", "3", "--seed", "7"}));
  EXPECT_EQ(run.wait(), (ending{64, 0}));
  EXPECT_NE(run.out().find("3 min, seed 7:\n  starts 4 processes of its own"), std::string::npos)
      << run.out();
  EXPECT_NE(run.err().find("nothing was done; give --yes"), std::string::npos) << run.err();
}

TEST_F(drill, refuses_what_it_does_not_understand) {
  for (const words& wrong : {words{"--minutes", "0"}, words{"--minutes", "ten"},
                             words{"--workers", "1"}, words{"NAME"}}) {
    process run(drill_of(file_url(), wrong));
    EXPECT_EQ(run.wait(), (ending{64, 0})) << wrong.front();
  }
  process run(drill_of("memory:", {"--yes"}));
  EXPECT_EQ(run.wait(), (ending{64, 0}));
}

TEST_F(drill, reports_figures_and_leaves_no_lock) {
  process run(drill_of(file_url(), {"--minutes", "0.05", "--seed", "1", "--yes"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.out() << run.err();
  for (const char* line : {"grants\n", "\nhand-off ", "\nstale writes ",
                           "\ntwo holders           0\n", "\nother violations      0\n"})
    EXPECT_NE(run.out().find(line), std::string::npos) << line << run.out();
  process list(holdfast({"list", "--url", file_url()}));
  EXPECT_EQ(list.wait(), (ending{0, 0}));
  EXPECT_EQ(list.out(), "");
}

TEST_F(drill, runs_the_failover_command_however_short_it_is) {
  const auto mark = path("failed-over").string();
  process run(drill_of(file_url(), {"--minutes", "0.0005", "--failover", "touch '" + mark + "'",
                                    "--yes", "--json"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.out() << run.err();
  EXPECT_TRUE(std::filesystem::exists(mark)) << run.out();
}

TEST_F(drill, ends_by_a_signal) {
  process run(drill_of(file_url(), {"--minutes", "60", "--yes"}));
  run.line();  // of its plan
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), (ending{128 + SIGTERM, 0}));
}

constexpr std::chrono::nanoseconds lapse{100};

holdfast::cli::drill_figures figures_in(const std::string& history) {
  return holdfast::cli::figures_of(history::parse_history(history).records, lapse, true);
}

TEST(drill_figures, a_hand_off_goes_to_a_waiter_of_another_process) {
  const std::string holder = "w1.0 L acquire 10 20 ok 1 -\n"
                             "w1.0 L release 50 55 ok 1 -\n";
  const auto handed = figures_in(holder + "w2.0 L acquire 30 60 ok 2 -\n").hand_offs;
  ASSERT_EQ(handed.size(), 1u);
  EXPECT_EQ(handed[0].count(), 10);
  EXPECT_TRUE(figures_in(holder + "w1.1 L acquire 30 60 ok 2 -\n").hand_offs.empty());
  EXPECT_TRUE(figures_in(holder + "w2.0 L acquire 51 60 ok 2 -\n").hand_offs.empty());
}

TEST(drill_figures, a_margin_counts_from_the_deadline_of_a_killed_or_lost_holder) {
  const std::string next = "w2.0 L acquire 30 140 ok 2 -\n";
  const std::string killed = "w1.0 L acquire 10 20 ok 1 100\n"
                             "w1 - kill 50 60 ok 0 -\n";
  const std::string lost = "w1.0 L acquire 10 20 ok 1 100\n"
                           "w1.0 L check 130 131 lost 1 100\n";
  for (const auto& before : {killed, lost}) {
    const auto margins = figures_in(before + next).margins;
    ASSERT_EQ(margins.size(), 1u) << before;
    EXPECT_EQ(margins[0].count(), 40) << before;
  }
}

TEST(drill_figures, a_notice_is_compared_with_the_deadline_and_with_the_grant_of_another_process) {
  const std::string lost = "w1.0 L acquire 10 20 ok 1 90\n"
                           "w1.0 L notice 105 105 lost 1 -\n"
                           "w1.0 L check 130 131 lost 1 100\n";
  const auto figures = figures_in(lost + "w2.0 L acquire 30 140 ok 2 -\n");
  ASSERT_EQ(figures.notices_before_grant.size(), 1u);
  EXPECT_EQ(figures.notices_before_grant[0].count(), 35);
  ASSERT_EQ(figures.notices_after_deadline.size(), 1u);
  EXPECT_EQ(figures.notices_after_deadline[0].count(), 5) << "after the deadline of the last check";
  EXPECT_EQ(figures.calls, 3u);
  const auto late = figures_in(lost + "w2.0 L acquire 30 103 ok 2 -\n").notices_before_grant;
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].count(), -2);
  EXPECT_TRUE(figures_in(lost + "w1.1 L acquire 30 140 ok 2 -\n").notices_before_grant.empty());
}

TEST(drill_figures, a_holder_that_died_has_no_notice) {
  const auto killed = figures_in("w1.0 L acquire 10 20 ok 1 100\n"
                                 "w1 - kill 50 60 ok 0 -\n"
                                 "w2.0 L acquire 30 140 ok 2 -\n");
  EXPECT_TRUE(killed.notices_before_grant.empty());
  EXPECT_TRUE(killed.notices_after_deadline.empty());
}

TEST(drill_figures, two_holders_and_stale_writes_are_counted) {
  const auto overlap = figures_in("w1.0 L acquire 10 20 ok 1 -\n"
                                  "w2.0 L acquire 30 40 ok 2 -\n");
  EXPECT_EQ(overlap.overlaps, 1u);
  const std::string later = "w2.0 L write 50 50 ok 2 -\n";
  const auto stale = figures_in(later + "w1.0 L write 60 60 ok 1 -\n");
  EXPECT_EQ(stale.stale_writes, 1u);
  EXPECT_EQ(stale.refused_writes, 0u);
  const auto refused = figures_in(later + "w1.0 L write 60 60 refused 1 -\n");
  EXPECT_EQ(refused.stale_writes, 0u);
  EXPECT_EQ(refused.refused_writes, 1u);
  EXPECT_EQ(refused.writes, 2u);
  EXPECT_EQ(figures_in("w1.0 L acquire 10 20 ok 2 25\n"
                       "w2.0 L acquire 30 40 ok 1 -\n")
                .other_violations,
            1u);
}

TEST(drill_figures, planted_writes_are_counted_apart) {
  const auto both = figures_in("w2.0 L write 50 50 ok 2 -\n"
                               "w1.0 L write 60 60 refused 1 -\n"
                               "w1.0 L write 70 70 refused 1 - planted\n"
                               "w2.0 L write 80 80 ok 2 - planted\n");
  EXPECT_EQ(both.writes, 2u);
  EXPECT_EQ(both.refused_writes, 1u);
  EXPECT_EQ(both.planted_writes, 2u);
  EXPECT_EQ(both.refused_planted_writes, 1u);
  EXPECT_EQ(both.stale_writes, 0u);
}

TEST(drill_figures, a_quantile_is_a_value_that_was_measured) {
  using std::chrono::nanoseconds;
  const std::vector<nanoseconds> values{nanoseconds(5), nanoseconds(1), nanoseconds(3)};
  EXPECT_EQ(holdfast::cli::quantile(values, 0).count(), 1);
  EXPECT_EQ(holdfast::cli::quantile(values, 0.5).count(), 3);
  EXPECT_EQ(holdfast::cli::quantile(values, 1).count(), 5);
  EXPECT_EQ(holdfast::cli::quantile({}, 0.5).count(), 0);
}

// "HOST:PORT ..." and the new options, or the obstacle.
std::string route_in(const std::string& text) {
  const auto route = holdfast::cli::route_of(url::parse(text));
  std::string out = route.obstacle;
  for (const auto& each : route.servers) out += holdfast::cli::address_text(each) + ' ';
  for (const auto& [name, value] : route.new_options) out += name + '=' + value + ' ';
  return out;
}

TEST(drill_route, each_server_of_the_url_gets_a_proxy) {
  EXPECT_EQ(route_in("redis://me:secret@db1/3"), "db1:6379 ");
  EXPECT_EQ(route_in("redlock://a,b:7000,[::1]"), "a:6379 b:7000 [::1]:6379 ");
  EXPECT_EQ(route_in("redis+sentinel://s1,s2:26380/main"), "s1:26379 s2:26380 ");
  EXPECT_EQ(route_in("redis+cluster://n1"), "n1:6379 ");
  EXPECT_EQ(route_in("redis+shards://a,b?names=x,y"), "a:6379 b:6379 ");
  EXPECT_EQ(route_in("zookeeper://z1,z2:2182/locks"), "z1:2181 z2:2182 ");
  EXPECT_EQ(route_in("mysql://app@127.0.0.1/shop"), "127.0.0.1:3306 ");
  EXPECT_EQ(route_in("mysql://app@db1:3307/shop?tls=0"), "db1:3307 ");
}

TEST(drill_route, tls_verifies_the_host_of_the_url) {
  EXPECT_EQ(route_in("rediss://db1"), "db1:6379 tls-host=db1 ");
  EXPECT_EQ(route_in("rediss://db1?tls-host=locks"), "db1:6379 ");
  EXPECT_EQ(route_in("redlocks://a:1,a:2,a:3"), "a:1 a:2 a:3 tls-host=a ");
}

TEST(drill_route, the_reason_for_no_proxies_is_one_sentence) {
  EXPECT_EQ(route_in("file:"), "");
  for (const char* text :
       {"redis+unix:///run/redis.sock", "redis+shards://a,b", "redlocks://a,b,c",
        "zookeepers://a,b", "rediss+sentinel://s1/main", "rediss+cluster://n1",
        "mysql://app@db1/shop", "mysql://app@localhost/shop?socket=/run/mysql.sock",
        "mysql://app@127.0.0.1/shop?tls=1"}) {
    const auto route = holdfast::cli::route_of(url::parse(text));
    EXPECT_TRUE(route.servers.empty()) << text;
    EXPECT_NE(route.obstacle, "") << text;
  }
}

TEST(drill_route, the_url_of_a_worker_keeps_all_but_the_servers) {
  const std::vector<url::endpoint> proxies{{"127.0.0.1", 1}, {"127.0.0.1", 2}};
  EXPECT_EQ(holdfast::cli::with_servers("redlock://a,b:7000", proxies, {}),
            "redlock://127.0.0.1:1,127.0.0.1:2");
  EXPECT_EQ(holdfast::cli::with_servers("redis+sentinel://me:a%40b@s1,s2/main?ttl=1s&map=x:1=y:2",
                                        proxies, {{"map", "x:1=127.0.0.1:3"}}),
            "redis+sentinel://me:a%40b@127.0.0.1:1,127.0.0.1:2/main?ttl=1s&map=x:1=127.0.0.1:3");
  EXPECT_EQ(holdfast::cli::with_servers("redlock://a,b?ttl=1s", proxies, {{"tls-host", "a"}}),
            "redlock://127.0.0.1:1,127.0.0.1:2?ttl=1s&tls-host=a");
}

#ifdef HOLDFAST_WITH_REDIS
TEST_F(drill, runs_the_failover_command_and_is_sound_on_redis) {
  using testkit::redis_server;
  if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  const redis_server server;
  const auto mark = path("failed-over").string();
  process run(drill_of(server.url(), {"--minutes", "0.1", "--seed", "1", "--failover",
                                      "touch '" + mark + "'", "--yes", "--json"}));
  EXPECT_EQ(run.wait(), (ending{0, 0})) << run.out() << run.err();
  EXPECT_TRUE(std::filesystem::exists(mark));
  EXPECT_NE(run.out().find("{\"fault\":\"failover\",\"times\":1}"), std::string::npos) << run.out();
}
#endif

}  // namespace
}  // namespace holdfast::cli_test
