// Servers that share the locks among themselves.
#pragma once
#include <ranges>
#include <string>

#include "testkit/servers/redis_server.hpp"

namespace holdfast::testkit {

// "redis+shards://127.0.0.1:PORT,..."
template <std::ranges::range Servers>
std::string shards_url(const Servers& servers) {
  std::string url = "redis+shards://";
  for (const redis_server& s : servers)
    url += (url.back() == '/' ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(s.port());
  return url;
}

}  // namespace holdfast::testkit
