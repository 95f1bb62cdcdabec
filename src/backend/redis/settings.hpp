// The settings of a redis: URL.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "backend/redis/transport/endpoint.hpp"
#include "claim/recipe.hpp"
#include "seam/registry.hpp"

namespace holdfast::redis {

struct settings : endpoint {
  std::vector<endpoint> servers;  // of redlock:
  // Of redis+sentinel: the sentinels, the name by which they know the master, and the addresses at
  // which this client reaches servers that announce other ones.
  std::vector<endpoint> sentinels;
  std::string master;
  std::vector<endpoint> seeds;  // of redis+cluster: nodes to ask for all others
  std::vector<std::pair<base::address, base::address>> map;
  std::string layout;    // of layouts/layouts.hpp
  bool is_fair = false;  // of layout redisson: its mutexes are RFairLocks
  std::string prefix;    // of every key of a lock
  // Of redlock: no lease is longer than max_ttl, which all clients of the servers share. An attempt
  // counts the answers that come within the node_timeout.
  base::duration max_ttl{}, node_timeout{};
  base::duration stale_after = std::chrono::seconds{30};  // of layout getset
  claims::timing rules;
  std::string host;  // of this machine, shown by inspect()
  std::int64_t process = 0;
  base::log_sink log;

  bool is_cluster() const noexcept { return !seeds.empty(); }
  // Servers announce addresses of their own network, which `map` translates.
  base::address reachable(const base::address& announced) const;
};

// Throws lock_error (bad_url, bad_option).
settings read_settings(const seam::open_args&);

}  // namespace holdfast::redis
