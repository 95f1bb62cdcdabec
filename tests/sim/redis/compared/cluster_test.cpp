// The masters of a real cluster redirect requests as the models do.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "testkit/servers/cluster_servers.hpp"
#include "tests/sim/redis/compared/answers_of_model.hpp"
#include "tests/sim/redis/compared/raw_socket.hpp"
#include "tests/sim/redis/compared/two_servers.hpp"
#include "tests/sim/redis/model/redis_cluster.hpp"

namespace holdfast::sim {
namespace {

using testkit::cluster_servers;
using testkit::redis_server;

// The keys of a lock, and one of another slot.
const std::string lock_key = "x", queue_key = "holdfast:{x}:x:q", absent_key = "holdfast:{x}:x:m",
                  spare_key = "holdfast:{x}:x:s", other_key = "y";

// Each list ends outside of a MULTI.
std::vector<std::vector<command_words>> requests_of_a_lock() {
  const std::string read = "return redis.call('EXISTS', KEYS[1])";
  std::vector<std::vector<command_words>> all = {
      {{"GET", lock_key}},
      {{"GET", absent_key}},
      {{"EXISTS", lock_key, queue_key}},
      {{"EXISTS", lock_key, absent_key}},
      {{"EXISTS", lock_key, other_key}},
      {{"ZCARD", queue_key}, {"ZCARD", queue_key}},
      {{"EVAL", read, "1", lock_key}},
      {{"EVAL", read, "2", lock_key, queue_key}},
      {{"EVAL", read, "3", lock_key, queue_key, absent_key}},
      {{"EVAL", read, "2", lock_key, other_key}},
      {{"EVALSHA", std::string(40, '0'), "1", lock_key}},
      {{"EVALSHA", std::string(40, '0'), "0"}},
      {{"PING"}, {"GET", lock_key}},
      {{"MULTI"}, {"GET", lock_key}, {"EXEC"}},
      {{"MULTI"}, {"GET", lock_key}, {"ZCARD", queue_key}, {"EXEC"}},
      {{"MULTI"}, {"GET", lock_key}, {"GET", absent_key}, {"EXEC"}},
      {{"MULTI"}, {"GET", lock_key}, {"DISCARD"}},
      {{"MULTI"}, {"EXEC"}},
      {{"PUBLISH", "channel", "text"}},
      // A script that looks for what it has deleted, while the slot moves.
      {{"EVAL", "redis.call('DEL', KEYS[1]) return redis.call('EXISTS', KEYS[1])", "1", spare_key},
       {"SET", spare_key, "1"}},
  };
  // Each once more, as a client that follows ASK sends it.
  for (std::size_t i = 0, n = all.size(); i < n; ++i) {
    all.push_back(all[i]);
    all.back().insert(all.back().begin(), {"ASKING"});
  }
  return all;
}

void replace_all(std::string& in, const std::string& what, const std::string& with) {
  for (auto at = in.find(what); at != in.npos; at = in.find(what, at + with.size()))
    in.replace(at, what.size(), with);
}

struct sim_cluster_model : testing::Test {
  void SetUp() override {
    if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
    if (!testkit::tested_redis().is_at_least(7, 0)) GTEST_SKIP() << "other texts before Redis 7.0";
    real = std::make_unique<cluster_servers>(testkit::cluster_options{.replicas = 0});
    from = model.owner_of(slot_of_key(lock_key));
    to = (from + 1) % model.masters();
    ASSERT_EQ(real->slot_of(lock_key), slot_of_key(lock_key));
    ASSERT_EQ(real->master_of_slot(slot_of_key(lock_key)), static_cast<std::size_t>(from));
    for (const command_words& one :
         {command_words{"SET", lock_key, "owner"}, command_words{"SET", spare_key, "1"},
          command_words{"ZADD", queue_key, "1", "waiter"}})
      EXPECT_EQ(answers_of_real(from, {one}), answers_of_model(from, {one}));
  }

  static std::string bytes_of(const std::vector<command_words>& all) {
    std::string out;
    for (const command_words& one : all) out += encoded(one);
    return out + encoded({"ECHO", "end"});
  }
  std::string answers_of_real(int node, const std::vector<command_words>& all) {
    raw_socket socket(real->server(static_cast<std::size_t>(node)).socket_path());
    socket.write(bytes_of(all));
    std::string out = socket.read_until("$3\r\nend\r\n");
    for (std::size_t i = 0; i < real->server_count(); ++i)
      replace_all(out, "127.0.0.1:" + std::to_string(real->server(i).port()), name_of_node(i));
    return out;
  }
  std::string answers_of_model(int node, const std::vector<command_words>& all) {
    std::string out = sim::answers_of_model(model.at(node), bytes_of(all));
    for (std::size_t i = 0; i < real->server_count(); ++i)
      replace_all(out, "10.0.0." + std::to_string(i + 1) + ":6379", name_of_node(i));
    return out;
  }
  static std::string name_of_node(std::size_t i) { return "node" + std::to_string(i); }

  void expect_same_answers(const std::string& when) {
    for (int node = 0; node < model.masters(); ++node)
      for (const auto& all : requests_of_a_lock()) {
        std::string shown;
        for (const command_words& one : all)
          for (const std::string& word : one) shown += ' ' + word;
        const char* const place = node == from ? "source" : node == to ? "target" : "other master";
        EXPECT_EQ(answers_of_real(node, all), answers_of_model(node, all))
            << when << ", at the " << place << ':' << shown;
      }
  }

  std::unique_ptr<cluster_servers> real;
  redis_cluster model{[] { return std::chrono::microseconds(1'700'000'000'000'000); }, 3, [] {}};
  int from = 0, to = 0;
};

TEST_F(sim_cluster_model, redirects_requests_as_real_masters_do) {
  const int slot = slot_of_key(lock_key);
  const auto source = static_cast<std::size_t>(from), target = static_cast<std::size_t>(to);
  expect_same_answers("before a move");

  real->mark_migrating(slot, source, target);
  model.begin_move(slot, to);
  expect_same_answers("before a key moves");

  real->move_keys({lock_key}, source, target);
  model.move_key(lock_key);
  expect_same_answers("when the lock has moved");

  real->move_keys({queue_key}, source, target);
  model.move_key(queue_key);
  expect_same_answers("when all keys have moved");

  real->finish_move(slot, source, target);
  real->wait_until_moved(slot, target);
  model.end_move(slot);
  expect_same_answers("after the move");
}

}  // namespace
}  // namespace holdfast::sim
