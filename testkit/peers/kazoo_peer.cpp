#include "testkit/peers/kazoo_peer.hpp"

namespace holdfast::testkit {
namespace {
constexpr const char* python = "/usr/bin/python3";  // Debian's, which has Debian's packages
}

kazoo_peer::kazoo_peer() : line_peer({python, HOLDFAST_PEER_SOURCES "/kazoo/kazoo_peer.py"}) {}

const std::string& kazoo_peer::unavailable() {
  static const std::string why = run_program({{python, "-c", "import kazoo"}, {}, "/dev/null"}) == 0
                                     ? ""
                                     : "skipped: python3-kazoo is not installed";
  return why;
}

}  // namespace holdfast::testkit
