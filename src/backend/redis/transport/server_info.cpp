#include "backend/redis/transport/server_info.hpp"

#include <algorithm>

#include "backend/redis/transport/resp.hpp"
#include "base/number.hpp"

namespace holdfast::redis {

std::string printable(std::string_view text, std::size_t bytes_max) {
  std::string out;
  for (const char c : text.substr(0, bytes_max)) out += c < ' ' || c > '~' ? '?' : c;
  return out;
}

std::string_view info_field(std::string_view info, std::string_view name) noexcept {
  for (std::size_t at = 0; at < info.size();) {
    const std::size_t end = std::min(info.find('\n', at), info.size());
    const std::string_view line = info.substr(at, end - at);
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':') {
      const std::string_view text = line.substr(name.size() + 1);
      return text.substr(0, text.find('\r'));
    }
    at = end + 1;
  }
  return {};
}

std::string eviction_warning(std::string_view info) {
  const std::string_view policy = info_field(info, "maxmemory_policy");
  const std::string_view most = info_field(info, "maxmemory");
  if (policy.empty() || policy == "noeviction" || most.empty() || most == "0") return {};
  return "the server may evict the keys of locks that are held (maxmemory-policy " +
         printable(policy, 40) +
         "): a second client would get the lock; set maxmemory-policy to noeviction, or use "
         "another server for locks";
}

namespace {

// Without a sign; -1: the text is not a number.
std::int64_t count_in(const value& v) {
  return v.is(value::kind::text) ? base::whole_number<std::int64_t>(v.text()).value_or(-1) : -1;
}

}  // namespace

server_time read_time(const value& v) {
  if (v.size() != 2) return server_time::zero();
  const std::int64_t seconds = count_in(v[0]), micros = count_in(v[1]);
  constexpr std::int64_t in_a_second = 1'000'000;
  if (seconds < 0 || seconds > number_max / in_a_second || micros < 0 || micros >= in_a_second)
    return server_time::zero();
  return server_time_of(seconds * in_a_second + micros);
}

}  // namespace holdfast::redis
