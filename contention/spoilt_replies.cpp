#include "contention/spoilt_replies.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "contention/dice.hpp"

namespace holdfast::contention {

namespace {

constexpr std::size_t frame_head = 4, record_head = 5;  // of MySQL and ZooKeeper; of TLS

std::size_t octet(std::string_view bytes, std::size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

// Whether the bytes begin with a complete message.
bool begins_with_a_reply(wire_protocol protocol, std::string_view bytes) {
  switch (protocol) {
    case wire_protocol::redis:
      return std::string_view("+-:$*").find(bytes.front()) != std::string_view::npos &&
             bytes.ends_with("\r\n");
    case wire_protocol::tls: return bytes.size() > record_head;
    case wire_protocol::mysql:
      return bytes.size() > frame_head &&
             frame_head + (octet(bytes, 0) | octet(bytes, 1) << 8 | octet(bytes, 2) << 16) <=
                 bytes.size();
    case wire_protocol::zookeeper:
      return bytes.size() > frame_head &&
             frame_head + (octet(bytes, 0) << 24 | octet(bytes, 1) << 16 | octet(bytes, 2) << 8 |
                           octet(bytes, 3)) <=
                 bytes.size();
  }
  return false;
}

// No message of Redis has a type with this bit, no frame of ZooKeeper such a length, and no packet
// of MySQL that a client receives such a sequence number.
void fill_with_garbage(std::string& bytes, dice& d) {
  constexpr std::size_t high = 0x80;
  for (char& each : bytes) each = static_cast<char>(high + d.below(high));
}

void make_too_long(wire_protocol protocol, std::string& bytes, dice& d) {
  constexpr std::array<std::string_view, 3> too_large = {"$2000000000\r\n", "*1000000000\r\n",
                                                         ":99999999999999999999\r\n"};
  switch (protocol) {
    case wire_protocol::redis: bytes.insert(0, too_large.at(d.below(too_large.size()))); return;
    case wire_protocol::tls: bytes.replace(3, 2, "\xff\xff"); return;
    case wire_protocol::mysql: bytes.replace(0, 3, "\xff\xff\xff"); return;
    case wire_protocol::zookeeper: bytes.replace(0, frame_head, "\x7f\xff\xff\xff"); return;
  }
}

struct spoiler {
  dice choices;
  std::set<std::uint64_t> spoilt{};  // connections
};

}  // namespace

wire_protocol protocol_of(std::string_view url) {
  if (url.starts_with("zookeeper")) return wire_protocol::zookeeper;
  if (url.starts_with("mysql")) return wire_protocol::mysql;
  return url.starts_with("rediss") ? wire_protocol::tls : wire_protocol::redis;
}

testkit::flow spoilt_replies(wire_protocol protocol, spoiling what, std::uint64_t seed) {
  const auto state = std::make_shared<spoiler>(spoiler{.choices = dice(seed)});
  testkit::flow changed;
  changed.admits = [state](std::string_view, const testkit::proxied_connection& of) {
    return state->spoilt.insert(of.number).second;
  };
  changed.mutate = [state, protocol, what](std::string& bytes) {
    if (what == spoiling::truncated)
      bytes.resize(state->choices.below(bytes.size()));
    else if (!begins_with_a_reply(protocol, bytes))
      bytes.clear();
    else if (what == spoiling::garbage)
      fill_with_garbage(bytes, state->choices);
    else
      make_too_long(protocol, bytes, state->choices);
  };
  return changed;
}

}  // namespace holdfast::contention
