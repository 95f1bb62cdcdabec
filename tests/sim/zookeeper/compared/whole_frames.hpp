// Frames in bytes that arrive piece by piece.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "backend/zookeeper/transport/jute.hpp"

namespace holdfast::sim::zk {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// The frame at the front, without its length; null data: it is not whole.
inline std::string_view frame_at(std::string_view bytes) {
  if (bytes.size() < zookeeper::frame_head) return {};
  const auto length = static_cast<std::size_t>(zookeeper::jute_reader(bytes_of(bytes)).read_int());
  if (bytes.size() - zookeeper::frame_head < length) return {};
  return bytes.substr(zookeeper::frame_head, length);
}

inline std::string next_frame(std::string& bytes) {
  const std::string out(frame_at(bytes));
  bytes.erase(0, zookeeper::frame_head + out.size());
  return out;
}

}  // namespace holdfast::sim::zk
