// Replies that no client may accept: a network that corrupts what servers send.
#pragma once
#include <cstdint>
#include <string_view>

#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::contention {

enum class wire_protocol : unsigned char { redis, tls, mysql, zookeeper };
wire_protocol protocol_of(std::string_view url);

enum class spoiling : unsigned char {
  garbage,   // bytes that no protocol has
  overlong,  // a length or a number that is too large
  truncated  // the end is missing
};

// For the direction to the client. The first reply that a connection brings is spoilt, and the
// connection is reset when it brings another one. None becomes another valid reply: a part of a
// reply is dropped. `seed` determines the choices.
testkit::flow spoilt_replies(wire_protocol, spoiling, std::uint64_t seed);

}  // namespace holdfast::contention
