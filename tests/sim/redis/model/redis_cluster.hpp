// Model servers that are the masters of one cluster.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/redis/model/cluster_slots.hpp"
#include "tests/sim/redis/model/model_redis.hpp"

namespace holdfast::sim {

struct connection;

// The masters share the slots in equal ranges, and have no replicas. What one of them is ordered to
// do with a slot is known to all at once. A message is on its way to the other masters until it is
// delivered there. ../compared/cluster_test.cpp compares the redirections with real servers.
class redis_cluster {
 public:
  // `on_messages` is called when a message is on its way.
  redis_cluster(const model_redis::wall_clock&, int masters, std::function<void()> on_messages);
  redis_cluster(const redis_cluster&) = delete;

  int masters() const noexcept { return static_cast<int>(nodes_.size()); }
  model_redis& at(int node) const { return *nodes_[static_cast<std::size_t>(node)].runs; }
  int owner_of(int slot) const { return owners_[static_cast<std::size_t>(slot)]; }
  // The target of a move has the keys that have moved.
  int node_with(std::string_view key) const;

  // CLUSTER SETSLOT IMPORTING and MIGRATING, unless the slot is moving.
  void begin_move(int slot, int to);
  bool is_moving(int slot) const { return moves_.contains(slot); }
  std::vector<std::string> keys_left(int slot) const;  // at the source, sorted
  void move_key(const std::string&);                   // MIGRATE, with its time to live
  void end_move(int slot);                             // of all keys, and CLUSTER SETSLOT NODE
  void deliver_next();                                 // message
  void set_down(bool);

  // For its servers. Why the server does not run the command: an error, or empty.
  std::string redirection(const server&, const connection&, const command&,
                          std::span<const std::string_view> argv) const;
  std::string nodes_text(const server&) const;  // CLUSTER NODES
  void pass_on(const server& from, std::string_view channel, std::string_view text);

 private:
  struct master {
    std::unique_ptr<model_redis> runs;
    std::string id;
    int epoch = 0;
  };
  struct message {
    int from = 0;
    std::string channel, text;
  };
  server& inside(int node) const;
  std::string led_to(std::string_view how, int slot, int node) const;
  std::string slots_text(int node) const;
  std::string moves_text(int node) const;

  const std::function<void()> on_messages_;
  std::vector<master> nodes_;
  std::vector<int> owners_;   // by slot
  std::map<int, int> moves_;  // of a slot, to a node
  std::deque<message> under_way_;
};

}  // namespace holdfast::sim
