// The connections of a drill's workers to the servers of a URL: which of them may go through
// proxies of the drill, and the URL that the workers use then.
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

// The text of a URL with these addresses in place of its servers, and with the options, which
// replace others of the same names. Secrets stay in it.
std::string with_servers(const std::string& text, const std::vector<url::endpoint>&,
                         const std::vector<url::option>&);

// The text with the option, unless the URL has it.
std::string with_default(const std::string& text, const std::optional<url>&,
                         const std::string& name, const std::string& value);

}  // namespace holdfast::cli
