// Three real ZooKeeper servers of a test's own, or three and one that observes, with a network
// between them that the test commands.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "testkit/servers/tcp_proxy.hpp"
#include "testkit/servers/zookeeper_server.hpp"

namespace holdfast::testkit {

// The leader is elected over direct connections; what a leader and its followers tell each other
// goes through a proxy for each pair. Throws std::runtime_error when it does not come up.
class zookeeper_ensemble {
 public:
  static constexpr int servers = 3;   // that vote, with the ids 1 to 3
  static constexpr int observer = 4;  // the id of the one that does not, where there is one
  // `lines_of_first`: further lines of zoo.cfg that server 1 alone has. `data_folders`: one for
  // each of the three that vote, as zookeeper_options::data_folder.
  explicit zookeeper_ensemble(const zookeeper_options& = {},
                              const std::vector<std::string>& lines_of_first = {},
                              bool has_observer = false,
                              const std::vector<std::string>& data_folders = {});

  zookeeper_server& at(int id) { return *servers_.at(static_cast<std::size_t>(id - 1)); }
  int count() const noexcept { return count_; }
  std::string url() const;  // of the three that vote
  std::string logs() const;
  int leader();    // the id of the server that leads; waits until one does
  int follower();  // the id of a server that follows; waits until one does
  // The proxy between a follower and its leader.
  tcp_proxy& link(int follower, int leader) { return *links_.at(place(follower, leader)); }

 private:
  std::size_t place(int from, int to) const {
    const int at = (from - 1) * count_ + (to - 1);
    return static_cast<std::size_t>(at);
  }
  bool all_serve() const;
  template <class Condition>
  int one_where(Condition);  // a server whose mode meets it; waits until one does

  const int count_;
  std::vector<std::unique_ptr<tcp_proxy>> links_;  // none from a server to itself
  std::vector<std::unique_ptr<zookeeper_server>> servers_;
};

}  // namespace holdfast::testkit
