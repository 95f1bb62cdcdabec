// Two model servers, of which one may replicate from the other.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
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
  using wait_begun = std::function<void(int server, std::chrono::milliseconds)>;
  // `on_effects` is called when something is on its way, `on_wait` when a client sends WAIT and is
  // not answered at once: answer_waits() is due when that time is over. Without `on_wait` each is.
  redis_pair(model_redis::wall_clock, std::function<void()> on_effects, wait_begun on_wait = {});

  model_redis& at(int server) noexcept { return *servers_[static_cast<std::size_t>(server)]; }
  const model_redis& at(int server) const noexcept {
    return *servers_[static_cast<std::size_t>(server)];
  }
  bool is_replica(int server) const;
  std::optional<int> replica() const;  // that is linked to its master
  bool is_under_way() const noexcept { return !under_way_.empty(); }
  void deliver_next();  // to the replica
  void deliver_all();
  // How much of what its master has sent the replica has got, by its number.
  std::int64_t delivered() const noexcept { return delivered_; }
  void confirm(int master, std::int64_t number);  // what reaches the master of that
  void answer_waits(int server);

  // REPLICAOF NO ONE; what is on its way to it is lost. `is_cut`: the network between the two, so
  // that the other one does not notice it.
  void promote(int server, bool is_cut = false);
  void follow(int server);  // REPLICAOF the other one, whose data it has then
  // FAILOVER of the master: its clients' writes wait, and run when the roles have changed.
  void begin_failover();
  void end_failover();
  // With all data, as from an RDB file. A master has a new id then, and a replica continues.
  void restart(int server);
  // The replica starts as a master without data that replicates from nobody.
  void empty_replica();
  void change_id(int server);  // as where no replica was attached for repl-backlog-ttl

 private:
  server& inside(int number) const;
  void send_effects_of(int master);

  const std::function<void()> on_effects_;
  const std::array<std::unique_ptr<model_redis>, 2> servers_;
  std::deque<effects> under_way_;
  std::int64_t delivered_ = 0;
};

}  // namespace holdfast::sim
