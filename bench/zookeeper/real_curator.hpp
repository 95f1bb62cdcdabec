// The real Curator at the work of the benchmarks: warm JVMs whose threads lock and unlock.
#pragma once
#include <string>

#include "jvm_contenders.hpp"
#include "row.hpp"
#include "testkit/peers/curator_peer.hpp"

namespace bench {

// `jvms` JVMs of `threads` threads each on one InterProcessMutex, or on one each where the path
// ends in '#'. Warm from the start. Throws row_skipped where Curator cannot be had.
class curator_contenders_of {
 public:
  curator_contenders_of(int port, unsigned jvms, unsigned threads, const std::string& path);

  // Acquisitions per second; beside them what processor time of the JVMs one takes.
  outcome run(seconds length) { return jvms_.run(command_, length); }

 private:
  std::string command_;
  jvm_contenders jvms_;
};

// The same as a peer, whose JVMs start when it runs.
peer curator_peer_of(int port, unsigned jvms, unsigned threads, const std::string& path);

enum class curator_sessions : unsigned char { one_for_all, one_for_each };

// One JVM, whose waiters share a session or have one each.
class curator_drain {
 public:
  curator_drain(int port, curator_sessions);  // warm; throws row_skipped

  // `waiters` threads wait for a lock that is held. It is then released. Turns per second.
  double run(unsigned waiters);

 private:
  holdfast::testkit::curator_peer jvm_;
  std::string sessions_;  // the end of the command
  unsigned runs_ = 0;
};

}  // namespace bench
