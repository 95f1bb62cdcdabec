// Two model servers, of which one may replicate from the other.
#pragma once
#include <array>
#include <deque>
#include <functional>
#include <optional>

#include "tests/sim/redis/model/model_redis.hpp"
#include "tests/sim/redis/model/replication.hpp"

namespace holdfast::sim {

// What the master's requests cause is on its way to the replica until it is delivered there, one
// request after the other. At first server 0 is the master and server 1 its replica. A change of
// roles closes no connection. ../compared/replication_test.cpp compares it with real servers.
class redis_pair {
 public:
  // `on_effects` is called when something is on its way.
  redis_pair(model_redis::wall_clock, std::function<void()> on_effects);

  model_redis& at(int server) noexcept { return *servers_[static_cast<std::size_t>(server)]; }
  const model_redis& at(int server) const noexcept {
    return *servers_[static_cast<std::size_t>(server)];
  }
  bool is_replica(int server) const;
  std::optional<int> replica() const;  // that is linked to its master
  bool is_under_way() const noexcept { return !under_way_.empty(); }
  void deliver_next();  // to the replica
  void deliver_all();

  // REPLICAOF NO ONE; what is on its way to it is lost. `is_cut`: the network between the two, so
  // that the other one does not notice it.
  void promote(int server, bool is_cut = false);
  void follow(int server);  // REPLICAOF the other one, whose data it has then
  // FAILOVER of the master: its clients' writes wait, and run when the roles have changed.
  void begin_failover();
  void end_failover();
  // With all data, as from an RDB file. A master has a new id then, and a replica continues.
  void restart(int server);
  void change_id(int server);  // as where no replica was attached for repl-backlog-ttl

 private:
  server& inside(int number) const;
  void send_effects_of(int master);

  const std::function<void()> on_effects_;
  const std::array<std::unique_ptr<model_redis>, 2> servers_;
  std::deque<effects> under_way_;
};

}  // namespace holdfast::sim
