// The real Curator, the real kazoo and holdfast on one ZooKeeper.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "testkit/eventually.hpp"
#include "testkit/peers/line_peer.hpp"
#include "testkit/servers/zookeeper_server.hpp"
#include "tests/interop/zookeeper/request_log.hpp"

namespace holdfast::zookeeper_wire {

using testkit::eventually;
using testkit::zookeeper_server;
using call = testkit::line_peer::call;

class with_curator : public testing::Test {
 protected:
  void SetUp() override;  // skips where the server or Curator cannot be had
};

class with_kazoo : public testing::Test {
 protected:
  void SetUp() override;
};

class with_both : public with_curator {
 protected:
  void SetUp() override;
};

// The one JVM and the one Python of this program.
testkit::line_peer& curator();
testkit::line_peer& kazoo();
// A release since 5.5: a reader that was a writer keeps the writer's place.
bool curator_keeps_the_place();

std::string address_of(const zookeeper_server&);  // "127.0.0.1:PORT"
std::string text_of(const testkit::peer_answer&);

// A client of one of them, with a session of its own, which its end closes. Options as `open` of
// the driver has them.
class peer_client {
 public:
  peer_client(testkit::line_peer&, const std::string& address, const std::string& options = {});
  ~peer_client();
  peer_client(const peer_client&) = delete;
  peer_client& operator=(const peer_client&) = delete;

  call send(const std::string& thread, const std::string& words) const;
  // What it answered; "failed: ..." where the command did.
  std::string ask(const std::string& thread, const std::string& words) const;
  // The same, of a thread that is never kept waiting.
  std::string ask(const std::string& words) const { return ask("main", words); }
  bool is_asleep(const std::string& thread) const;              // waits for its turn
  void end_session() const;                                     // at the server
  void wait_for_session_after(const std::string& ended) const;  // until it has another one
  void lose_session() const;                                    // both
  // The names of a node's children by their sequence numbers, with the kinds of their identifiers
  // in place of these; "-": there is no such node.
  std::string children(const std::string& path) const;
  // With their identifiers, in the order of the names.
  std::string names(const std::string& path) const { return ask("children " + path); }

 private:
  testkit::line_peer& peer_;
  std::string name_;
};

}  // namespace holdfast::zookeeper_wire
