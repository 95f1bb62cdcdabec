// The faults of a balancer and of the servers behind it while clients hold locks.
#pragma once
#include <span>

#include "balanced_servers.hpp"

namespace holdfast::redis_test {

// How long two clients may believe that they hold one lock (docs/safety.md), from the moment on in
// which the name leads to the new master.
enum class window : unsigned char {
  none,       // nothing is lost: the lock is kept at the new master too
  handshake,  // a connection of the client is cut: it connects and asks
  probe,      // no connection is cut: until the next probe
  lease,      // the new master does not answer: the rest of the lease
  unbounded,  // the name leads to two masters, and no client can know
};

struct fault_kind {
  const char* name;
  window allowed;
  void (*play)(balanced_servers&);  // it ends with the right master appointed
  int servers_least = 2;
};

std::span<const fault_kind> fault_kinds();

}  // namespace holdfast::redis_test
