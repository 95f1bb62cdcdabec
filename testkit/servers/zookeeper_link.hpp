// A session of the test itself with a ZooKeeper server: plain and blocking.
#pragma once
#include <cstdint>
#include <string>

namespace holdfast::testkit {

// It sends no pings: the server ends the session after the longest timeout that it grants. Throws
// std::runtime_error when the server is out of reach or refuses a request. One thread at a time.
class zookeeper_link {
 public:
  explicit zookeeper_link(int port);
  ~zookeeper_link();
  zookeeper_link(const zookeeper_link&) = delete;
  zookeeper_link& operator=(const zookeeper_link&) = delete;

  void create(const std::string& path);  // a persistent node, open to everyone
  // What everyone may do with the node: a sum of ZooKeeper's read 1, write 2, create 4, delete 8
  // and admin 16. False: there is no such node.
  bool set_rights(const std::string& path, std::int32_t rights);

 private:
  // Sends the bytes, and returns the frame of the reply, without its length.
  std::string exchange(const std::string& frame) const;
  // Returns the error code of the reply.
  std::int32_t request(std::int32_t opcode, const std::string& body);

  int socket_ = -1;
  std::int32_t requests_ = 0;
};

}  // namespace holdfast::testkit
