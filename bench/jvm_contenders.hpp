// JVMs whose threads contend for a lock of another library, by the programs of testkit/peers.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "row.hpp"
#include "testkit/peers/java_peer.hpp"

namespace bench {

// The text of an answer. Throws std::runtime_error, which begins with `peer`, for a failure.
std::string checked(const holdfast::testkit::peer_answer&, const std::string& peer);

class jvm_contenders {
 public:
  explicit jvm_contenders(std::string peer) : peer_(std::move(peer)) {}

  // `open` is the command that opens its client.
  void add(std::shared_ptr<holdfast::testkit::java_peer>, const std::string& open);

  // All do `command`, "c main contenders TYPE NAME THREADS", for that long. Acquisitions a second;
  // beside them the processor time of the JVMs for one.
  outcome run(const std::string& command, seconds length);

 private:
  std::string peer_;
  std::vector<std::shared_ptr<holdfast::testkit::java_peer>> jvms_;
};

}  // namespace bench
