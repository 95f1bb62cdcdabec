// The addresses of a host name.
#pragma once
#include <boost/asio/generic/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/network.hpp"

namespace holdfast::io {

using endpoint = boost::asio::generic::stream_protocol::endpoint;

// The endpoint of an address that needs no look-up: a Unix socket's path, or an IP address. Empty:
// the host is a name.
std::vector<endpoint> endpoints_of(const core::address&);

struct found {
  std::vector<endpoint> endpoints;
  std::string trouble;  // why there are none
};

// Calls the system's resolver on a thread of its own, which nobody joins: its time-outs are long
// (Asio's own resolver makes the loop's destructor wait for them). `then` is called on that thread.
void look_up(const core::address&, std::function<void(found)> then);

}  // namespace holdfast::io
