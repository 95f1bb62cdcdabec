// The servers of a drill's URL: which connections to them may go through proxies of the drill, the
// URL that the workers use then, and whether the drill can request a failover.
#pragma once
#include <holdfast/url.hpp>

#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

struct drill_route {
  std::vector<url::endpoint> servers;    // of the URL, with their ports; each needs a proxy
  std::vector<url::option> new_options;  // of the URL of the workers
  // Why the connections go to the servers directly. Empty where they have proxies, and for a store
  // without a network.
  std::string obstacle;
};

// Nothing and "file:": a store without a network.
drill_route route_of(const std::optional<url>&);

// Whether the servers of the URL announce the addresses to which clients connect.
bool is_of_announcing_servers(const url&);  // Sentinel, Cluster
// The name of the master in a redis+sentinel: URL.
std::string master_name_in(const url&);

// Why the drill cannot request a failover of the deployment by itself; empty: it can.
std::string failover_obstacle(const std::optional<url>&);
// The commands of redis_deployment::fail_over(), for people.
std::string failover_commands(const url&);

// The text of a URL with these addresses in place of its servers, and with the options, which
// replace others of the same names. Secrets stay in it.
std::string with_servers(const std::string& text, const std::vector<url::endpoint>&,
                         const std::vector<url::option>&);

// The text with the option, unless the URL has it.
std::string with_default(const std::string& text, const std::optional<url>&,
                         const std::string& name, const std::string& value);

}  // namespace holdfast::cli
