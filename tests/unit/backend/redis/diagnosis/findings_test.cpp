#include "backend/redis/diagnosis/findings.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using grade = finding_grade;

const std::string sound_info =
    "redis_version:7.0.15\r\nredis_mode:standalone\r\nconnected_clients:4\r\nmaxclients:10000\r\n"
    "used_memory:1000\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\nloading:0\r\n"
    "rdb_last_bgsave_status:ok\r\naof_enabled:1\r\naof_last_write_status:ok\r\nrole:master\r\n"
    "connected_slaves:0\r\n";

server_facts sound() {
  server_facts f;
  f.user = "lock";
  f.info.text = sound_info;
  f.fsync.text = "always";
  f.replicas_needed.text = "0";
  f.counter_key = "holdfast:n";
  f.has_transactions = true;
  f.channels = "hf:*";
  f.counter.text = "1000000000";
  f.now = server_time{1'000'000'000};
  f.trips = {200us, 300us};
  f.clock = clock_sample{2ms, 300us};
  f.op_timeout = 5s;
  f.required = {{"zadd", "ZADD k 0 m"},
                {"client|kill", "CLIENT KILL ID 0", needed_for::recovery},
                {"scan", "SCAN 0", needed_for::inspection}};
  f.rights.assign(3, fact{"QUEUED", ""});
  return f;
}

server_facts with(std::string_view line, std::string_view other) {
  server_facts f = sound();
  const auto at = f.info.text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  f.info.text.replace(at, line.size(), other);
  return f;
}

fact denied(const std::string& why) { return {"", "the server said \"NOPERM " + why + '"'}; }

grade worst(const std::vector<finding>& all) {
  grade out = grade::good;
  for (const finding& f : all) out = std::max(out, f.grade);
  return out;
}

TEST(redis_grading, of_a_sound_server_is_good_throughout_and_has_a_remedy_only_where_it_is_not) {
  const auto all = grade_all(sound());
  const char* const subjects[] = {"server", "eviction", "persistence", "replicas", "connections",
                                  "rights", "clock",    "latency",     "counter",  "layouts"};
  ASSERT_EQ(all.size(), std::size(subjects));
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].what, subjects[i]);
    EXPECT_EQ(all[i].grade, grade::good) << all[i].what << ": " << all[i].why;
    EXPECT_EQ(all[i].remedy, "");
    EXPECT_NE(all[i].why, "");
  }
}

TEST(redis_grading, what_cannot_be_read_is_a_finding_that_names_the_right) {
  server_facts f = sound();
  f.info = denied("this user has no permissions to run the 'info' command");
  for (const finding& one : {grade_server(f), grade_eviction(f), grade_persistence(f),
                             grade_replicas(f), grade_connections(f)}) {
    EXPECT_EQ(one.grade, grade::warn) << one.what;
    EXPECT_TRUE(one.why.starts_with("not known: ")) << one.why;
    EXPECT_NE(one.remedy.find("ACL SETUSER lock +info"), std::string::npos) << one.remedy;
  }
  f = sound();
  f.fsync = f.counter = f.pings = f.times = denied("...");
  for (const finding& one :
       {grade_persistence(f), grade_counter(f), grade_latency(f), grade_clock(f)}) {
    EXPECT_EQ(one.grade, grade::warn) << one.what;
    EXPECT_TRUE(one.why.starts_with("not known: ")) << one.why;
  }
}

TEST(redis_grading, of_versions) {
  const auto of = [](std::string_view v) {
    return grade_server(with("redis_version:7.0.15", v)).grade;
  };
  EXPECT_EQ(of("redis_version:4.0.14"), grade::bad);
  EXPECT_EQ(of("redis_version:5.0.0"), grade::warn);
  EXPECT_EQ(of("redis_version:6.0.16"), grade::warn);
  EXPECT_EQ(of("redis_version:6.2.0"), grade::good);
  EXPECT_EQ(of("redis_version:10.0.0"), grade::good);
  EXPECT_EQ(of("no_version:1"), grade::warn);
  const auto of_valkey = [](const std::string& mode) {
    return grade_server(with("redis_mode", "valkey_version:9.1.2\r\nserver_mode:" + mode + "\r\n"));
  };
  EXPECT_EQ(of_valkey("standalone").grade, grade::good);
  EXPECT_EQ(of_valkey("standalone").why, "Valkey 9.1.2");
  EXPECT_EQ(of_valkey("cluster").grade, grade::bad);
  EXPECT_EQ(grade_server(with("redis_mode:standalone", "redis_mode:cluster")).grade, grade::bad);
  EXPECT_EQ(grade_server(with("loading:0", "loading:1")).grade, grade::bad);
}

