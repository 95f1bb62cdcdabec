// A real server in a state in which it refuses requests answers as the model does.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "testkit/servers/redis_server.hpp"
#include "tests/sim/redis/compared/raw_socket.hpp"
#include "tests/sim/redis/compared/two_servers.hpp"
#include "tests/sim/redis/model/model_redis.hpp"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using testkit::redis_link;
using testkit::redis_options;
using testkit::redis_server;

struct sim_refusals : testing::Test {
  void SetUp() override {
    if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  }
};

struct collecting_peer final : peer {
  void deliver(std::string_view bytes) override { got += bytes; }
  void kicked() override {}
  std::string got;
};

std::string requests(bool in_scripts) {
  std::vector<command_words> all = {{"SET", "k", "v"},
                                    {"GET", "k"},
                                    {"PUBLISH", "c", "m"},
                                    {"CLIENT", "GETNAME"},
                                    {"MULTI"},
                                    {"SET", "k", "v"},
                                    {"EXEC"},
                                    {"MULTI"},
                                    {"GET", "k"},
                                    {"EXEC"},
                                    {"EXISTS", "k"},
                                    {"SUBSCRIBE", "c"},
                                    {"UNSUBSCRIBE", "c"},
                                    {"ZADD", "q", "1", "a"}};
  if (in_scripts)
    for (const char* text : {"return 1", "return redis.pcall('SET', KEYS[1], 'v').err",
                             "return redis.call('SET', KEYS[1], 'v')"})
      all.push_back({"EVAL", text, "1", "k"});
  all.push_back({"QUIT"});
  std::string out;
  for (const command_words& one : all) out += encoded(one);
  return out;
}

// Both get the same requests, one of each connection, until the server closes it.
void expect_same_answers(const redis_server& real, model_redis& model, const char* code,
                         bool in_scripts = true) {
  const std::string bytes = requests(in_scripts);
  raw_socket to_real(real.socket_path());
  to_real.write(bytes);
  const std::string answered = to_real.read_until("\n the connection is closed");
  EXPECT_NE(answered.find(code), std::string::npos) << answered;
  collecting_peer end;
  model.receive(model.connect(end), bytes);
  EXPECT_EQ(end.got, answered);
}

struct pair_of_servers {
  explicit pair_of_servers(const redis_options& o = {}) : real(o) {}
  void configure(const std::string& option, const std::string& value) {
    const auto reply = real.command({"CONFIG", "SET", option, value});
    ASSERT_FALSE(reply.is_error()) << reply.text;
  }
  redis_server real;
  model_redis model{[] { return std::chrono::microseconds(1'700'000'000s); }};
};

TEST_F(sim_refusals, of_a_master_with_too_few_replicas_are_those_of_the_model) {
  pair_of_servers both;
  both.configure("min-replicas-to-write", "1");
  both.model.set_too_few_replicas(true);
  expect_same_answers(both.real, both.model, "-NOREPLICAS");
}

TEST_F(sim_refusals, of_a_replica_without_its_master_are_those_of_the_model) {
  pair_of_servers both;
  both.configure("replica-serve-stale-data", "no");
  both.real.command({"REPLICAOF", "127.0.0.1", "1"});
  both.model.set_readonly(true);
  both.model.set_stale(true);
  expect_same_answers(both.real, both.model, "-MASTERDOWN", false);
}

TEST_F(sim_refusals, of_a_server_that_runs_a_long_script_are_those_of_the_model) {
  pair_of_servers both;
  both.configure("lua-time-limit", "1");
  redis_link runs = both.real.link();
  runs.send({"EVAL", "while true do end", "0"});
  testkit::redis_reply last;
  for (int i = 0; i < 10'000 && !last.text.starts_with("BUSY"); ++i)
    last = both.real.command({"PING"});
  ASSERT_TRUE(last.text.starts_with("BUSY")) << to_text(last);
  both.model.set_busy(true);
  expect_same_answers(both.real, both.model, "-BUSY");
  both.real.command({"SCRIPT", "KILL"});
}

TEST_F(sim_refusals, of_a_node_of_a_cluster_that_is_down_are_those_of_the_model) {
  redis_options options;
  options.config = {"cluster-enabled yes"};
  pair_of_servers both(options);
  const auto reply = both.real.command({"CLUSTER", "ADDSLOTSRANGE", "1", "16383"});
  if (reply.is_error()) GTEST_SKIP() << reply.text;  // older than 7.0
  both.model.set_cluster_down(true);
  expect_same_answers(both.real, both.model, "-CLUSTERDOWN");
}

TEST_F(sim_refusals, of_a_user_without_rights_are_those_of_the_model) {
  pair_of_servers both;
  const std::vector<std::string> words = {"ACL",      "SETUSER", "default",   "-publish",
                                          "-evalsha", "-eval",   "-subscribe"};
  both.real.command(words);
  for (const char* command : {"publish", "evalsha", "eval", "subscribe"})
    both.model.forbid(command);
  expect_same_answers(both.real, both.model, "-NOPERM");
}

TEST_F(sim_refusals, of_a_server_with_a_password_are_those_of_the_model) {
  redis_options options;
  options.password = "secret";
  pair_of_servers both(options);
  both.model.require_password("default", "secret");
  expect_same_answers(both.real, both.model, "-NOAUTH");
}

}  // namespace
}  // namespace holdfast::sim
