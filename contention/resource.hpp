// The resource that the locks of a campaign guard: it takes writes over a Unix socket, and its
// fencing guards decide which it accepts.
#pragma once
#include <holdfast/guard.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "history/history.hpp"

namespace holdfast::contention {

// Serves on a thread of its own, and records each write at the moment of its decision.
class fenced_resource {
 public:
  // is_guarded: false plants a resource that accepts every write.
  fenced_resource(const std::string& socket_path, const std::string& history_path, bool is_guarded);
  ~fenced_resource();
  fenced_resource(const fenced_resource&) = delete;
  fenced_resource& operator=(const fenced_resource&) = delete;

 private:
  void serve(const std::stop_token&);
  void accept_one();
  bool answer(int connection);  // false: the connection has ended
  bool decide(const std::string& message);

  history::history_writer history_;
  const bool is_guarded_;
  int listener_ = -1;
  std::vector<int> connections_;
  std::map<std::string, fencing_guard> guards_;  // by lock
  std::jthread thread_;
};

// A connection of one caller to the resource.
class resource_connection {
 public:
  explicit resource_connection(const std::string& socket_path);  // throws std::system_error
  ~resource_connection();
  resource_connection(const resource_connection&) = delete;
  resource_connection& operator=(const resource_connection&) = delete;

  // Whether the resource accepted it. `is_planted`: the run writes after a release on purpose.
  bool write(const std::string& process, const std::string& lock, std::int64_t token,
             const std::string& owner, bool is_planted = false) const;

 private:
  int socket_ = -1;
};

}  // namespace holdfast::contention
