#include "backend/redis/transport/reachability.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr time_point reached_at{1000s};

class redis_reachability : public testing::Test {
 protected:
  // The lines of the log since the last call; a warning begins with '!'.
  std::string lines() {
    std::string out;
    const base::deferred_log::lines taken = log.take();
    for (const auto& [level, text] : taken.all)
      out += (level == log_level::warning ? "!" : "") +
             text.substr(std::string("redis://h: ").size()) + '\n';
    return out;
  }
  static base::failure lost(const std::string& why) { return {errc::unavailable, why}; }

  base::deferred_log log;
  reachability r{"redis://h?secret=1", log};
};

TEST_F(redis_reachability, is_known_to_be_well_until_something_is_lost) {
  EXPECT_FALSE(r.is_unavailable());
  EXPECT_FALSE(r.read(reached_at).connected);
  r.on_ready(lane::commands, reached_at);
  EXPECT_TRUE(r.read(reached_at).connected);
  EXPECT_FALSE(r.read(reached_at).trouble.code);
  EXPECT_EQ(lines(), "");
}

TEST_F(redis_reachability, an_outage_is_logged_at_once_and_when_it_is_over) {
  r.on_ready(lane::commands, reached_at);
  r.on_lost(lane::commands, lost("reset"), true, reached_at);
  EXPECT_TRUE(r.is_unavailable());
  EXPECT_EQ(r.since(), reached_at);
  EXPECT_EQ(r.read(reached_at + 2s).trouble.text, "no connection: reset");
  EXPECT_EQ(lines(), "!the connection is lost: reset; retrying\n");
  r.on_ready(lane::commands, reached_at + 3s);
  EXPECT_FALSE(r.is_unavailable());
  EXPECT_EQ(lines(), "!connected again after 3 s\n");
  EXPECT_EQ(r.read(reached_at + 3s).reconnects, 1u);
}

TEST_F(redis_reachability, an_outage_after_a_refusal_is_logged_as_a_new_one) {
  r.on_ready(lane::commands, reached_at);
  r.on_refusal("LOADING", true, reached_at);
  lines();
  r.on_lost(lane::commands, lost("reset"), true, reached_at + 1s);
  EXPECT_EQ(lines(), "!the connection is lost: reset; retrying\n");
  r.on_ready(lane::commands, reached_at + 2s);
  EXPECT_EQ(lines(), "!connected again after 1 s\n");
}

TEST_F(redis_reachability, an_outage_that_affects_nobody_is_no_warning) {
  r.on_lost(lane::commands, lost("reset"), false, reached_at);
  EXPECT_EQ(lines().front(), 't');
  r.on_ready(lane::commands, reached_at + 1s);
  EXPECT_EQ(lines().front(), 'c');
}

TEST_F(redis_reachability, somebody_who_comes_to_be_affected_has_it_logged) {
  r.on_lost(lane::commands, lost("reset"), false, reached_at);
  lines();
  r.on_new_waiter(reached_at + 1s);
  EXPECT_EQ(r.next_tick(), reached_at + 1s);
  r.tick(true, reached_at + 1s);
  EXPECT_EQ(lines().front(), '!');
}

TEST_F(redis_reachability, a_long_outage_is_logged_each_minute_while_somebody_is_affected) {
  r.on_lost(lane::commands, lost("reset"), true, reached_at);
  lines();
  r.tick(true, reached_at + 59s);
  EXPECT_EQ(lines(), "");
  r.tick(true, reached_at + 1min);
  EXPECT_EQ(lines(), "!no connection for 60 s: reset; still trying\n");
  r.tick(false, reached_at + 2min);
  EXPECT_EQ(lines(), "");
  EXPECT_EQ(r.next_tick(), base::never);
}

TEST_F(redis_reachability, a_lost_connection_for_renewals_keeps_nobody_from_a_lock) {
  r.on_lost(lane::renewals, lost("reset"), true, reached_at);
  EXPECT_FALSE(r.is_unavailable());
  EXPECT_EQ(lines().front(), '!');
}

