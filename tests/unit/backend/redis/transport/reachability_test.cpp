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

TEST_F(redis_reachability, a_refusal_is_logged_once_however_long_it_lasts) {
  r.on_ready(lane::commands, reached_at);
  r.on_refusal("loading", true, reached_at);
  lines();
  r.on_refusal("loading", true, reached_at + 2min);
  EXPECT_EQ(lines(), "");
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

TEST_F(redis_reachability,
       is_not_connected_while_only_another_connection_than_that_of_commands_is) {
  r.on_ready(lane::messages, reached_at);
  r.on_ready(lane::renewals, reached_at);
  EXPECT_FALSE(r.read(reached_at).connected);
}

TEST_F(redis_reachability, a_connection_that_is_made_anew_is_neither_silent_nor_unproven) {
  r.on_ready(lane::commands, reached_at);
  r.on_silent(lane::commands, reached_at);
  r.on_asked(lane::commands);
  r.on_lost(lane::commands, lost("reset"), true, reached_at + 1s);
  EXPECT_FALSE(r.is_asked(lane::commands));
  r.on_ready(lane::commands, reached_at + 2s);
  EXPECT_FALSE(r.is_unavailable());
  EXPECT_TRUE(r.read(reached_at + 2s).connected);
}

TEST_F(redis_reachability, no_line_is_due_once_an_outage_is_over) {
  r.on_lost(lane::commands, lost("reset"), true, reached_at);
  EXPECT_EQ(r.next_tick(), reached_at + 1min);
  r.on_ready(lane::commands, reached_at + 1s);
  EXPECT_EQ(r.next_tick(), base::never);
  EXPECT_EQ(r.since(), base::never);
}

TEST_F(redis_reachability, a_refusal_after_an_outage_is_logged_as_a_new_one) {
  r.on_lost(lane::commands, lost("reset"), true, reached_at);
  r.on_ready(lane::commands, reached_at + 1s);
  lines();
  r.on_refusal("full", true, reached_at + 2s);
  EXPECT_EQ(lines(), "!the server is temporarily refusing requests: full; retrying\n");
}

TEST_F(redis_reachability, a_refusal_just_after_the_start_of_the_clock_is_logged) {
  r.on_refusal("full", true, time_point{1s});
  EXPECT_EQ(lines(), "!the server is temporarily refusing requests: full; retrying\n");
}

TEST_F(redis_reachability, a_second_refusal_is_logged_a_minute_after_the_first) {
  for (const duration later : {59s, 60s}) {
    base::deferred_log own;
    reachability one("redis://h", own);
    one.on_refusal("full", true, reached_at);
    one.on_accepted(reached_at + 1s);
    one.on_refusal("full", true, reached_at + later);
    EXPECT_EQ(own.take().all.size(), later < 1min ? 2u : 3u) << later.count();
    EXPECT_EQ(one.next_tick(), reached_at + (later < 1min ? 1min : 2min)) << later.count();
  }
}

TEST_F(redis_reachability, a_long_refusal_is_logged_with_its_length_until_it_ends) {
  r.on_ready(lane::commands, reached_at);
  r.on_refusal("full", true, reached_at);
  lines();
  r.tick(true, reached_at + 1min);
  EXPECT_EQ(lines(), "!the server has been refusing requests for 60 s: full; still trying\n");
  r.on_accepted(reached_at + 61s);
  EXPECT_EQ(r.next_tick(), base::never);
  lines();
  r.on_accepted(reached_at + 62s);
  EXPECT_EQ(lines(), "") << "it has ended before";
}

TEST_F(redis_reachability, the_end_of_a_refusal_that_was_no_warning_is_not_logged) {
  r.on_refusal("full", false, reached_at);
  EXPECT_EQ(lines(), "the server is temporarily refusing requests: full; retrying\n");
  EXPECT_EQ(r.next_tick(), base::never);
  r.on_accepted(reached_at + 1s);
  EXPECT_EQ(lines(), "");
}

TEST_F(redis_reachability, a_refusal_during_an_outage_is_no_line_of_its_own) {
  r.on_lost(lane::renewals, lost("reset"), true, reached_at);
  lines();
  r.on_refusal("full", true, reached_at + 1s);
  EXPECT_EQ(r.read(reached_at + 1s).trouble.text, "no connection: reset");
  r.on_accepted(reached_at + 2s);
  EXPECT_EQ(lines(), "");
  EXPECT_EQ(r.next_tick(), reached_at + 1min) << "the line about the outage is still due";
}

TEST_F(redis_reachability, a_waiter_without_trouble_has_nothing_logged) {
  r.on_ready(lane::commands, reached_at);
  r.on_new_waiter(reached_at + 1s);
  EXPECT_EQ(r.next_tick(), base::never);
  r.on_lost(lane::commands, lost("reset"), true, reached_at + 2s);
  r.on_new_waiter(reached_at + 3s);
  EXPECT_EQ(r.next_tick(), reached_at + 62s) << "the warning is in the log already";
}

TEST_F(redis_reachability, a_risk_of_eviction_that_comes_back_is_logged_again) {
  const std::string evicts = "maxmemory:100\r\nmaxmemory_policy:allkeys-lru\r\n";
  r.on_memory_info(evicts);
  r.on_memory_info("maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n");
  lines();
  r.on_memory_info(evicts);
  EXPECT_EQ(lines().front(), '!');
}

TEST_F(redis_reachability, the_text_of_a_refusal_is_that_of_the_last_one) {
  r.on_refusal("full", true, reached_at);
  r.on_refusal("loading", true, reached_at + 1s);
  EXPECT_EQ(r.refusal(), "loading");
  EXPECT_EQ(r.read(reached_at + 1s).trouble.text, "loading");
  EXPECT_EQ(r.since(), reached_at) << "the outage has lasted since the first one";
}

}  // namespace
}  // namespace holdfast::redis
