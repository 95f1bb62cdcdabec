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
