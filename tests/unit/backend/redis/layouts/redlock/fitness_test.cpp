#include "backend/redis/layouts/redlock/fitness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/redis/layouts/redlock/codec.hpp"
#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis::redlock {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr duration max_ttl = 1min;

server_state long_running() {
  server_state s;
  s.run_id = "now";
  s.uptime = 3600s;
  s.record = {.number = 100, .max_ttl = max_ttl, .begun_at = s.run_id};
  return s;
}

server_state just_started() {
  server_state s = long_running();
  s.uptime = 5s;
  return s;
}

TEST(redlock_fitness, a_server_that_has_run_for_longer_than_any_lease_votes) {
  EXPECT_EQ(judge(long_running(), max_ttl).why_not, "");
}

TEST(redlock_fitness, a_server_that_was_started_lately_votes_once_the_longest_lease_has_ended) {
  const fitness f = judge(just_started(), max_ttl);
  EXPECT_THAT(f.why_not, HasSubstr("votes again in 56 s"));
  EXPECT_EQ(f.again, 56s);  // a server counts up to a second too much
}

TEST(redlock_fitness, a_server_without_a_number_is_empty_whatever_it_keeps) {
  server_state s = long_running();
  s.record = {};
  for (const bool keeps_log : {false, true}) {
    s.keeps_log = keeps_log;
    EXPECT_TRUE(s.is_empty());
    EXPECT_THAT(judge(s, max_ttl).why_not, HasSubstr("it has no record of earlier locks"));
  }
}

TEST(redlock_fitness, with_an_append_only_file_a_restart_loses_no_lock) {
  server_state s = just_started();
  s.record.begun_at = "before";
  s.keeps_log = true;
  EXPECT_TRUE(judge(s, max_ttl).is_fit());
}

TEST(redlock_fitness, a_server_of_this_second_votes_once_the_longest_lease_has_ended) {
  for (const auto uptime : {0s, 1s}) {
    server_state s = long_running();
    s.uptime = uptime;
    EXPECT_EQ(judge(s, max_ttl).again, max_ttl);
  }
}

// A snapshot brings an old number back, with which tokens would repeat.
TEST(redlock_fitness, without_an_append_only_file_a_record_of_an_earlier_process_is_begun_anew) {
  server_state s = long_running();
  s.record.begun_at = "before";
  EXPECT_FALSE(judge(s, max_ttl).is_fit());
  EXPECT_TRUE(s.may_begin_anew(max_ttl));
  s.uptime = 60s;
  EXPECT_FALSE(s.may_begin_anew(max_ttl));
}

TEST(redlock_fitness, an_append_only_file_proves_nothing_for_a_record_that_was_begun_since) {
  server_state s = just_started();
  s.keeps_log = true;
  s.record.begun_at = s.run_id;
  EXPECT_FALSE(judge(s, max_ttl).is_fit());
  s.uptime = 61s;
  EXPECT_TRUE(judge(s, max_ttl).is_fit());
}

TEST(redlock_fitness, a_server_without_an_uptime_or_with_one_in_the_future_has_just_started) {
  server_state s = long_running();
  s.uptime.reset();
  EXPECT_FALSE(judge(s, max_ttl).is_fit());
  s.uptime = -3600s;
  EXPECT_FALSE(judge(s, max_ttl).is_fit());
}

TEST(redlock_fitness, a_server_without_its_record_does_not_vote) {
  server_state s = long_running();
  s.record = {};
  EXPECT_THAT(judge(s, max_ttl).why_not, HasSubstr("has lost its data"));
}

TEST(redlock_fitness, clients_with_another_max_ttl_are_told_both) {
  const std::string why = judge(long_running(), 10s).why_not;
  EXPECT_THAT(why, HasSubstr("max-ttl=60 s"));
  EXPECT_THAT(why, HasSubstr("max-ttl=10 s"));
}

