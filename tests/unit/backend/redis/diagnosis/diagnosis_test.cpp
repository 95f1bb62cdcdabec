// The requests of a diagnosis, in their order; the test plays the server.
#include "backend/redis/diagnosis/diagnosis.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::redis {
namespace {

struct kept_findings final : seam::findings_handler {
  void on_result(std::vector<finding> found) override {
    ++answers;
    all = std::move(found);
  }
  void on_failed(base::failure f) override {
    ++answers;
    why = std::move(f);
  }
  const finding& of(std::string_view what) const {
    static const finding none{};
    for (const finding& f : all)
      if (f.what == what) return f;
    ADD_FAILURE() << what;
    return none;
  }

  int answers = 0;
  std::vector<finding> all;
  base::failure why;
};

constexpr required_command commands_of_layout[] = {{"zadd", "ZADD k 0 m"},
                                                   {"ping", "PING"},
                                                   {"ssubscribe", "SSUBSCRIBE c",
                                                    needed_for::messages_in_cluster}};
constexpr layout_needs needs_of_layouts[] =
    {{.commands = commands_of_layout, .counter = "holdfast:n", .has_transactions = true},
     {.commands = commands_of_layout, .counter = "other:n", .channels = "redisson:*"}};

const std::string refused_call = "-ERR wrong number of arguments for 'get' command\r\n",
                  transaction_discarded =
                      "-EXECABORT Transaction discarded because of previous errors.\r\n",
                  no_multi = "-ERR EXEC without MULTI\r\n";

std::string no_right_to(const std::string& name) {
  return "-NOPERM this user has no permissions to run the '" + name + "' command\r\n";
}

class redis_diagnosis : public two_transports {
 protected:
  void start(std::span<const layout_needs> needs = needs_of_layouts, bool is_in_cluster = false) {
    open(one);
    greet(0);
    start_diagnosis(one, first, needs, is_in_cluster, found);
  }
  std::string asked() { return net.received(0); }
  void answer(const std::string& bytes) { net.reply(0, bytes); }
  void answer_facts(const std::string& to_exec = no_multi, const std::string& counter = "7") {
    const auto option = [](const std::string& name, const std::string& value_of_it) {
      return "*2\r\n" + bulk(name) + bulk(value_of_it);
    };
    answer(bulk("redis_version:7.0.15\r\nredis_mode:standalone\r\nmaxmemory:0\r\n"
                "maxmemory_policy:noeviction\r\naof_enabled:1\r\nrole:master\r\n") +
           option("appendfsync", "always") + option("save", "3600 1") +
           option("min-replicas-to-write", "0") + to_exec + (counter.empty() ? "" : bulk(counter)));
  }
  // From the PINGs on, all of it at once and without a fault.
  void answer_measures() {
    while (asked() == "PING") answer("+PONG\r\n");
    answer("*2\r\n" + bulk("0") + "*0\r\n");
    answer_times();
  }
  void answer_times() {
    while (found.answers == 0 && asked() == "TIME")
      answer("*2\r\n" + bulk("1700000000") + bulk("0"));
  }
  void TearDown() override {
    if (found.answers == 0) net.close(0);  // each diagnosis is answered
  }

