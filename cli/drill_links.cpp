#include "cli/drill_links.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "cli/drill_route.hpp"
#include "cli/redis_deployment.hpp"
#include "cli/server_address.hpp"

namespace holdfast::cli {
namespace {

// A worker that closes while it reconnects after the last cut releases its locks all the same.
const url::option patient_close{"close-timeout", "30s"};

}  // namespace

drill_links::drill_links(const std::string& text, const url& where) : worker_url_(text) {
  const drill_route route = route_of(where);
  obstacle_ = route.obstacle;
  if (route.servers.empty()) return;
  std::vector<url::option> options = route.new_options;
  if (is_of_announcing_servers(where)) {
    try {
      options.emplace_back("map", map_of_announced(text, where));
    } catch (const std::runtime_error& e) {
      obstacle_ = std::string("the addresses that the servers announce are not known: ") + e.what();
      proxies_.clear();
      return;
    }
  }
  const auto& given = where.options();
  if (std::ranges::find(given, patient_close.first, &url::option::first) == given.end())
    options.push_back(patient_close);
  std::vector<url::endpoint> through;
  for (const url::endpoint& each : route.servers) through.push_back(proxy_of(each));
  worker_url_ = with_servers(text, through, options);
}

// The address of the proxy.
url::endpoint drill_links::proxy_of(const url::endpoint& server) {
  const std::string address = address_text(server);
  const auto known = std::ranges::find(servers_, address);
  const auto i = static_cast<std::size_t>(known - servers_.begin());
  if (known == servers_.end()) {
    proxies_.emplace_back([server] { return connect_to(server).release(); });
    servers_.push_back(address);
  }
  return {"127.0.0.1", proxies_[i].port()};
}

std::string drill_links::map_of_announced(const std::string& text, const url& where) {
  const redis_deployment deployment(text, where);
  std::string map;
  for (const url::endpoint& each : deployment.announced())
    map += (map.empty() ? "" : ",") + address_text(each) + '=' +
           address_text(proxy_of(deployment.reachable(each)));
  return map;
}

}  // namespace holdfast::cli