TEST(redlock_fitness, a_server_that_may_evict_locks_does_not_vote) {
  server_state s = long_running();
  read_info("maxmemory:1000\r\nmaxmemory_policy:allkeys-lru\r\n", s);
  s.uptime = 3600s;
  EXPECT_THAT(judge(s, max_ttl).why_not, HasSubstr("allkeys-lru"));
}

TEST(redlock_fitness, a_server_that_has_lost_its_record_reports_the_rest_of_its_pause) {
  server_state s = long_running();
  s.record = {.gone_for = 18s};
  EXPECT_THAT(judge(s, max_ttl).why_not, HasSubstr("it may vote in 42 s"));
}

TEST(redlock_fitness, a_record_without_a_number_is_reported_with_the_remedy) {
  server_state s = long_running();
  s.record = {.is_unreadable = true};
  EXPECT_THAT(judge(s, max_ttl).why_not, HasSubstr("delete the key holdfast:redlock"));
}

bool is_unused(const std::string& statistics) {
  server_state s;
  read_statistics("# Commandstats\r\n" + statistics, s);
  return s.is_unused;
}

TEST(redlock_fitness, a_server_is_unused_while_it_has_neither_counted_a_vote_nor_renewed_a_lock) {
  EXPECT_TRUE(is_unused("cmdstat_info:calls=1\r\ncmdstat_config|set:calls=2\r\n"));
  EXPECT_FALSE(is_unused("cmdstat_info:calls=1\r\ncmdstat_hincrby:calls=1\r\n"));
  EXPECT_FALSE(is_unused("cmdstat_info:calls=1\r\ncmdstat_pexpire:calls=1\r\n"));
}

TEST(redlock_fitness, statistics_that_are_missing_or_were_reset_prove_nothing) {
  EXPECT_FALSE(is_unused(""));
  EXPECT_FALSE(is_unused("cmdstat_info:calls=1\r\ncmdstat_config|resetstat:calls=1\r\n"));
  EXPECT_FALSE(is_unused("cmdstat_info:calls=1\r\ncmdstat_config:calls=1\r\n"));  // Redis 6
}

server_state with_record_of(const std::string& process, const std::string& run_id = "now") {
  server_state s = long_running();
  s.run_id = run_id;
  s.record.begun_at = process;
  return s;
}

TEST(redlock_fitness, a_copied_record_names_the_process_or_the_record_of_another_server) {
  EXPECT_TRUE(with_record_of("other").has_record_of(with_record_of("other", "other")));
  EXPECT_TRUE(with_record_of("before").has_record_of(with_record_of("before", "other")));
  EXPECT_TRUE(with_record_of("other").has_record_of(with_record_of("", "other")));
}

TEST(redlock_fitness, a_record_of_its_own_is_no_copy) {
  EXPECT_FALSE(with_record_of("now").has_record_of(with_record_of("now", "other")));
  EXPECT_FALSE(with_record_of("before").has_record_of(with_record_of("other", "other")));
  EXPECT_FALSE(with_record_of("").has_record_of(with_record_of("", "other")));
  EXPECT_FALSE(with_record_of("before").has_record_of(with_record_of("before")));  // the same one
}

TEST(redlock_fitness, a_server_that_was_a_replica_keeps_the_record_of_its_master) {
  server_state s = with_record_of("other");
  EXPECT_FALSE(s.was_replica());
  read_info("run_id:now\r\nmaster_replid:aa\r\nmaster_replid2:bb\r\n", s);
  EXPECT_TRUE(s.was_replica());
  s.record.begun_at = "now";  // it was begun since
  EXPECT_FALSE(s.was_replica());
}

TEST(redlock_fitness, info_is_read_as_the_server_writes_it) {
  server_state s;
  read_info("# Server\r\nrun_id:abc\r\nuptime_in_seconds:17\r\n# Persistence\r\naof_enabled:1\r\n",
            s);
  EXPECT_EQ(s.run_id, "abc");
  EXPECT_EQ(s.uptime, 17s);
  EXPECT_TRUE(s.keeps_log);
  EXPECT_EQ(s.eviction, "");
}