  kept_findings found;
};

TEST_F(redis_diagnosis, asks_for_facts_rights_and_measures_and_answers_once) {
  start();
  EXPECT_EQ(asked(),
            "INFO | CONFIG GET appendfsync | CONFIG GET save | CONFIG GET min-replicas-to-write | "
            "EXEC | GET holdfast:n");
  answer_facts();
  EXPECT_EQ(asked(), "MULTI | GET | EXEC");
  answer("+OK\r\n" + refused_call + transaction_discarded);
  EXPECT_EQ(asked(),
            "MULTI | GET | PING | TIME | EVALSHA 0000000000000000000000000000000000000000 0 | "
            "EVAL return 0 | SCRIPT LOAD return | CLIENT SETNAME holdfast | CLIENT ID | "
            "CLIENT INFO | CLIENT KILL ID 0 | INFO server | ZADD k 0 m | EXEC");
  std::string queued;
  for (int i = 0; i < 10; ++i) queued += "+QUEUED\r\n";
  answer("+OK\r\n" + refused_call + queued + no_right_to("zadd") + transaction_discarded);
  answer_measures();
  EXPECT_EQ(found.answers, 1);
  for (const char* what : {"server", "eviction", "persistence", "replicas", "connections", "clock",
                           "latency", "counter", "layouts"})
    EXPECT_EQ(found.of(what).grade, finding_grade::good) << found.of(what).why;
  EXPECT_EQ(found.of("rights").remedy, "ACL SETUSER default +zadd");
}

TEST_F(redis_diagnosis, names_the_user_of_the_url) {
  endpoint e = first;
  e.user = "me";
  open(one);
  greet(0);
  start_diagnosis(one, e, needs_of_layouts, false, found);
  asked();
  answer_facts(no_right_to("exec"));
  answer_measures();
  EXPECT_EQ(found.of("rights").remedy, "ACL SETUSER me +multi +exec");
}

TEST_F(redis_diagnosis, of_a_cluster_asks_for_the_rights_to_its_messages_too) {
  start(needs_of_layouts, true);
  asked();
  answer_facts();
  asked();
  answer("+OK\r\n" + refused_call + transaction_discarded);
  EXPECT_NE(asked().find("ZADD k 0 m | SSUBSCRIBE c | EXEC"), std::string::npos);
}

TEST_F(redis_diagnosis, of_a_cluster_knows_that_each_slot_has_a_counter) {
  const layout_needs by_slot[] = {{.commands = commands_of_layout, .counts_by_slot = true}};
  start(by_slot, true);
  asked();
  answer_facts(no_right_to("exec"), "");
  answer_measures();
  EXPECT_EQ(found.of("counter").why, "each slot of the cluster has a counter of its own");
}

class redis_joint_diagnosis : public redis_diagnosis {
 protected:
  // Examines two servers after the connection to the second one was lost.
  void examine_both(bool are_in_cluster) {
    have_both();
    net.close(1);
    transport* const nodes[] = {&one, &two};
    start_diagnosis(nodes, {"first", "second"}, first, needs_of_layouts, are_in_cluster, found);
    asked();
    answer_facts(no_right_to("exec"));
    answer_measures();
  }
};

TEST_F(redis_joint_diagnosis, says_which_server_of_a_cluster_cannot_be_used) {
  examine_both(true);
  EXPECT_EQ(std::ranges::count(found.all, "second cannot be used: no connection: closed",
                               &finding::why),
            1);
}

TEST_F(redis_joint_diagnosis, says_which_of_several_masters_does_not_vote) {
  examine_both(false);
  EXPECT_EQ(found.of("vote").why, "second does not vote: no connection: closed");
}

TEST_F(redis_diagnosis, without_exec_begins_no_transaction) {
  start();
  asked();
  answer_facts(no_right_to("exec"));
  answer_measures();
  EXPECT_EQ(found.of("rights").grade, finding_grade::bad);
  EXPECT_NE(found.of("rights").why.find("lacks multi or exec"), std::string::npos);
}

TEST_F(redis_diagnosis, of_a_layout_without_transactions_only_warns_where_they_are_denied) {
  start(std::span(needs_of_layouts).last(1));
  EXPECT_TRUE(asked().ends_with("EXEC | GET other:n"));
  answer_facts(no_right_to("exec"));
  answer_measures();
  EXPECT_EQ(found.of("rights").grade, finding_grade::warn);
}

TEST_F(redis_diagnosis, without_multi_calls_no_command_for_its_right) {
  start();
  asked();
  answer_facts();
  asked();
  answer(no_right_to("multi") + refused_call + no_multi);
  answer_measures();
  EXPECT_EQ(found.of("rights").grade, finding_grade::bad);
}

TEST_F(redis_diagnosis, where_a_transaction_is_not_discarded_calls_no_command_for_its_right) {
  start();
  asked();
  answer_facts();
  asked();
  answer("+OK\r\n+QUEUED\r\n*1\r\n$-1\r\n");
  answer_measures();
  EXPECT_EQ(found.of("rights").why, "not known: transactions did not work as expected");
}

TEST_F(redis_diagnosis, pings_five_times_and_reports_the_longest_round_trip) {
  start({});
  EXPECT_TRUE(asked().ends_with(" | EXEC")) << "no layout has a counter";
  answer_facts(no_right_to("exec"), "");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(asked(), "PING");
    net.time.freeze(i == 2 ? 150ms : 20ms);
    answer("+PONG\r\n");
  }
  EXPECT_EQ(asked(), "SCAN 0 COUNT 1000");
  answer("*2\r\n" + bulk("0") + "*0\r\n");
  answer_times();
  EXPECT_EQ(found.of("latency").grade, finding_grade::warn);
  EXPECT_TRUE(found.of("latency").why.starts_with("5 round trips took 20 ms to 150 ms"))
      << found.of("latency").why;
}