TEST(redis_grading, of_a_server_that_stores_no_locks_or_not_all_of_them) {
  EXPECT_EQ(grade_server(with("redis_mode:standalone", "redis_mode:sentinel")).grade, grade::bad);
  server_facts f = with("redis_mode:standalone", "redis_mode:cluster");
  f.is_in_cluster = true;
  EXPECT_EQ(grade_server(f).grade, grade::good);
  f.info.text = "redis_version:7.0.15\r\nredis_mode:standalone\r\nloading:1\r\n";
  EXPECT_EQ(grade_server(f).why, "Redis 7.0.15 is loading its data: nothing is granted until then");
}

TEST(redis_grading, shows_60_printable_characters_of_what_a_server_reports) {
  const std::string longest = "7.0." + std::string(56, '7');
  EXPECT_EQ(grade_server(with("7.0.15", longest + "8")).why, "Redis " + longest);
  EXPECT_EQ(grade_server(with("7.0.15", "7.0~ \x7f\x1f")).why, "Redis 7.0~ ??");
}

TEST(redis_grading, of_eviction) {
  EXPECT_EQ(grade_eviction(with("noeviction", "allkeys-lru")).grade, grade::good)
      << "without a maxmemory nothing is evicted";
  server_facts f = with("maxmemory:0", "maxmemory:10000");
  EXPECT_EQ(grade_eviction(f).grade, grade::good);
  f = with("used_memory:1000\r\nmaxmemory:0", "used_memory:9500\r\nmaxmemory:10000");
  EXPECT_EQ(grade_eviction(f).grade, grade::warn);
  f = with("maxmemory:0\r\nmaxmemory_policy:noeviction",
           "maxmemory:1\r\nmaxmemory_policy:volatile-ttl");
  EXPECT_EQ(grade_eviction(f).grade, grade::bad);
}

TEST(redis_grading, of_eviction_warns_above_nine_tenths_of_the_memory) {
  const auto with_used = [](const std::string& used) {
    return grade_eviction(with("used_memory:1000\r\nmaxmemory:0",
                               "used_memory:" + used + "\r\nmaxmemory:10000"))
        .grade;
  };
  EXPECT_EQ(with_used("9000"), grade::good);
  EXPECT_EQ(with_used("9001"), grade::warn);
  EXPECT_EQ(grade_eviction(with("maxmemory_policy:noeviction\r\n", "")).grade, grade::warn);
}

TEST(redis_grading, of_persistence) {
  server_facts f = sound();
  f.fsync.text = "everysec";
  EXPECT_EQ(grade_persistence(f).grade, grade::warn);
  f = with("aof_enabled:1", "aof_enabled:0");
  f.save.text = "3600 1";
  EXPECT_EQ(grade_persistence(f).grade, grade::warn);
  f.save.text = "";
  EXPECT_EQ(grade_persistence(f).grade, grade::bad);
  f.save = denied("...");
  EXPECT_TRUE(grade_persistence(f).why.starts_with("not known: "));
  EXPECT_EQ(grade_persistence(with("write_status:ok", "write_status:err")).grade, grade::bad);
  f = with("bgsave_status:ok", "bgsave_status:err");
  f.save.text = "3600 1";
  EXPECT_EQ(grade_persistence(f).grade, grade::bad);
}

TEST(redis_grading, of_a_snapshot_that_failed_is_good_where_there_are_to_be_none) {
  server_facts f = with("bgsave_status:ok", "bgsave_status:err");
  EXPECT_EQ(grade_persistence(f).grade, grade::good);
  f.save = denied("...");
  EXPECT_EQ(grade_persistence(f).grade, grade::good);
}

