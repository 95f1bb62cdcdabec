// The lower limit of a lock on one Redis server: the two steps of the Redis documentation (SET NX
// PX and a script that compares and deletes), or the commands of another lock, sent as cheaply as
// possible.
#pragma once
#include <string>
#include <vector>

#include "redis/bare_locks.hpp"
#include "redis/bare_redis.hpp"
#include "row.hpp"

namespace bench {

inline constexpr const char* bare_owner = "0123456789abcdef0123456789abcdef";

// Loads the scripts of the lock and deletes the keys, which an earlier run may have left. They are
// the limit's own: holdfast uses others.
void prepare(bare_redis&, const bare_lock&, const std::vector<std::string>& keys);

// One connection, one step at a time.
outcome bare_round_trips(int port, seconds length, const bare_lock& = set_and_compare);
// One connection and one thread that keeps so many cycles in flight, each on a key of its own.
outcome bare_pipeline(int port, unsigned in_flight, seconds length,
                      const bare_lock& = set_and_compare);
outcome bare_pipeline(int port, const std::vector<std::string>& keys, seconds length,
                      const bare_lock& = set_and_compare);
// One key: the release and the next acquire in one write, the next pair after both replies.
outcome bare_hand_over(int port, seconds length);

inline constexpr const char* token_list = "bench:token";

// A lock of which the server hands the one token to the client that has waited longest; see
// redis_fixture::lay_out_token(). For one thread.
class token_lock {
 public:
  explicit token_lock(int port) : redis_(port) {}
  void lock() { step(take_); }
  void unlock() { step(give_); }

 private:
  void step(const std::string& command) {
    redis_.append(command);
    redis_.flush();
    redis_.skip(1);
  }
  bare_redis redis_;
  const std::string take_ = formatted({"BLPOP", token_list, "0"});
  const std::string give_ = formatted({"RPUSH", token_list, "t"});
};

}  // namespace bench
