#include "testkit/servers/redlock_servers.hpp"

namespace holdfast::testkit {

redlock_servers::redlock_servers(std::size_t count, history before, const redis_options& options) {
  for (std::size_t i = 0; i < count; ++i) {
    all_.push_back(std::make_unique<redis_server>(options));
    if (before == history::long_running) give_record(*all_.back());
  }
}

void redlock_servers::give_record(redis_server& s, long number, long max_ttl_ms) {
  s.command({"HSET", "holdfast:redlock", "number", std::to_string(number), "max-ttl",
             std::to_string(max_ttl_ms), "begun-at",
             "an earlier process at " + std::to_string(s.port())});
}

std::string redlock_servers::url() const {
  std::string out = "redlock://";
  for (const auto& s : all_)
    out.append(s == all_.front() ? "" : ",").append("127.0.0.1:" + std::to_string(s->port()));
  return out;
}

}  // namespace holdfast::testkit