TEST(redis_grading, of_replicas) {
  EXPECT_EQ(grade_replicas(with("role:master", "role:slave")).grade, grade::bad);
  server_facts f = with("connected_slaves:0", "connected_slaves:2");
  EXPECT_EQ(grade_replicas(f).grade, grade::warn);
  f.replicas_needed = denied("...");
  EXPECT_TRUE(grade_replicas(f).why.starts_with("not known: "));
  f = with("connected_slaves:0", "connected_slaves:2\r\nmin_slaves_good_slaves:1");
  f.replicas_needed.text = "1";
  EXPECT_EQ(grade_replicas(f).grade, grade::good);
  f.replicas_needed.text = "2";
  EXPECT_EQ(grade_replicas(f).grade, grade::bad);
  f = with("connected_slaves:0", "connected_slaves:2");
  f.replicas_needed.text = "1";
  EXPECT_EQ(grade_replicas(f).grade, grade::good) << "the server does not count them";
}

TEST(redis_grading, of_replicas_counts_those_that_are_needed) {
  server_facts f = with("connected_slaves:0", "connected_slaves:2\r\nmin_slaves_good_slaves:2");
  f.replicas_needed.text = "1";
  EXPECT_TRUE(grade_replicas(f).why.starts_with("2 connected, 1 in sync for each write"));
  f = with("role:master", "role:slave");
  f.replicas_needed = denied("...");
  EXPECT_EQ(grade_replicas(f).grade, grade::bad);
  f = sound();
  f.replicas_needed = denied("...");
  EXPECT_EQ(grade_replicas(f).grade, grade::good) << "none is connected";
}

TEST(redis_grading, of_connections_leaves_a_tenth_and_three_free) {
  const auto of = [](const std::string& now, const std::string& most) {
    return grade_connections(with("connected_clients:4\r\nmaxclients:10000",
                                  "connected_clients:" + now + "\r\nmaxclients:" + most));
  };
  EXPECT_EQ(of("9", "12").grade, grade::good);
  EXPECT_EQ(of("9", "11").grade, grade::warn);
  EXPECT_EQ(of("100", "113").grade, grade::good);
  EXPECT_EQ(of("100", "112").grade, grade::warn);
  EXPECT_EQ(of("100", "113").why, "100 of 113 are open");
  EXPECT_EQ(of("9", "0").why, "9 are open");
}

TEST(redis_grading, of_connections) {
  EXPECT_EQ(grade_connections(with("connected_clients:4", "connected_clients:9998")).grade,
            grade::warn);
}

TEST(redis_grading, of_rights_names_each_and_says_what_follows) {
  server_facts f = sound();
  f.rights[0] = denied("this user has no permissions to run the 'zadd' command");
  f.rights[1] = denied("this user has no permissions to run the 'client|kill' command");
  const auto all = grade_rights(f);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].grade, grade::bad);
  EXPECT_NE(all[0].why.find("zadd"), std::string::npos);
  EXPECT_EQ(all[0].remedy, "ACL SETUSER lock +zadd");
  EXPECT_EQ(all[1].grade, grade::warn);
  EXPECT_NE(all[1].why.find("client|kill"), std::string::npos);
}

TEST(redis_grading, of_rights_names_all_that_one_thing_needs_together) {
  server_facts f = sound();
  f.required[2] = {"get", "GET k"};
  f.rights[0] = denied("this user has no permissions to run the 'zadd' command");
  f.rights[2] = denied("this user has no permissions to run the 'get' command");
  const auto all = grade_rights(f);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].why, "this user lacks zadd, get: acquires, waits or releases are refused");
  EXPECT_EQ(all[0].remedy, "ACL SETUSER lock +zadd +get");
}

TEST(redis_grading, of_rights_that_only_an_operator_or_a_log_misses_warns) {
  for (const needed_for what :
       {needed_for::recovery, needed_for::comparison, needed_for::inspection, needed_for::cleanup,
        needed_for::identification, needed_for::scripts, needed_for::messages_in_cluster}) {
    server_facts f = sound();
    f.required[0].what = what;
    f.rights[0] = denied("this user has no permissions to run the 'zadd' command");
    ASSERT_EQ(grade_rights(f).size(), 1u);
    EXPECT_EQ(grade_rights(f)[0].grade, grade::warn) << static_cast<int>(what);
  }
}

TEST(redis_grading, of_a_denial_without_further_words_is_of_the_command) {
  server_facts f = sound();
  f.rights[0] = denied("no");
  EXPECT_EQ(grade_rights(f).at(0).remedy, "ACL SETUSER lock +zadd");
}

