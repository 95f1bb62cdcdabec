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