TEST_F(redis_reachability, an_outage_is_over_when_every_connection_has_answered_since) {
  for (const lane l : {lane::commands, lane::messages, lane::renewals}) r.on_ready(l, reached_at);
  r.on_lost(lane::renewals, lost("reset"), true, reached_at);
  r.on_asked(lane::commands);
  r.on_asked(lane::messages);
  r.on_ready(lane::renewals, reached_at + 1s);
  r.on_proven(lane::commands, reached_at + 2s);
  r.on_lost(lane::messages, lost("reset"), true, reached_at + 3s);
  EXPECT_FALSE(r.read(reached_at + 3s).connected);
  EXPECT_EQ(lines(), "!the connection is lost: reset; retrying\n");
  r.on_ready(lane::messages, reached_at + 4s);
  EXPECT_EQ(lines(), "!connected again after 4 s\n");
  EXPECT_TRUE(r.read(reached_at + 4s).connected);
  EXPECT_EQ(r.read(reached_at + 4s).reconnects, 1u);
}

TEST_F(redis_reachability, a_connection_that_is_only_asked_is_no_outage) {
  r.on_ready(lane::commands, reached_at);
  r.on_asked(lane::commands);
  EXPECT_FALSE(r.read(reached_at).connected);
  r.on_proven(lane::commands, reached_at + 1s);
  EXPECT_TRUE(r.read(reached_at).connected);
  EXPECT_EQ(lines(), "");
  EXPECT_EQ(r.read(reached_at).reconnects, 0u);
}

TEST_F(redis_reachability, a_silent_connection_is_an_outage_until_something_arrives) {
  r.on_ready(lane::commands, reached_at);
  r.on_silent(lane::messages, reached_at + 1s);
  EXPECT_TRUE(r.is_unavailable());
  EXPECT_EQ(r.read(reached_at + 1s).trouble.text, "the server does not answer");
  r.on_heard(lane::messages, reached_at + 2s);
  EXPECT_FALSE(r.is_unavailable());
  EXPECT_EQ(lines(), "");
}

TEST_F(redis_reachability, a_server_that_puts_requests_off_is_out_until_it_accepts_one) {
  r.on_ready(lane::commands, reached_at);
  r.on_refusal("loading", true, reached_at);
  r.on_refusal("loading", true, reached_at + 1s);
  EXPECT_TRUE(r.is_unavailable());
  EXPECT_EQ(lines(), "!the server is temporarily refusing requests: loading; retrying\n");
  r.on_accepted(reached_at + 2s);
  EXPECT_FALSE(r.is_unavailable());
  EXPECT_EQ(lines(), "!the server accepts requests again\n");
}

TEST_F(redis_reachability, a_refusal_that_no_longer_matters_is_forgotten_and_an_outage_is_not) {
  r.on_ready(lane::commands, reached_at);
  r.on_refusal("LOADING", true, reached_at);
  EXPECT_TRUE(r.is_unavailable());
  r.tick(false, reached_at + 2min);
  EXPECT_FALSE(r.is_unavailable());
  r.on_lost(lane::commands, lost("reset"), true, reached_at + 3min);
  r.tick(false, reached_at + 5min);
  EXPECT_TRUE(r.is_unavailable());
}

TEST_F(redis_reachability, a_server_that_comes_and_goes_is_in_the_log_once_a_minute) {
  r.on_ready(lane::commands, reached_at);
  for (int i = 0; i < 20; ++i) {
    r.on_refusal("full", true, reached_at + i * 1s);
    r.on_accepted(reached_at + i * 1s + 500ms);
  }
  EXPECT_EQ(lines(), "!the server is temporarily refusing requests: full; retrying\n"
                     "!the server accepts requests again\n");
}

TEST_F(redis_reachability, a_risk_of_eviction_is_logged_once_for_each_setting) {
  const std::string evicts = "maxmemory:100\r\nmaxmemory_policy:allkeys-lru\r\n";
  r.on_memory_info(evicts);
  EXPECT_NE(lines().find("allkeys-lru"), std::string::npos);
  r.on_memory_info(evicts);
  EXPECT_EQ(lines(), "");
  r.on_memory_info("maxmemory:100\r\nmaxmemory_policy:volatile-ttl\r\n");
  EXPECT_NE(lines().find("volatile-ttl"), std::string::npos);
  r.on_memory_info("maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n");
  EXPECT_EQ(lines(), "");
}

TEST_F(redis_reachability, the_last_failure_is_told_with_its_age) {
  r.on_ready(lane::commands, reached_at);
  r.on_lost(lane::commands, lost("reset"), true, reached_at + 1s);
  r.on_ready(lane::commands, reached_at + 2s);
  EXPECT_EQ(r.read(reached_at + 11s).last_failure, "10 s ago: reset");
}

}  // namespace
}  // namespace holdfast::redis
