// Proxies between the workers of a drill and the servers of its URL.
#pragma once
#include <holdfast/url.hpp>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::cli {

class drill_links {
 public:
  // Each server of the URL gets a proxy, and with Sentinel and Cluster each server that is
  // announced. Throws std::system_error: there is no free port.
  drill_links(const std::string& text, const url& where);

  // The URL of the workers, secrets included.
  const std::string& worker_url() const noexcept { return worker_url_; }
  std::deque<testkit::tcp_proxy>& proxies() noexcept { return proxies_; }
  // Why there are no proxies. Empty: there are, or the store has no network.
  const std::string& obstacle() const noexcept { return obstacle_; }

 private:
  url::endpoint proxy_of(const url::endpoint& server);
  std::string map_of_announced(const std::string& text, const url& where);

  std::string worker_url_, obstacle_;
  std::deque<testkit::tcp_proxy> proxies_;
  std::vector<std::string> servers_;  // the address of each proxy's server
};

}  // namespace holdfast::cli
