// The model of Redis, compared with the real server answer by answer.
#include <gtest/gtest.h>

#include <memory>

#include "backend/redis/layouts/lua/codec.hpp"
#include "backend/redis/layouts/redisson/codec.hpp"
#include "backend/redis/layouts/redisson_fair/codec.hpp"
#include "backend/redis/layouts/redisson_permits/codec.hpp"
#include "backend/redis/layouts/redisson_rw/codec.hpp"
#include "tests/sim/full_suite.hpp"
#include "tests/sim/redis/compared/random_claims.hpp"
#include "tests/sim/redis/compared/random_owners.hpp"
#include "tests/sim/redis/compared/two_servers.hpp"

namespace holdfast::sim {
namespace {

struct sim_model : testing::Test {
  void SetUp() override {
    if (!testkit::redis_server::installed()) GTEST_SKIP() << testkit::redis_server::not_installed;
    servers = std::make_unique<two_servers>();
  }
  std::unique_ptr<two_servers> servers;
};

std::string text_of(const std::vector<command_words>& commands) {
  std::string text;
  for (const auto& command : commands) {
    for (const auto& word : command) text += testing::PrintToString(word) + " ";
    text += "\n";
  }
  return text;
}

// By name: of all at once the real one tells in an order of its own.
command_words end_of(const std::vector<command_words>& subscriber) {
  command_words out{"UNSUBSCRIBE", "nothing"};
  for (const command_words& one : subscriber)
    if (one.front() == "SUBSCRIBE") out.insert(out.end(), one.begin() + 1, one.end());
  return out;
}

// Each list on one connection, while another listens.
template <class Drawn>
void compare_lists(two_servers& servers, std::uint64_t lists, Drawn drawn, likeness how) {
  two_servers::client caller(servers), listener(servers);
  int differences = 0;
  for (std::uint64_t seed = 1; seed <= share_of(lists) && differences < 5; ++seed) {
    auto draw = drawn(seed);
    const auto before = draw.subscriber();
    const auto list = draw.list();
    std::string difference = listener.differs(before);
    if (difference.empty()) difference = caller.differs(list, how);
    if (difference.empty()) difference = listener.differs({}, how);
    if (difference.empty()) difference = listener.differs({end_of(before)});
    if (difference.empty()) continue;
    ++differences;
    ADD_FAILURE() << "list " << seed << ": " << difference << "\n" << text_of(list);
  }
}

TEST_F(sim_model, answers_random_lists_as_the_real_server_does) {
  compare_lists(
      *servers, 10'000, [](std::uint64_t seed) { return random_commands(seed); }, likeness::same);
}

TEST_F(sim_model, runs_holdfasts_own_scripts_as_the_real_server_does) {
  compare_lists(
      *servers, 3'000, [](std::uint64_t seed) { return random_claims(seed); },
      likeness::but_for_times);
}

TEST_F(sim_model, runs_the_scripts_of_each_retrying_layout_as_the_real_server_does) {
  const std::string client = "8743c9c0-0795-4907-87fd-6c719a6b4586";
  std::vector<std::unique_ptr<const redis::retrying_codec>> all;
  all.push_back(std::make_unique<redis::lua::codec>());
  all.push_back(std::make_unique<redis::redisson_permits::codec>());
  for (const auto how : {redis::redisson::waiters::listen, redis::redisson::waiters::poll})
    all.push_back(std::make_unique<redis::redisson::codec>(client, how));
  all.push_back(std::make_unique<redis::redisson_fair::codec>());
  all.push_back(std::make_unique<redis::redisson_rw::codec>(client));
  for (const auto& one : all)
    compare_lists(
        *servers, 2'000, [&](std::uint64_t seed) { return random_owners(*one, seed); },
        likeness::but_for_times);
}

TEST_F(sim_model, a_comparison_notices_what_differs) {
  two_servers::client one(*servers);
  EXPECT_EQ(one.differs({{"INFO", "server"}}).find("[INFO]"), 0u);
  EXPECT_EQ(one.differs({{"GET", "a"}, {"INFO", "server"}, {"GET", "b"}}).find("[INFO]"), 0u);
  EXPECT_EQ(one.differs({{"TIME"}}).find("[TIME]"), 0u);
  EXPECT_EQ(one.differs({{"INFO", "server"}}, likeness::but_for_times).find("[INFO]"), 0u);
  EXPECT_EQ(one.differs({{"GET", "a"}}), "");
}

TEST_F(sim_model, a_lapsed_key_is_gone_for_every_command) {
  two_servers::client one(*servers);
  for (const command_words& command : std::vector<command_words>{{"GET", "k"},
                                                                 {"EXISTS", "k"},
                                                                 {"TTL", "k"},
                                                                 {"PTTL", "k"},
                                                                 {"TYPE", "k"},
                                                                 {"DEL", "k"},
                                                                 {"PERSIST", "k"},
                                                                 {"PEXPIRE", "k", "100000000"},
                                                                 {"ZADD", "k", "1", "m"},
                                                                 {"INCR", "k"},
                                                                 {"ZINCRBY", "k", "1", "m"},
                                                                 {"HINCRBY", "k", "f", "1"},
                                                                 {"HSETNX", "k", "f", "w"},
                                                                 {"HKEYS", "k"},
                                                                 {"RPUSH", "k", "w"},
                                                                 {"LPOP", "k"},
                                                                 {"LRANGE", "k", "0", "-1"},
                                                                 {"SETNX", "k", "w"},
                                                                 {"GETSET", "k", "w"},
                                                                 {"SET", "k", "w", "XX"},
                                                                 {"SET", "k", "w", "NX", "GET"},
                                                                 {"SCAN", "0"}})
    EXPECT_EQ(one.differs({{"SET", "k", "v", "PXAT", "1"}, command, {"GET", "k"}, {"DEL", "k"}}),
              "");
}

TEST_F(sim_model, a_client_is_killed_by_id_by_type_and_by_itself) {
  two_servers::client killer(*servers);
  {
    two_servers::client victim(*servers);
    EXPECT_EQ(victim.differs({{"SUBSCRIBE", "channel"}}), "");
    EXPECT_EQ(killer.differs({{"PUBLISH", "channel", "x"}}), "");
    EXPECT_EQ(killer.differs({{"CLIENT", "KILL", "TYPE", "pubsub"}, {"PUBLISH", "channel", "y"}}),
              "");
    EXPECT_EQ(victim.last_words(""), "");
  }
  EXPECT_EQ(killer.differs({{"CLIENT", "KILL", "ID", "123456"},
                            {"CLIENT", "KILL", "ID", "0"},
                            {"CLIENT", "KILL", "ID", "x"},
                            {"CLIENT", "KILL", "TYPE", "odd"},
                            {"CLIENT", "KILL", "127.0.0.1:1"},
                            {"CLIENT", "KILL", "SKIPME", "perhaps"},
                            {"CLIENT", "KILL", "ID", "123456", "ADDR"}}),
            "");
  two_servers::client leaver(*servers);
  EXPECT_EQ(leaver.last_words(encoded({"QUIT"}) + encoded({"GET", "a"})), "");
}

TEST_F(sim_model, broken_requests_are_answered_and_closed) {
  for (const std::string_view bytes :
       {"*1\r\nPING\r\n", "*2\r\n$4\r\nECHO\r\n:1\r\n", "*x\r\n", "*1\r\n$x\r\n", "*1\r\n$-1\r\n",
        "*1\r\n$4\r\nPING\r\n*99999999999\r\n"}) {
    two_servers::client one(*servers);
    EXPECT_EQ(one.last_words(bytes), "") << bytes;
  }
}

TEST_F(sim_model, a_connection_starts_anew_and_empty_commands_are_none) {
  two_servers::client one(*servers);
  EXPECT_EQ(one.differs({{"SELECT", "1"}, {"SET", "k", "v"}, {"CLIENT", "SETNAME", "me"}}), "");
  two_servers::client other(*servers);
  EXPECT_EQ(other.differs({{"CLIENT", "GETNAME"}, {"EXEC"}, {"GET", "k"}, {}}), "");
}

// The reply of EXEC says READONLY when the commands were queued before; else the queued command's
// own reply does, and that of EXEC is an abort for previous errors.
TEST_F(sim_model, a_replica_refuses_a_transaction_as_the_real_one_does) {
  two_servers::client one(*servers), two(*servers);
  const std::string writes = "return redis.call('SET', KEYS[1], '1')";
  const std::string tries = "return redis.pcall('SET', KEYS[1], '1')";
  EXPECT_EQ(one.begins({{"SET", "k", "v"}, {"MULTI"}, {"SET", "k", "x"}, {"INCR", "n"}}), "");
  EXPECT_EQ(two.begins({{"MULTI"}, {"EVAL", writes, "1", "k"}, {"INCR", "n"}}), "");
  servers->make_replicas(true);
  EXPECT_EQ(one.differs({{"EXEC"}, {"EXEC"}, {"GET", "k"}}), "");
  EXPECT_EQ(two.differs({{"EXEC"}, {"GET", "n"}}), "");
  EXPECT_EQ(one.differs({{"MULTI"}, {"SET", "k", "x", "NX", "PX", "9"}, {"INCR", "n"}, {"EXEC"}}),
            "");
  EXPECT_EQ(one.differs({{"MULTI"}, {"GET", "k"}, {"INCR", "n"}, {"GET", "k"}, {"EXEC"}}), "");
  EXPECT_EQ(one.differs({{"MULTI"}, {"GET", "k"}, {"PUBLISH", "c", "x"}, {"EXEC"}, {"EXEC"}}), "");
  EXPECT_EQ(one.differs({{"MULTI"}, {"EVAL", writes, "1", "k"}, {"GET", "k"}, {"EXEC"}}), "");
  EXPECT_EQ(one.differs({{"MULTI"}, {"EVAL", tries, "1", "k"}, {"EXEC"}, {"GET", "k"}}), "");
  EXPECT_EQ(two.differs({{"MULTI"}, {"INCR", "n"}, {"DISCARD"}, {"SET", "k", "x"}, {"EXEC"}}), "");
  EXPECT_EQ(one.differs({{"EVAL", writes, "1", "k"}, {"EVAL", tries, "1", "k"}, {"DEL", "k"}}), "");
  EXPECT_EQ(one.begins({{"MULTI"}, {"GET", "k"}}), "");
  EXPECT_EQ(two.begins({{"MULTI"}, {"INCR", "n"}}), "");
  servers->make_replicas(false);
  EXPECT_EQ(one.differs({{"EXEC"}, {"MULTI"}, {"INCR", "n"}, {"EXEC"}}), "");
  EXPECT_EQ(two.differs({{"EXEC"}, {"MULTI"}, {"INCR", "n"}, {"EXEC"}}), "");
}

}  // namespace
}  // namespace holdfast::sim