TEST(redis_grading, of_rights_to_keys_and_channels) {
  server_facts f = sound();
  f.rights[0] = denied("No permissions to access a key");
  EXPECT_EQ(worst(grade_rights(f)), grade::bad);
  EXPECT_EQ(grade_rights(f).at(0).remedy, "ACL SETUSER lock ~holdfast:*");
  f.counter_key = {};
  EXPECT_EQ(worst(grade_rights(f)), grade::good) << "the key of the call is not needed";
  f.rights[0] = denied("No permissions to access a channel");
  EXPECT_EQ(grade_rights(f).at(0).grade, grade::bad);
  EXPECT_EQ(grade_rights(f).at(0).remedy, "ACL SETUSER lock &hf:*");
  f.counts_by_lock = true;
  f.channels = "of:*";
  EXPECT_EQ(grade_rights(f).at(0).grade, grade::warn) << "its own locks' channels may be enough";
  EXPECT_EQ(grade_rights(f).at(0).remedy, "ACL SETUSER lock &of:*");
  f.rights[0] = {};
  EXPECT_EQ(worst(grade_rights(f)), grade::good);
}

TEST(redis_grading, of_rights_that_were_not_tried) {
  server_facts f = sound();
  f.rights.clear();
  EXPECT_EQ(worst(grade_rights(f)), grade::warn);
  f.transactions = denied("this user has no permissions to run the 'exec' command");
  EXPECT_EQ(worst(grade_rights(f)), grade::bad);
  f.has_transactions = false;
  EXPECT_EQ(worst(grade_rights(f)), grade::warn) << "the layout does not need them";
}

TEST(redis_grading, of_an_error_that_is_no_right_is_good) {
  server_facts f = sound();
  f.rights[0].refusal = "the server said \"OOM command not allowed\"";
  EXPECT_EQ(worst(grade_rights(f)), grade::good);
}

TEST(redis_grading, of_clocks_counts_what_the_round_trip_cannot_explain) {
  server_facts f = sound();
  f.clock = clock_sample{-2s, 1ms};
  EXPECT_EQ(grade_clock(f).grade, grade::warn);
  EXPECT_NE(grade_clock(f).why.find("2000 ms behind"), std::string::npos) << grade_clock(f).why;
  f.clock = clock_sample{2s, 2s};
  EXPECT_EQ(grade_clock(f).grade, grade::good);
  f.clock.reset();
  EXPECT_TRUE(grade_clock(f).why.starts_with("not known: "));
}

TEST(redis_grading, of_clocks_warns_from_more_than_a_second_on) {
  server_facts f = sound();
  f.clock = clock_sample{1s + 20ms, 40ms};
  EXPECT_EQ(grade_clock(f).grade, grade::good);
  EXPECT_EQ(grade_clock(f).why, "the server's clock is 1020 ms ahead of this machine's (to 20 ms)");
  f.clock = clock_sample{1s + 20ms + 1us, 40ms};
  EXPECT_EQ(grade_clock(f).grade, grade::warn);
  f.clock = clock_sample{-1s - 20ms, 40ms};
  EXPECT_EQ(grade_clock(f).grade, grade::good);
  f.clock.reset();
  EXPECT_EQ(grade_clock(f).why, "not known: TIME did not return a time");
  EXPECT_EQ(grade_clock(f).remedy, "ACL SETUSER lock +time");
}

TEST(redis_grading, of_round_trips_shows_the_shortest_and_the_longest) {
  server_facts f = sound();
  f.trips = {9990us, 50us, 10ms};
  EXPECT_EQ(grade_latency(f).why, "3 round trips took 0.05 ms to 10 ms");
  f.trips = {9990us};
  EXPECT_EQ(grade_latency(f).why, "1 round trips took 9.99 ms to 9.99 ms");
  f.trips.clear();
  EXPECT_EQ(grade_latency(f).why, "not known: no PING was sent");
  EXPECT_EQ(grade_latency(f).remedy, "ACL SETUSER lock +ping");
}

