// The real kazoo, in a Python of its own: the other contender of a test.
#pragma once
#include "testkit/peers/line_peer.hpp"

namespace holdfast::testkit {

// Its commands are described in kazoo/kazoo_peer.py.
class kazoo_peer final : public line_peer {
 public:
  kazoo_peer();
  // Empty when kazoo can be had here, else "skipped: ..." and the reason.
  static const std::string& unavailable();
};

}  // namespace holdfast::testkit
