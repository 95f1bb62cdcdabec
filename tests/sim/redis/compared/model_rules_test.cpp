// Rules of the model of Redis that a comparison with the real one does not reach: time, restarts,
// states of the server, the order of what is delivered.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/sim/redis/compared/two_servers.hpp"
#include "tests/sim/redis/model/model_redis.hpp"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

struct sim_model_rules : testing::Test {
  // One end of a connection. What is delivered to any of them is noted in `all` too.
  struct end final : peer {
    explicit end(sim_model_rules& t) : test(t), handle(t.model.connect(*this)) {}
    void deliver(std::string_view bytes) override {
      got += bytes;
      test.order.push_back(this);
    }
    void kicked() override { ++kicks; }
    // Sends a command and returns what was delivered.
    std::string say(const command_words& words) {
      got.clear();
      test.model.receive(handle, encoded(words));
      return got;
    }
    sim_model_rules& test;
    std::string got;
    int kicks = 0;
    int handle;
  };

  std::chrono::microseconds wall = 1'700'000'000s;
  model_redis model{[this] { return wall; }};
  std::vector<end*> order;
};

TEST_F(sim_model_rules, a_key_lapses_after_its_last_millisecond) {
  end one(*this);
  EXPECT_EQ(one.say({"SET", "k", "v", "PX", "100"}), "+OK\r\n");
  wall += 99ms;
  EXPECT_EQ(one.say({"PTTL", "k"}), ":1\r\n");
  wall += 1ms;
  EXPECT_EQ(one.say({"GET", "k"}), "$1\r\nv\r\n");
  EXPECT_EQ(one.say({"SET", "k", "w", "NX"}), "$-1\r\n");
  wall += 1ms;
  EXPECT_EQ(one.say({"PTTL", "k"}), ":-2\r\n");
  EXPECT_EQ(one.say({"SET", "k", "w", "NX"}), "+OK\r\n");
}

TEST_F(sim_model_rules, a_clock_set_back_makes_a_lease_longer_and_one_set_forward_ends_it) {
  end one(*this);
  one.say({"SET", "k", "v", "PX", "10000"});
  wall -= 1h;
  EXPECT_EQ(one.say({"PTTL", "k"}), ":3610000\r\n");
  wall += 2h;
  wall -= 2h;
  EXPECT_EQ(one.say({"EXISTS", "k"}), ":1\r\n") << "nobody looked while it was lapsed";
  wall += 2h;
  model.expire_due();
  wall -= 2h;
  EXPECT_EQ(one.say({"EXISTS", "k"}), ":0\r\n");
}