TEST_F(redis_diagnosis, repeats_no_measure_that_the_user_may_not_take) {
  start();
  asked();
  answer_facts(no_right_to("exec"));
  EXPECT_EQ(asked(), "PING");
  answer(no_right_to("ping"));
  EXPECT_EQ(asked(), "SCAN 0 COUNT 1000");
  answer(no_right_to("scan"));
  EXPECT_EQ(asked(), "TIME");
  answer(no_right_to("time"));
  EXPECT_EQ(found.answers, 1);
  for (const char* what : {"latency", "layouts", "clock"})
    EXPECT_TRUE(found.of(what).why.starts_with("not known: the server answered \"NOPERM")) << what;
}

TEST_F(redis_diagnosis, scans_until_all_keys_are_read) {
  start();
  asked();
  answer_facts(no_right_to("exec"));
  while (asked() == "PING") answer("+PONG\r\n");
  answer("*2\r\n" + bulk("7") + "*2\r\n" + bulk("x") + bulk("holdfast:{a}:a:m"));
  EXPECT_EQ(asked(), "SCAN 7 COUNT 1000");
  answer("*2\r\n" + bulk("0") + "*1\r\n" + bulk("a.lock"));
  answer_times();
  EXPECT_TRUE(found.of("layouts").why.ends_with(": a (getset, string)"));
}

TEST_F(redis_diagnosis, scans_twenty_times_at_most) {
  start();
  asked();
  answer_facts(no_right_to("exec"));
  while (asked() == "PING") answer("+PONG\r\n");
  int scans = 0;
  std::string request = "SCAN 7 COUNT 1000";
  for (; request == "SCAN 7 COUNT 1000" && scans < 99; request = asked()) {
    answer("*2\r\n" + bulk("7") + "*0\r\n");
    ++scans;
  }
  EXPECT_EQ(scans, 20);
  EXPECT_EQ(request, "TIME");
  answer("*0\r\n");
  answer_times();
  EXPECT_TRUE(found.of("layouts").why.ends_with("among the first keys of the server"));
}

TEST_F(redis_diagnosis, believes_the_quickest_of_three_samples_of_the_clock) {
  start();
  asked();
  answer_facts(no_right_to("exec"));
  while (asked() == "PING") answer("+PONG\r\n");
  answer("*2\r\n" + bulk("0") + "*0\r\n");
  const auto sample = [&](base::duration trip, const char* seconds) {
    EXPECT_EQ(asked(), "TIME");
    net.time.freeze(trip);
    answer("*2\r\n" + bulk(seconds) + bulk("0"));
  };
  sample(40ms, "1700000300");
  sample(10ms, "1700000005");
  EXPECT_EQ(found.answers, 0);
  sample(20ms, "1700000300");
  EXPECT_EQ(found.answers, 1);
  EXPECT_TRUE(found.of("clock").why.starts_with("the server's clock is 4955 ms ahead of"))
      << found.of("clock").why;
}

TEST_F(redis_diagnosis, without_a_connection_fails_at_once) {
  start_diagnosis(one, first, needs_of_layouts, false, found);
  EXPECT_EQ(found.answers, 1);
  EXPECT_EQ(found.why.code, errc::unavailable);
  EXPECT_EQ(net.lines.size(), 1u) << "a connection is opened for the next one";
}

TEST_F(redis_diagnosis, fails_once_where_the_connection_is_lost) {
  start();
  asked();
  net.close(0);
  EXPECT_EQ(found.answers, 1);
  EXPECT_EQ(found.why.text, "the connection was lost");
}

TEST_F(redis_diagnosis, of_a_replica_does_not_leave_it) {
  start();
  asked();
  answer_facts("-READONLY You can't write against a read only replica.\r\n");
  EXPECT_TRUE(is_ready(lane::commands));
}

}  // namespace
}  // namespace holdfast::redis