TEST(redis_grading, of_round_trips_is_good_up_to_100_ms_and_bad_above_half_of_the_op_timeout) {
  const auto of = [](duration trip, duration op_timeout) {
    server_facts f = sound();
    f.trips = {trip};
    f.op_timeout = op_timeout;
    return grade_latency(f).grade;
  };
  EXPECT_EQ(of(100ms, 5s), grade::good);
  EXPECT_EQ(of(101ms, 5s), grade::warn);
  EXPECT_EQ(of(101ms, 202ms), grade::warn);
  EXPECT_EQ(of(102ms, 202ms), grade::bad);
}

TEST(redis_grading, of_the_slowest_round_trip) {
  server_facts f = sound();
  f.trips.push_back(150ms);
  EXPECT_EQ(grade_latency(f).grade, grade::warn);
  f.op_timeout = 200ms;
  EXPECT_EQ(grade_latency(f).grade, grade::bad);
}

TEST(redis_grading, of_the_counter_beside_the_clock) {
  const auto of = [](std::string text) {
    server_facts f = sound();
    f.counter.text = std::move(text);
    return grade_counter(f).grade;
  };
  EXPECT_EQ(of(""), grade::good);
  EXPECT_EQ(of("5"), grade::good);
  EXPECT_EQ(of("1000500000"), grade::warn);
  EXPECT_EQ(of("1002000000"), grade::bad);
  EXPECT_EQ(of("9223372036854775807"), grade::bad);
  EXPECT_EQ(of("-9223372036854775808"), grade::good);
  EXPECT_EQ(of("99999999999999999999"), grade::bad);
  EXPECT_EQ(of("12x"), grade::bad);
  server_facts f = sound();
  f.counter_key = {};
  EXPECT_EQ(grade_counter(f).grade, grade::warn);
  f.counts_by_lock = true;
  EXPECT_EQ(grade_counter(f).grade, grade::good);
  f.counts_by_lock = false;
  f.counts_by_server = true;
  EXPECT_EQ(grade_counter(f).grade, grade::good);
}

TEST(redis_grading, of_the_counter_that_is_ahead_of_the_clock) {
  const auto of = [](std::string text) {
    server_facts f = sound();
    f.counter.text = std::move(text);
    return grade_counter(f);
  };
  EXPECT_EQ(of("1000100000").grade, grade::good);
  EXPECT_EQ(of("1000100001").grade, grade::warn);
  EXPECT_EQ(of("1001000000").grade, grade::warn);
  EXPECT_EQ(of("1001000001").grade, grade::bad);
  EXPECT_TRUE(of("1000500000").why.starts_with("the tokens' counter is 500 ms ahead"));
}

TEST(redis_grading, of_a_counter_that_cannot_be_compared) {
  server_facts f = sound();
  f.now = server_time::zero();
  EXPECT_EQ(grade_counter(f).why, "not known: TIME is not known");
  EXPECT_EQ(grade_counter(f).remedy, "ACL SETUSER lock +get +time ~holdfast:*");
  f.counts_by_slot = true;
  EXPECT_EQ(grade_counter(f).grade, grade::good);
}

TEST(redis_grading, five_names_of_several_layouts_are_shown) {
  server_facts f = sound();
  f.several_layouts = {"a", "b", "c", "d", "e"};
  EXPECT_TRUE(grade_layouts(f).why.ends_with(": a, b, c, d, e")) << grade_layouts(f).why;
  f.several_layouts.push_back("f");
  EXPECT_TRUE(grade_layouts(f).why.ends_with(": a, b, c, d, e ...")) << grade_layouts(f).why;
}

TEST(redis_grading, of_layouts_says_whether_all_keys_were_read) {
  server_facts f = sound();
  EXPECT_EQ(grade_layouts(f).why,
            "no name has locks of two layouts among the first keys of the server");
  f.all_keys = true;
  EXPECT_EQ(grade_layouts(f).why, "no name has locks of two layouts");
}

TEST(redis_grading, names_of_several_layouts_are_bad_and_shown) {
  server_facts f = sound();
  f.all_keys = true;
  EXPECT_EQ(grade_layouts(f).grade, finding_grade::good);
  f.several_layouts = {"a (getset, string)"};
  EXPECT_EQ(grade_layouts(f).grade, finding_grade::bad);
  EXPECT_NE(grade_layouts(f).why.find("a (getset, string)"), std::string::npos);
  f.keys.refusal = "NOPERM";
  EXPECT_EQ(grade_layouts(f).grade, finding_grade::warn);
}

}  // namespace
}  // namespace holdfast::redis