TEST_F(sim_model_rules, time_stands_still_in_a_script_and_in_a_group) {
  end one(*this);
  int asked = 0;
  model_redis ticking{[&] { return 1'700'000'000s + std::chrono::microseconds(++asked); }};
  struct silent final : peer {
    void deliver(std::string_view) override {}
    void kicked() override {}
  } nobody;
  const int handle = ticking.connect(nobody);
  const std::string_view script[] = {"EVAL",
                                     "return redis.call('TIME')[2] == redis.call('TIME')[2]", "0"};
  EXPECT_EQ(ticking.execute(handle, script), ":1\r\n");
  const std::string_view multi[] = {"MULTI"}, time[] = {"TIME"}, exec[] = {"EXEC"};
  for (const auto command : {std::span(multi), std::span(time), std::span(time)})
    ticking.execute(handle, command);
  const std::string both = ticking.execute(handle, exec);
  EXPECT_EQ(both.substr(4, (both.size() - 4) / 2), both.substr(4 + (both.size() - 4) / 2)) << both;
}

TEST_F(sim_model_rules, a_restart_kicks_all_forgets_scripts_and_counts_clients_from_the_start) {
  end one(*this), two(*this);
  EXPECT_EQ(one.say({"CLIENT", "ID"}), ":3\r\n");
  EXPECT_EQ(two.say({"CLIENT", "ID"}), ":4\r\n");
  one.say({"SET", "k", "v"});
  one.say({"EVAL", "return 7", "0"});
  const std::string run_id = model.run_id();
  model.restart(kept::everything);
  EXPECT_EQ(one.kicks, 1);
  EXPECT_EQ(two.kicks, 1);
  EXPECT_NE(model.run_id(), run_id);
  EXPECT_EQ(one.say({"GET", "k"}), "") << "a closed connection says nothing";
  end three(*this);
  EXPECT_EQ(three.say({"CLIENT", "ID"}), ":3\r\n");
  EXPECT_EQ(three.say({"GET", "k"}), "$1\r\nv\r\n");
  const std::string sha = "44dec09fc27bd59bbb0bcb96aeba6ba3d79ae187";
  EXPECT_EQ(three.say({"EVALSHA", sha, "0"}), "-NOSCRIPT No matching script. Please use EVAL.\r\n");
  EXPECT_NE(three.say({"INFO", "server"}).find("run_id:" + model.run_id()), std::string::npos);
}

TEST_F(sim_model_rules, a_restart_keeps_all_or_what_was_saved_or_nothing) {
  end one(*this);
  one.say({"SET", "a", "1"});
  model.save();
  one.say({"SET", "b", "2"});
  model.restart(kept::everything);
  EXPECT_EQ(model.keys(), 2u);
  model.restart(kept::what_was_saved);
  EXPECT_EQ(model.keys(), 1u);
  model.restart(kept::nothing);
  EXPECT_EQ(model.keys(), 0u);
}

TEST_F(sim_model_rules, messages_go_out_before_the_answer_of_the_script_that_sent_them) {
  end listener(*this), caller(*this);
  listener.say({"SUBSCRIBE", "c"});
  listener.got.clear();
  order.clear();
  const std::string twice =
      "redis.call('PUBLISH', 'c', 'x') return redis.call('PUBLISH', 'c', 'y')";
  EXPECT_EQ(caller.say({"EVAL", twice, "0"}), ":1\r\n");
  EXPECT_EQ(order, (std::vector<end*>{&listener, &caller}));
  EXPECT_EQ(listener.got, "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n"
                          "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\ny\r\n");
}

TEST_F(sim_model_rules, one_delivery_has_the_answers_to_all_that_came_together) {
  end one(*this);
  const std::string both = encoded({"INCR", "n"}) + encoded({"INCR", "n"});
  model.receive(one.handle, both.substr(0, both.size() - 3));
  EXPECT_EQ(one.got, ":1\r\n");
  model.receive(one.handle, both.substr(both.size() - 3));
  EXPECT_EQ(one.got, ":1\r\n:2\r\n");
  one.got.clear();
  order.clear();
  model.receive(one.handle, both);
  EXPECT_EQ(order.size(), 1u);
  EXPECT_EQ(one.got, ":3\r\n:4\r\n");
}

TEST_F(sim_model_rules, a_killed_connection_runs_nothing_more) {
  end one(*this), two(*this);
  const std::string half = encoded({"SET", "k", "v"});
  model.receive(two.handle, half.substr(0, 10));
  EXPECT_EQ(one.say({"CLIENT", "KILL", "ID", "4"}), ":1\r\n");
  EXPECT_EQ(two.kicks, 1);
  model.receive(two.handle, half.substr(10));
  model.receive(two.handle, half);
  EXPECT_EQ(model.keys(), 0u);
  EXPECT_EQ(one.say({"CLIENT", "KILL", "ID", "4"}), ":0\r\n");
}

TEST_F(sim_model_rules, a_client_may_kill_itself_and_gets_the_reply) {
  end one(*this);
  EXPECT_EQ(one.say({"CLIENT", "KILL", "ID", "3", "SKIPME", "no"}), ":1\r\n");
  EXPECT_EQ(one.kicks, 1);
}

TEST_F(sim_model_rules, a_disconnected_listener_is_no_receiver) {
  end listener(*this), caller(*this);
  listener.say({"SUBSCRIBE", "c"});
  EXPECT_EQ(caller.say({"PUBLISH", "c", "x"}), ":1\r\n");
  model.disconnect(listener.handle);
  EXPECT_EQ(caller.say({"PUBLISH", "c", "x"}), ":0\r\n");
  EXPECT_EQ(listener.kicks, 0);
}

TEST_F(sim_model_rules, a_password_is_wanted_before_anything_else) {
  model.require_password("default", "secret");
  model.require_password("lock", "other");
  end one(*this);
  EXPECT_EQ(one.say({"GET", "k"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(one.say({"AUTH", "wrong"}),
            "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  EXPECT_EQ(one.say({"AUTH", "secret"}), "+OK\r\n");
  EXPECT_EQ(one.say({"GET", "k"}), "$-1\r\n");
  end two(*this);
  EXPECT_EQ(two.say({"AUTH", "lock", "other"}), "+OK\r\n");
}

TEST_F(sim_model_rules, a_forbidden_command_is_refused_also_in_scripts_and_groups) {
  model.forbid("client|kill");
  model.forbid("publish");
  end one(*this);
  EXPECT_EQ(one.say({"CLIENT", "KILL", "ID", "9"}),
            "-NOPERM this user has no permissions to run the 'client|kill' command\r\n");
  EXPECT_EQ(one.say({"EVAL", "return redis.pcall('PUBLISH', 'c', 'x')", "0"}),
            "-ERR The user executing the script can't run this command or subcommand\r\n");
  one.say({"MULTI"});
  one.say({"PUBLISH", "c", "x"});
  EXPECT_EQ(one.say({"EXEC"}), "-EXECABORT Transaction discarded because of previous errors.\r\n");
}

TEST_F(sim_model_rules, a_server_in_trouble_refuses_what_it_must_and_no_more) {
  end one(*this);
  one.say({"SET", "k", "v"});
  model.set_disk_full(true);
  EXPECT_EQ(one.say({"DEL", "k"}).substr(0, 8), "-MISCONF");
  EXPECT_EQ(one.say({"PING"}).substr(0, 8), "-MISCONF");
  EXPECT_EQ(one.say({"EVAL", "return redis.call('DEL', 'k')", "0"}).substr(0, 8), "-MISCONF");
  EXPECT_EQ(one.say({"GET", "k"}), "$1\r\nv\r\n");
  model.set_disk_full(false);
  model.set_loading(true);
  EXPECT_EQ(one.say({"GET", "k"}), "-LOADING Redis is loading the dataset in memory\r\n");
  EXPECT_EQ(one.say({"CLIENT", "ID"}), ":3\r\n");
  model.set_loading(false);
  model.set_maxclients(1);
  end two(*this);
  EXPECT_EQ(two.got, "-ERR max number of clients reached\r\n");
  EXPECT_EQ(two.kicks, 1);
}

}  // namespace
}  // namespace holdfast::sim
