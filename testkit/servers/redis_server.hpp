// A real redis-server of a test's own.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testkit/servers/certificates.hpp"
#include "testkit/servers/clock_shim.hpp"
#include "testkit/servers/program.hpp"
#include "testkit/servers/redis_link.hpp"
#include "testkit/servers/redis_program.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::testkit {

struct redis_options {
  bool durable = false;      // appendonly with appendfsync always; else nothing is kept
  std::string password{};    // of the user "default"; empty: needs none
  std::string acl{};         // a user more, as in an ACL file: "lock on >secret ~* +@all"
  bool default_user = true;  // false: only the ACL's user may log in
  std::string tls{};         // the port speaks TLS with this certificate: "server", "expired" ..
  bool tls_clients = false;  // and requires one of the client
  bool clock_shim = false;   // see set_clock()
  bool cluster = false;      // a node of a Redis Cluster; the port + 10000 is that of its bus
  std::vector<std::string> config{};  // further lines of redis.conf
  std::string data_folder{};  // an existing folder in which its data are; empty: a temporary one
};

// Listens on a free port of 127.0.0.1 and on a Unix socket, both in its own temporary folder's
// care, and is killed with the object, or with the thread that made it. Throws std::runtime_error
// with the server's log when it does not come up. One thread at a time, command() included.
class redis_server {
 public:
  explicit redis_server(const redis_options& = {});
  ~redis_server();

  // Without them a test says GTEST_SKIP() << not_installed, << no_tls.
  static bool installed();
  static constexpr const char* not_installed = "skipped: redis-server is not installed";
  static bool has_tls() { return tested_redis().has_tls; }
  static constexpr const char* no_tls = "skipped: this redis-server was built without TLS";

  int port() const noexcept { return port_; }
  std::string url() const;         // "redis://127.0.0.1:PORT", "rediss://" with tls
  std::string socket_url() const;  // "redis+unix://PATH"
  std::string socket_path() const { return folder_.file("s"); }
  std::filesystem::path data_folder() const;
  pid_t pid() const noexcept { return program_->pid(); }
  const certificates& tls_files() const { return *certificates_; }  // only with tls
  std::string log() const { return folder_.read("log"); }

  bool is_running() const noexcept { return link_ && !is_stopped_; }
  void stop();                   // SIGSTOP
  void go_on();                  // SIGCONT
  void kill_hard();              // SIGKILL
  void start();                  // after kill_hard(): with what was kept on disk
  void restart(bool keep_data);  // kill_hard() and start(): keep_data without durable: saved
  // Returns when the server's TIME follows; a server may read its clock now and then only.
  void set_clock(std::chrono::milliseconds offset);

  // Replication. Each call returns when the servers report that it is done, and throws
  // std::runtime_error when they do not in half a minute.
  void replicate(redis_server& master);        // REPLICAOF, until both are in sync
  void catch_up_with(redis_server& master);    // until it has all that the master has written
  void promote();                              // REPLICAOF NO ONE; the former master goes on
  void fail_over_to(redis_server& replica);    // FAILOVER TO: nothing is lost, no connection closed
  std::string info(const std::string& field);  // of INFO; empty: it has no such field

  // By a user of its own that may do everything, over the Unix socket. Throws redis_silent.
  redis_reply command(const std::vector<std::string>& words);
  redis_link link() const;  // one more such connection

 private:
  void write_config() const;
  bool is_replica_of(redis_server& master);
  void wait_until_in_sync_with(redis_server& master);
  void wait_until(const std::function<bool()>&);

  redis_options options_;
  scratch_folder folder_;
  int port_ = 0;
  bool is_stopped_ = false;
  std::optional<certificates> certificates_;
  std::optional<clock_shim> shim_;
  std::optional<program> program_;
  std::optional<redis_link> link_;
};

}  // namespace holdfast::testkit
