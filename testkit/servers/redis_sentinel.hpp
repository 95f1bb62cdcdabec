// A real Redis Sentinel of a test's own: one process.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "testkit/servers/program.hpp"
#include "testkit/servers/redis_link.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::testkit {

// Listens on a free port of 127.0.0.1 and on a Unix socket, both in its own temporary folder's
// care, and is killed with the object, or with the thread that started it. One thread at a time.
class redis_sentinel {
 public:
  redis_sentinel();
  ~redis_sentinel();
  redis_sentinel(const redis_sentinel&) = delete;
  redis_sentinel& operator=(const redis_sentinel&) = delete;

  int port() const noexcept { return port_; }
  std::string socket_path() const { return folder_.file("s"); }
  pid_t pid() const noexcept { return program_->pid(); }
  std::string id() const;  // its run id, which is known before it starts
  bool is_running() const noexcept { return is_running_; }  // neither killed nor stopped
  std::string log() const { return folder_.read("log"); }

  // Lines of sentinel.conf besides those for its port and its files. Before the first start():
  // Sentinel writes its own state into that file.
  void configure(const std::vector<std::string>& lines);
  // Starts it with the state that it saved. Throws std::runtime_error with its log when it does
  // not come up.
  void start();
  void kill();   // SIGKILL
  void stop();   // SIGSTOP
  void go_on();  // SIGCONT

  // By a user of its own that may do everything, over the Unix socket. Throws redis_silent, at once
  // if the process is not running.
  redis_reply command(const std::vector<std::string>& words);

 private:
  redis_link link() const;

  scratch_folder folder_;
  int port_;
  bool is_running_ = false;
  std::optional<program> program_;
  std::optional<redis_link> link_;
};

}  // namespace holdfast::testkit
