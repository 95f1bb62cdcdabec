// The lower limits of a Redlock: the two steps of set_and_compare on several masters of 127.0.0.1.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "redis/bare_redis.hpp"
#include "row.hpp"

namespace bench {

// A cycle is slower than on one server, and a batch of nanoseconds_per_cycle() smaller.
inline constexpr int redlock_cycles_of_batch = 64;

// A connection to each master. The requests of a step are written to all of them before any reply
// is read, and the next step follows all replies.
outcome bare_parallel_round_trips(const std::vector<int>& ports, seconds length);

// A lock in the shape of redis-plus-plus' RedLock: all masters are tried one after the other, a
// failed attempt is withdrawn from all of them, and the next one follows after a fixed pause. For
// one thread.
class sequential_redlock {
 public:
  explicit sequential_redlock(const std::string& ports);  // "7001,7002,7003"
  void lock();
  void unlock();

  // redis-plus-plus draws its pause from 0 to 200 ms by default.
  static constexpr std::chrono::milliseconds pause{100};

 private:
  std::vector<bare_redis> masters_;
  std::string take_, give_;
};

}  // namespace bench
