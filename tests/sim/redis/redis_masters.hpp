// The masters of a Redis Cluster in the simulator, and how slots move from one to another.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/redis/model/redis_cluster.hpp"

namespace holdfast::sim {

class world;

// A connection's handle tells its server.
class redis_masters {
 public:
  redis_masters(world&, const model_redis::wall_clock&);

  int connect(peer&, const std::string& host);
  static int server_of(int connection) noexcept { return connection % handles; }
  void receive(int connection, std::string_view bytes);
  void disconnect(int connection);
  bool is_connected(int connection) const;

  int count() const noexcept { return cluster_.masters(); }
  model_redis& at(int server) const { return cluster_.at(server); }
  model_redis& with(std::string_view key) const { return at(cluster_.node_with(key)); }
  bool has_listener(std::string_view channel) const;  // at any of them
  std::vector<std::string> key_names() const;         // of all
  std::string hosts() const;                          // "10.0.0.1,10.0.0.2"

  void happen(const fault&);
  void restart();  // of one
  void heal();

 private:
  static constexpr int handles = 4;  // a connection's handle is its server's times this, and the
                                     // number of the server
  int slot_of_lock(int lock) const;
  void begin_move(const fault&);
  void move_on(int slot, moment step, moment end);

  world& world_;
  redis_cluster cluster_;
};

}  // namespace holdfast::sim
