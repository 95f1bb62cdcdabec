// A url for display: without its passwords, and without what may be a password that was mistyped.
#include <holdfast/url.hpp>

#include <algorithm>
#include <utility>

#include "base/percent.hpp"
#include "base/url_parts.hpp"

namespace holdfast {
namespace {
constexpr std::string_view blank = "***";
}

namespace base {

std::string shown_option_name(std::string_view name) {
  const auto usual = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  return std::string(std::all_of(name.begin(), name.end(), usual) ? name : blank);
}

std::string shown_option_value(std::string_view value) {
  return std::string(value.find_first_of("=@") == value.npos ? value : blank);
}

}  // namespace base

inline namespace v0 {
namespace {

// Options whose values hold no secret. A value of any other may be a password: ?passwrd=.
constexpr std::string_view shown_options[] = {
    "admit-after-loss",
    "attach",
    "clock-skew",
    "close-timeout",
    "connect-timeout",
    "connections",
    "count-column",
    "db",
    "extra-lock-patterns",
    "fair",
    "grace",
    "group",
    "idle-timeout",
    "key-column",
    "latency",
    "layout",
    "lease-column",
    "lifetime",
    "linger",
    "lose-replies",
    "lose-requests",
    "map",
    "max-ttl",
    "metrics",
    "names",
    "network",
    "node-timeout",
    "note-column",
    "op-timeout",
    "outage-timeout",
    "owner-column",
    "password-env",
    "password-file",
    "prefix",
    "probe",
    "recorder",
    "renew",
    "replicas",
    "retry-base",
    "revocation-timeout",
    "seed",
    "sentinel-password-env",
    "sentinel-password-file",
    "sentinel-user",
    "session-timeout",
    "shape",
    "socket",
    "stale-after",
    "stop-after",
    "strategy",
    "strict",
    "table",
    "time-column",
    "tls",
    "tls-ca",
    "tls-cert",
    "tls-host",
    "tls-key",
    "ttl",
    "turn-time",
    "turns",
    "type",
    "type-column",
    "unlink",
    "unsafe",
    "was",
    "weights",
};

bool is_shown(std::string_view option) {
  return std::find(std::begin(shown_options), std::end(shown_options), option) !=
         std::end(shown_options);
}

// "user:password@" in text that is no authority. Directories have '@' in their names too, so a
// colon, or what was blanked before, must stand before it; where `always`, all before an @ counts.
std::size_t end_of_user(std::string_view text, bool always) {
  const std::size_t at = text.rfind('@');
  return at == text.npos || always || text.substr(0, at).find_first_of(":*") != text.npos
             ? at
             : text.npos;
}

std::string shown(std::string_view text, bool always, std::string_view plain) {
  const std::size_t at = end_of_user(text, always);
  if (at == text.npos) return base::percent_encode(text, plain);
  std::string out(text.starts_with('/') ? "/" : "");
  return out.append(blank) + '@' + base::percent_encode(text.substr(at + 1), plain);
}

bool is_number(std::string_view path) {
  return path.find_first_not_of("0123456789", path.starts_with('/')) == path.npos;
}

// The path of a Redis is a number. Without "//" or with another path, a part of the URL that holds
// a password may have slipped into it.
std::string shown_path(const url::parts& p) {
  const bool of_server = p.scheme != "file" && p.scheme != "memory";
  const bool is_redis = p.scheme == "redis" || p.scheme == "rediss";
  const bool slipped =
      of_server && p.scheme != "redis+unix" && (!p.authority || (is_redis && !is_number(p.path)));
  if (slipped && !p.path.empty()) return (p.path.starts_with('/') ? "/" : "") + std::string(blank);
  return shown(p.path, of_server, "/:,+=");
}

std::string shown_user(const url::parts& p) {
  if (p.user.empty() && !p.password_in_user) return {};
  // These have no user without a password: the one word may be the password.
  const bool is_paired = p.scheme.starts_with("redis") || p.scheme.starts_with("zookeeper");
  const bool alone = p.password.empty() && is_paired;
  std::string out = alone || p.user.find(':') != p.user.npos ? std::string(blank)
                                                             : base::percent_encode(p.user, "*");
  if (p.password_in_user) out.append(":").append(blank);
  return out + '@';
}

}  // namespace

std::string url::text() const {
  const parts& p = *parts_;
  if (p.scheme.empty()) return {};  // parsed with an error
  std::string out = p.scheme + ':';
  if (p.authority) out += "//";
  out += shown_user(p);
  bool first = true;
  for (const endpoint& e : p.endpoints) {
    if (!std::exchange(first, false)) out += ',';
    const bool v6 = e.host.find(':') != e.host.npos;
    out += v6 ? '[' + base::percent_encode(e.host, ":") + ']' : base::percent_encode(e.host);
    if (e.port) out += ':' + std::to_string(e.port);
  }
  out += shown_path(p);
  char mark = '?';
  for (const auto& [name, value] : p.options) {
    out += std::exchange(mark, '&') + base::shown_option_name(name) + '=';
    out += is_shown(name) ? base::percent_encode(base::shown_option_value(value), "/:,*")
                          : std::string(blank);
  }
  if (p.password_in_query) out.append(1, mark).append("password=").append(blank);
  return out;
}

}  // namespace v0
}  // namespace holdfast
