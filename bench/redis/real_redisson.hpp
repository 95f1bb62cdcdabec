// The real Redisson at the work of the benchmarks: warm JVMs whose threads lock and unlock.
#pragma once
#include <string>

#include "jvm_contenders.hpp"
#include "row.hpp"
#include "testkit/peers/redisson_peer.hpp"

namespace bench {

// `jvms` JVMs of `threads` threads each, on one lock, or on one each where the name ends in '#'.
// `options` are those of a client of Redisson. Warm from the start. Throws row_skipped where
// Redisson cannot be had.
class redisson_contenders_of {
 public:
  redisson_contenders_of(int port, unsigned jvms, unsigned threads, const std::string& name,
                         const std::string& options = {});

  outcome run(seconds length) { return jvms_.run(command_, length); }

 private:
  std::string command_;
  jvm_contenders jvms_;
};

// To show beside: one JVM, started when it is its turn.
peer redisson_peer_of(int port, unsigned threads, const std::string& name);

}  // namespace bench
