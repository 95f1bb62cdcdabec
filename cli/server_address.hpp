// Addresses of servers as text, and TCP connections to them.
#pragma once
#include <holdfast/url.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "cli/file_descriptor.hpp"

namespace holdfast::cli {

// "host:port", or "[::1]:port".
std::string address_text(const url::endpoint&);
std::optional<url::endpoint> read_address(std::string_view text);  // nothing: it is neither

// A connected socket, whose sends and receives end after five seconds, as the attempt to connect
// does. Empty: no server is reachable at the address.
file_descriptor connect_to(const url::endpoint&);

}  // namespace holdfast::cli
