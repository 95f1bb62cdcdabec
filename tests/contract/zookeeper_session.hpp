// A session at a ZooKeeper server of a test, one request at a time: for what no lock client does.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backend/zookeeper/transport/replies.hpp"
#include "backend/zookeeper/transport/requests.hpp"

namespace contract {

// Throws std::runtime_error when the server ends the connection or answers with an error.
class zookeeper_session {
 public:
  explicit zookeeper_session(int port);
  ~zookeeper_session();
  zookeeper_session(const zookeeper_session&) = delete;
  zookeeper_session& operator=(const zookeeper_session&) = delete;

  // Closes the session of another client, as if the servers had not heard of it for its timeout:
  // its password follows from its id. Nothing happens where it has ended, or where the client
  // attaches it again at that moment.
  static void end(int port, std::int64_t id);

  void create(const std::string& path);
  std::int64_t owner_of(const std::string& path);  // the session; 0: there is none
  // Likewise of a node whose name begins so, anywhere below `path`.
  std::int64_t owner_below(const std::string& path, std::string_view name);

 private:
  std::string receive();
  // What stands behind the header of the reply; empty: there is no such node.
  std::optional<std::string> call(holdfast::zookeeper::opcode,
                                  const std::function<void(std::string&)>& body);

  int socket_;
  std::int32_t last_xid_ = 0;
};

}  // namespace contract
