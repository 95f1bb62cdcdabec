// A session of the test itself with a ZooKeeper server, one request at a time: for what no lock
// client does.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backend/zookeeper/transport/requests.hpp"

namespace holdfast::testkit {

// Plain and blocking. It sends no pings. Throws std::runtime_error when the server is out of reach,
// ends the connection or answers with an error. One thread at a time.
class zookeeper_link {
 public:
  explicit zookeeper_link(int port);
  ~zookeeper_link();  // closes the session
  zookeeper_link(const zookeeper_link&) = delete;
  zookeeper_link& operator=(const zookeeper_link&) = delete;

  // Closes the session of another client, as if the servers had not heard of it for its timeout:
  // its password follows from its id. Nothing happens where it has ended, or where the client
  // attaches it again at that moment.
  static void end(int port, std::int64_t id);

  void create(const std::string& path);  // a persistent node, open to everyone
  // Gives everyone these rights to the node, and no others: a sum of ZooKeeper's read 1, write 2,
  // create 4, delete 8 and admin 16. False: there is no such node.
  bool set_rights(const std::string& path, std::int32_t rights);
  std::int64_t owner_of(const std::string& path);  // the session; 0: there is none
  // Likewise of a node whose name begins so, anywhere below `path`.
  std::int64_t owner_below(const std::string& path, std::string_view name);

 private:
  std::string receive();
  // The text behind the header of the reply; nothing: there is no such node.
  std::optional<std::string> call(zookeeper::opcode, const std::function<void(std::string&)>& body);

  int socket_;
  std::int32_t last_xid_ = 0;
};

}  // namespace holdfast::testkit
