// A client of naive locks in ZooKeeper: one session, one connection, and single requests.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace holdfast::lab {

// Throws story_error when the server closes the connection or sends nothing for half a minute. It
// sends no pings: a session without requests lasts for its timeout.
class naive_zookeeper {
 public:
  // Opens a session with the server of this port.
  naive_zookeeper(int port, std::chrono::milliseconds session_timeout);
  ~naive_zookeeper();  // closes the connection and leaves the session to its timeout
  naive_zookeeper(const naive_zookeeper&) = delete;
  naive_zookeeper& operator=(const naive_zookeeper&) = delete;

  bool create_ephemeral(const std::string& path);  // false: there is such a node
  void remove(const std::string& path);            // throws when there is no such node
  bool exists(const std::string& path);
  // Reads the node with a watch on it. False: there is no such node, and no watch is set.
  bool watch(const std::string& path);
  // Returns when the node of the last watch is changed or removed. Comes after each watch(), before
  // any other request.
  void wait_for_event();
  // Another thread may call it: each request and wait throws from then on.
  void hang_up() noexcept;
  void close_session();  // returns when the server has confirmed it

 private:
  std::int32_t request(std::int32_t operation, const std::string& body);  // the error of the reply
  void send_frame(const std::string& payload);
  std::string receive_frame();
  std::string receive(std::size_t bytes);

  int socket_ = -1;
  std::int32_t last_xid_ = 0;
};

}  // namespace holdfast::lab
