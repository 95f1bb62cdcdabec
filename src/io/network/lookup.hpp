// The addresses of a name.
#pragma once
#include <boost/asio/generic/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/network.hpp"

namespace holdfast::io {

using endpoint = boost::asio::generic::stream_protocol::endpoint;

// The endpoint that needs no look-up: a Unix socket's path or a number. Empty: there is a name.
std::vector<endpoint> endpoints_of(const core::address&);

struct found {
  std::vector<endpoint> endpoints;
  std::string trouble;  // why there are none
};

// Asks the system's resolver on a thread of its own, which nobody waits for: its time-outs are long
// (Asio's own resolver makes the end of a loop wait for them). `then` comes on that thread.
void look_up(const core::address&, std::function<void(found)> then);

}  // namespace holdfast::io