TEST(redlock_fitness, a_server_is_looked_at_again_when_it_may_vote_or_after_two_seconds) {
  const auto again = [](duration gone_for) {
    server_state s = long_running();
    s.record = {.gone_for = gone_for};
    return judge(s, max_ttl).again;
  };
  EXPECT_EQ(again(18s), 2s);
  EXPECT_EQ(again(59s), 1s);
  EXPECT_EQ(again(59900ms), 500ms);
  EXPECT_EQ(again(60s), 500ms);
  EXPECT_EQ(judge(long_running(), 10s).again, 2s);
}

TEST(redlock_fitness, a_pause_that_is_over_is_not_reported) {
  server_state s = long_running();
  s.record = {.gone_for = 60s};
  EXPECT_EQ(judge(s, max_ttl).why_not,
            "it has no record of earlier locks: it is new, or has lost its data");
  s.record.gone_for = 59900ms;
  EXPECT_THAT(judge(s, max_ttl).why_not, HasSubstr("; it may vote in 1 s"));
}

TEST(redlock_fitness, a_record_of_an_earlier_process_is_named_as_such) {
  server_state s = just_started();
  s.record.begun_at = "before";
  EXPECT_THAT(judge(s, max_ttl).why_not, HasSubstr("restarted without an append-only file"));
}

TEST(redlock_fitness, a_server_is_a_second_younger_than_it_says) {
  server_state s = just_started();
  s.uptime = 2s;
  EXPECT_EQ(judge(s, max_ttl).again, 59s);
  s.uptime = 1s;
  EXPECT_EQ(judge(s, max_ttl).again, 60s);
}

server_record record_in(const std::string& reply) {
  server_record out;
  with_replies(reply, [&](const value& v) { out = read_record(v); });
  return out;
}

std::string record_reply(const std::string& number, const std::string& longest = "60000") {
  return "*3\r\n" + bulk(number) + bulk(longest) + bulk("run");
}

TEST(redlock_fitness, a_record_is_read_as_the_script_returns_it) {
  const server_record r = record_in(record_reply("100"));
  EXPECT_EQ(r.number, 100);
  EXPECT_EQ(r.max_ttl, 1min);
  EXPECT_EQ(r.begun_at, "run");
  EXPECT_EQ(r.seen, "run");
  EXPECT_FALSE(r.is_unreadable);
  EXPECT_EQ(record_in(record_reply("1")).number, 1);
  EXPECT_EQ(record_in(record_reply("9007199254740991")).number, 9'007'199'254'740'991);
  EXPECT_EQ(record_in(record_reply("100", "x")).max_ttl, 0s);
}

TEST(redlock_fitness, a_number_that_scripts_cannot_count_on_is_none) {
  for (const char* number :
       {"0", "-1", "x", "1x", "", "9007199254740992", "99999999999999999999"}) {
    const server_record r = record_in(record_reply(number));
    EXPECT_FALSE(r.number) << number;
    EXPECT_TRUE(r.is_unreadable) << number;
  }
}

TEST(redlock_fitness, a_record_that_is_gone_says_for_how_long) {
  const server_record r = record_in("*4\r\n" + bulk("") + ":18000\r\n" + bulk("") + bulk("a mark"));
  EXPECT_FALSE(r.number);
  EXPECT_FALSE(r.is_unreadable);
  EXPECT_EQ(r.gone_for, 18s);
  EXPECT_EQ(r.seen, "a mark");
}

TEST(redlock_fitness, a_record_is_gone_unless_it_has_a_number_or_an_unreadable_one) {
  server_state s = long_running();
  EXPECT_FALSE(s.is_gone());
  s.record.number.reset();
  EXPECT_TRUE(s.is_gone());
  s.record.is_unreadable = true;
  EXPECT_FALSE(s.is_gone());
}

}  // namespace
}  // namespace holdfast::redis::redlock
