// The real Redisson, in a JVM of its own: the other contender of a test or a benchmark.
#pragma once
#include "testkit/peers/java_peer.hpp"

namespace holdfast::testkit {

// Its commands are described in redisson/RedissonPeer.java.
class redisson_peer final : public java_peer {
 public:
  // Empty when it can be had here, else "skipped: ..." and the reason. The first call fetches it.
  static const std::string& unavailable() {
    static const std::string why = fetched_from_central("redisson");
    return why;
  }
  static std::string class_path() { return class_path_of("redisson"); }

  using tuning = jvm_tuning;
  explicit redisson_peer(tuning how = tuning::quick_start)
      : java_peer("redisson", "RedissonPeer", how) {}
};

}  // namespace holdfast::testkit
