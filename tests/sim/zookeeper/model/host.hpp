// The surroundings of the model of an ensemble: time, chance, and the network between servers.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>

#include "tests/sim/machine/dice.hpp"

namespace holdfast::sim::zk {

using moment = std::chrono::nanoseconds;

class ensemble_host {
 public:
  virtual ~ensemble_host() = default;
  virtual moment now() = 0;
  virtual void at(moment, std::function<void()>) = 0;
  virtual dice& chance() = 0;
  virtual moment delay() = 0;  // of one message from a server to another
};

struct ensemble_options {
  int servers = 1;
  int observers = 0;  // of these, the last ones
  std::chrono::milliseconds tick{2000};
  int sync_limit = 5;  // ticks without a word after which a follower and its leader part
  std::chrono::milliseconds container_check{60'000};
  // A server that has looked for a leader for two ticks answers reads of clients that accept that
  // (readonlymode.enabled).
  bool serves_reads_alone = false;
  double parked_share = 0;  // of a follower's replies that wait for its next event (ZOOKEEPER-4537)
};

}  // namespace holdfast::sim::zk
