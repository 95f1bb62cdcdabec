// The real Curator, in a JVM of its own: the other contender of a test or a benchmark.
#pragma once
#include "testkit/peers/java_peer.hpp"

namespace holdfast::testkit {

// Its commands are described in curator/CuratorPeer.java.
class curator_peer final : public java_peer {
 public:
  // Empty when it can be had here, else "skipped: ..." and the reason. The first call fetches it.
  static const std::string& unavailable() {
    static const std::string why = fetched_from_central("curator");
    return why;
  }
  static std::string class_path() { return class_path_of("curator"); }

  using tuning = jvm_tuning;
  explicit curator_peer(tuning how = tuning::quick_start)
      : java_peer("curator", "CuratorPeer", how) {}
};

}  // namespace holdfast::testkit
