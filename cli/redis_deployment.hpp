// Redis with Sentinel, or a Redis Cluster: what a drill requests of it as an administrator does.
#pragma once
#include <holdfast/url.hpp>

#include <stop_token>
#include <string>
#include <vector>

#include "cli/redis_credentials.hpp"
#include "cli/redis_session.hpp"

namespace holdfast::cli {

// Members throw std::runtime_error with the address and the reason.
class redis_deployment {
 public:
  // `where` is a redis+sentinel: or redis+cluster: URL, and `text` what it was parsed from.
  redis_deployment(const std::string& text, const url& where);

  // The addresses of the servers as the sentinels or the nodes announce them.
  std::vector<url::endpoint> announced() const;
  // The address at which clients of the URL reach a server (?map=).
  url::endpoint reachable(const url::endpoint& announced) const;
  // Promotes a replica: with Sentinel one of the master, in a cluster one of each master that has
  // one. Returns when the promotion is reported, or when a stop is requested.
  void fail_over(const std::stop_token&) const;

 private:
  struct node;

  redis_session open_first() const;
  std::string master_name() const;
  url::endpoint master_of(redis_session&) const;
  std::vector<node> nodes_of(redis_session&) const;
  std::vector<url::endpoint> announced_by_sentinels() const;
  std::vector<url::endpoint> announced_by_nodes() const;
  void fail_over_by_sentinel(const std::stop_token&) const;
  void fail_over_in_cluster(const std::stop_token&) const;
  void promote(const node&, const std::stop_token&) const;

  const url where_;
  const redis_credentials of_servers_, of_sentinels_;
  const bool has_sentinels_;
};

}  // namespace holdfast::cli
