// A master, its replicas and the Sentinel processes that watch them, of a test's own.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testkit/servers/certificates.hpp"
#include "testkit/servers/redis_sentinel.hpp"
#include "testkit/servers/redis_server.hpp"

namespace holdfast::testkit {

struct sentinel_options {
  std::size_t sentinels = 3;
  int quorum = 2;
  std::chrono::milliseconds down_after{1000};
  std::chrono::milliseconds failover_timeout{2500};  // a failed failover is repeated after two
  std::string password{};  // requirepass of the sentinels; empty: they need none
  std::string acl{};       // one more user of the sentinels, as in an ACL file
  bool tls = false;        // the servers and the sentinels speak TLS, with certificates of one CA
  redis_options servers{};
};

// Server 0 is the first master. Servers and sentinels reach each other whatever passwords they
// require of clients. A server that is killed and started again is a master without data until
// the sentinels, about 10 s later, make it a replica. One thread at a time.
class sentinel_servers {
 public:
  static constexpr std::size_t servers = 3;

  // Returns when each sentinel lists the replicas and the other sentinels as reachable. Throws
  // std::runtime_error with the logs.
  explicit sentinel_servers(const sentinel_options& = {});

  static const char* name() { return "main"; }  // of the master, for the sentinels
  // "redis+sentinel://127.0.0.1:PORT,.../main", "rediss+sentinel:" with tls. `user` is that of the
  // servers: "me:secret@".
  std::string url(const std::string& user = {}) const;
  const certificates& tls_files() const { return *certificates_; }  // only with tls

  redis_server& server(std::size_t i) { return *servers_.at(i); }
  redis_sentinel& sentinel(std::size_t i) { return *sentinels_.at(i); }
  std::size_t sentinel_count() const noexcept { return sentinels_.size(); }

  // The server that was promoted last, or server 0.
  redis_server& master() { return *servers_[master_]; }
  // Waits until a server other than master() is one because it was promoted, which sentinels
  // publish up to 2 s later, and returns it. It is master() from then on. No server but the former
  // master may be stopped.
  redis_server& wait_until_promoted();
  // Waits until all running sentinels name master().
  void wait_until_published();
  // Waits until all running sentinels name one master, and the other servers are replicas of it, in
  // sync. master() is that one then: sentinels may take a promotion back.
  void wait_until_settled();
  // Waits until the server is a replica of master(), in sync with it.
  void wait_until_replica(redis_server&);
  // Waits until the servers but this one are replicas of master(), and it is not asked.
  void wait_until_left(const redis_server& former_master);
  // Waits until all replicas have what the master has written up to now.
  void wait_until_copied();
  // SENTINEL FAILOVER, of a healthy master. Returns when the sentinel has agreed.
  void fail_over();
  std::string logs() const;  // of the sentinels

 private:
  std::vector<std::string> tls_lines() const;
  redis_options server_options() const;
  std::vector<std::string> lines_for(const redis_sentinel&) const;
  void wait_until_all_know_each_other();
  bool knows_all(redis_sentinel&) const;
  // Whether a field of INFO is as wanted. False for a server that was killed, and when Sentinel has
  // closed the connection, as it does at each server to which it gives another role.
  static bool reports(redis_server&, const std::string& field,
                      const std::function<bool(const std::string&)>& is_so);
  // `named_before`: the server that all running sentinels named when the wait began.
  std::optional<std::size_t> promoted(std::optional<std::size_t> named_before);
  // The port of the master. Empty: the sentinel names none, or is silent.
  static std::string named_by(redis_sentinel&);
  bool is_published(std::size_t as_master) const;
  bool is_in_sync(redis_server& replica);
  void wait_until(const std::string& what, const std::function<bool()>&);

  const sentinel_options options_;
  scratch_folder folder_;
  std::optional<certificates> certificates_;
  std::vector<std::unique_ptr<redis_server>> servers_;
  std::vector<std::unique_ptr<redis_sentinel>> sentinels_;
  std::size_t master_ = 0;
};

}  // namespace holdfast::testkit
