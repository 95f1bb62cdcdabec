// Replies and requests as tests write them.
#pragma once
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "backend/redis/transport/resp.hpp"

namespace holdfast::redis {

// Calls with each reply that these bytes hold.
template <class Call>
void with_replies(std::string_view bytes, Call call) {
  reply_reader reader;
  ASSERT_TRUE(reader.feed(std::as_bytes(std::span(bytes)))) << bytes;
  reader.for_each([&](const value& v) {
    call(v);
    return true;
  });
}

inline std::string bulk(std::string_view text) {
  return '$' + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

// A server's description of itself in a handshake.
inline std::string replication(const std::string& history, const std::string& before = "0",
                               const std::string& role = "master") {
  return bulk("# Replication\r\nrole:" + role + "\r\nmaster_replid:" + history +
              "\r\nmaster_replid2:" + before + "\r\n");
}
inline std::string introduction(const std::string& run_id, const std::string& history = "h",
                                const std::string& before = "0") {
  return bulk("id=1 addr=127.0.0.1:9 laddr=127.0.0.1:6379 fd=8") +
         bulk("# Server\r\nrun_id:" + run_id + "\r\n") + replication(history, before);
}
// The replies to the whole of it, by a server without a password.
inline std::string greeting(int id, const std::string& run_id = "r1") {
  return "+OK\r\n:" + std::to_string(id) + "\r\n" + introduction(run_id);
}
// The same, by a server where the user may use neither INFO nor HELLO.
inline std::string greeting_without_info(int id) {
  return "+OK\r\n:" + std::to_string(id) + "\r\n" + bulk("laddr=127.0.0.1:6379") +
         "-NOPERM no\r\n-NOPERM no\r\n-NOPERM no\r\n";
}
constexpr std::string_view asks_who_it_is = "CLIENT INFO | INFO server | INFO replication";

// "PING | CLIENT ID": the commands in these bytes.
inline std::string commands_in(std::string_view bytes) {
  std::string out;
  with_replies(bytes, [&](const value& v) {
    if (!out.empty()) out += " | ";
    for (std::size_t i = 0; i < v.size(); ++i) out += (i ? " " : "") + std::string(v[i].text());
  });
  return out;
}

}  // namespace holdfast::redis
