// The servers of a campaign: one backend in one topology, and what can go wrong with it.
#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "contention/fault.hpp"
#include "contention/locks.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::torture {

using namespace contention;

inline const name_scheme names{"torture/"};
inline constexpr std::chrono::milliseconds lease_ttl{2000};  // the longest of a worker
// Mutexes and shared locks, and the recursive lock, the permits and the one of the warm-up.
inline constexpr std::size_t lock_count = contention::mutex_count + contention::shared_count + 3;

class deployment {
 public:
  virtual ~deployment() = default;

  virtual std::string url() const = 0;
  // Through links(); "": there is no network.
  virtual std::string url_through_links() const { return {}; }
  // Each leaves the servers as they were before, or in a state from which they recover by
  // themselves. Not during wait_until_healthy().
  virtual std::vector<fault> server_faults() { return {}; }
  // The faults that this machine does not permit: "NAME: REASON".
  virtual std::vector<std::string> not_played() const { return {}; }
  // Throws std::runtime_error when the servers do not recover.
  virtual void wait_until_healthy() {}
  // What clients have left in the store although all are closed and all leases have expired: a line
  // for each. Counters that the documentation names are not included.
  virtual std::vector<std::string> left_behind() { return {}; }
  virtual void plant_left_key() {}

  std::deque<testkit::tcp_proxy>& links() noexcept { return links_; }
  // How long two may hold a lock after a link was cut. 0: never.
  virtual std::chrono::milliseconds excuse_of_links() const { return {}; }

 protected:
  std::deque<testkit::tcp_proxy> links_;
};

struct kind_of_deployment {
  std::string name;
  std::string lacking;  // the reason why it cannot run here: a program is not installed
  std::unique_ptr<deployment> (*open)();
};

std::vector<kind_of_deployment> all_deployments();

std::unique_ptr<deployment> open_file();
std::unique_ptr<deployment> open_redis();
std::unique_ptr<deployment> open_redis_with_tls();
std::unique_ptr<deployment> open_sentinel();        // with replicas=majority
std::unique_ptr<deployment> open_sentinel_async();  // with replicas=0
std::unique_ptr<deployment> open_cluster();
std::unique_ptr<deployment> open_shards();
std::unique_ptr<deployment> open_redlock();
std::unique_ptr<deployment> open_zookeeper();
std::unique_ptr<deployment> open_ensemble();
std::unique_ptr<deployment> open_row();
std::unique_ptr<deployment> open_row_replica();
std::unique_ptr<deployment> open_insert();
std::unique_ptr<deployment> open_for_update();
std::unique_ptr<deployment> open_named();

// For the URL of every deployment: the ttl, and timeouts that fit the campaign's faults.
std::string common_options();
// "127.0.0.1:PORT,..." of the links.
std::string addresses_of(const std::deque<testkit::tcp_proxy>& links);

}  // namespace holdfast::torture
