// The requests of one ZooKeeper client, recorded by a proxy.
#pragma once
#include <memory>
#include <string>

#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::zookeeper_wire {

// Identifiers in the names of nodes as what they are: _c_<uuid>-lock-0000000001.
std::string with_kinds_of_ids(std::string text);

class request_log {
 public:
  explicit request_log(int server_port);

  // "127.0.0.1:PORT". One connection at a time goes through it.
  std::string address() const { return "127.0.0.1:" + std::to_string(proxy_.port()); }
  // The requests since the last call, without pings, a line each; identifiers as above:
  //   create2 /x/_c_<uuid>-lock- ephemeral-sequential 9 bytes
  //   get_children2 /x watch
  std::string take();
  testkit::tcp_proxy& proxy() { return proxy_; }

 private:
  struct reader;
  std::shared_ptr<reader> reader_;
  testkit::tcp_proxy proxy_;
};

}  // namespace holdfast::zookeeper_wire
