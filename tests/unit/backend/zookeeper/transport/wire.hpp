// Bytes as a server sends them, for the tests of the codec and of the session.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backend/zookeeper/transport/replies.hpp"

namespace holdfast::zookeeper_unit {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::string hex_of(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

template <class Write>
std::string frame_of(Write write) {
  std::string out;
  zookeeper::append_frame(out, [&](std::string& to) {
    zookeeper::jute_writer w(to);
    write(w);
  });
  return out;
}

inline std::string connected(std::int32_t timeout_ms, std::int64_t session_id,
                             std::string_view password = "0123456789abcdef",
                             bool is_read_only = false) {
  return frame_of([&](zookeeper::jute_writer& w) {
    w.write_int(0).write_int(timeout_ms).write_long(session_id).write_text(password);
    w.write_bool(is_read_only);
  });
}

inline std::string expired() { return connected(0, 0, std::string(16, '\0')); }

// `body` stands behind the header.
inline std::string replied(std::int32_t xid, std::int64_t zxid,
                           zookeeper::error code = zookeeper::error::ok,
                           std::string_view body = {}) {
  std::string out;
  zookeeper::append_frame(out, [&](std::string& to) {
    zookeeper::jute_writer(to).write_int(xid).write_long(zxid).write_int(
        static_cast<std::int32_t>(code));
    to += body;
  });
  return out;
}

inline std::string event(zookeeper::event_kind kind, std::string_view path) {
  std::string body;
  zookeeper::jute_writer(body)
      .write_int(static_cast<std::int32_t>(kind))
      .write_int(3)
      .write_text(path);
  return replied(-1, -1, zookeeper::error::ok, body);
}

inline std::string empty_multi_reply(std::int32_t xid, std::int64_t zxid) {
  std::string body;
  zookeeper::jute_writer(body).write_int(-1).write_bool(true).write_int(-1);
  return replied(xid, zxid, zookeeper::error::ok, body);
}

inline std::string stat_bytes(const zookeeper::node_stat& s) {
  std::string out;
  zookeeper::jute_writer w(out);
  w.write_long(s.czxid).write_long(s.mzxid).write_long(s.ctime_ms).write_long(s.mtime_ms);
  w.write_int(s.version).write_int(s.cversion).write_int(s.aversion);
  w.write_long(s.ephemeral_owner).write_int(s.data_length).write_int(s.children);
  w.write_long(s.pzxid);
  return out;
}

}  // namespace holdfast::zookeeper_unit
