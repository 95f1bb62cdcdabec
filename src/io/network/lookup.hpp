// The addresses of a host name.
#pragma once
#include <boost/asio/generic/stream_protocol.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/network.hpp"

namespace holdfast::io {

using endpoint = boost::asio::generic::stream_protocol::endpoint;

// The endpoint of an address that needs no look-up: a Unix socket's path, or an IP address. Empty:
// the host is a name.
std::vector<endpoint> endpoints_of(const base::address&);

struct found {
  std::vector<endpoint> endpoints;
  std::string trouble;  // why there are none
};

using resolver = found (*)(const std::string& host, const std::string& port);
found ask_system(const std::string& host, const std::string& port);

// Calls the resolver on a thread of its own, which is never joined: the system's timeouts are long
// (Asio's own resolver makes the loop's destructor wait for them). `then` is called on a thread of
// the library's. Where the resolver fails, or takes longer than a second, the previous addresses
// are used: an outage of the name service does not look like an outage of the servers.
void look_up(const base::address&, std::function<void(found)> then, resolver = ask_system);

}  // namespace holdfast::io
