#include "backend/zookeeper/settings.hpp"

#include <utility>

#include "backend/zookeeper/layouts/layouts.hpp"
#include "backend/zookeeper/transport/chroot.hpp"
#include "base/fail.hpp"
#include "base/secret.hpp"
#include "base/url_parts.hpp"
#include "seam/tls_options.hpp"

namespace holdfast::zookeeper {

namespace {

using namespace std::chrono_literals;

constexpr int default_port = 2181;
constexpr duration default_session_timeout = 30s;
constexpr duration session_timeout_min = 100ms, session_timeout_max = 24h;
constexpr duration default_retry_base = 50ms;
constexpr duration default_revocation_timeout = 1s, revocation_timeout_max = 1h;
constexpr std::string_view server_tree = "/zookeeper";  // the servers' own

[[noreturn]] void refuse(const core::opening& o, std::string why, errc code = errc::bad_url) {
  core::fail(code, "open", std::move(why), {}, o.where.text());
}

void read_servers(const core::opening& o, settings& out) {
  for (const url::endpoint& e : o.where.endpoints())
    out.servers.push_back({e.host, e.port ? e.port : default_port, {}});
  if (out.servers.empty()) refuse(o, "name the servers: zookeeper://host1,host2:2181,host3/chroot");
}

void read_chroot(const core::opening& o, settings& out) {
  std::string_view path = o.where.path();
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path.empty() || path == "/") return;
  if (const auto fault = path_fault(path); !fault.empty())
    refuse(o, "the path is the node under which the locks are: " + std::string(fault));
  if (path == server_tree || path.starts_with(std::string(server_tree) + '/'))
    refuse(o, "the nodes under /zookeeper are the servers' own; name another path");
  out.chroot = path;
}

void read_credentials(const core::opening& o, settings& out) {
  const std::string_view password =
      o.password.empty() ? secret_access::password(o.where) : o.password;
  const std::string& user = o.where.user();
  if (user.empty() && password.empty()) return;
  if (user.empty() || password.empty())
    refuse(o, "a user needs a password, and a password a user: zookeeper://user:password@host, or "
              "?password-file= for the password");
  if (user.find(':') != std::string::npos) refuse(o, "a user's name has no ':' at ZooKeeper");
  out.credentials = user + ':' + std::string(password);
}

duration read_session_timeout(const core::opening& o, const url::option& option) {
  const duration t = core::parse_duration(option.second, option.first);
  if (t < session_timeout_min || t > session_timeout_max)
    refuse(o,
           "session-timeout: give 100ms to 24h; the server may grant another one within its own "
           "bounds",
           errc::bad_option);
  return t;
}

duration read_revocation_timeout(const core::opening& o, const url::option& option) {
  const duration t = core::parse_duration(option.second, option.first);
  if (t < duration::zero() || t > revocation_timeout_max)
    refuse(o, "revocation-timeout: give 0 to 1h; 0 breaks a lock without asking its holder",
           errc::bad_option);
  return t;
}

attach_to read_attach(const core::opening& o, const url::option& option) {
  if (option.second == "any") return attach_to::any;
  if (option.second == "leader") return attach_to::leader;
  refuse(o,
         "attach: there is no \"" + core::shown_option_value(option.second) +
             "\"; there is any and leader",
         errc::bad_option);
}

std::string read_layout(const core::opening& o, const url::option& option) {
  if (is_layout(option.second)) return option.second;
  refuse(o,
         "there is no layout \"" + core::shown_option_value(option.second) + "\"; there is " +
             layout_names(),
         errc::bad_option);
}

std::vector<std::string> read_patterns(const core::opening& o, std::string_view all) {
  std::vector<std::string> out;
  while (!all.empty()) {
    const std::size_t end = std::min(all.find(','), all.size());
    if (end == 0) refuse(o, "extra-lock-patterns: a pattern is empty", errc::bad_option);
    out.emplace_back(all.substr(0, end));
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  return out;
}

}  // namespace

settings read_settings(const core::opening& o) {
  settings out;
  read_servers(o, out);
  read_chroot(o, out);
  read_credentials(o, out);
  out.session_timeout = default_session_timeout;
  out.revocation_timeout = default_revocation_timeout;
  out.connect_timeout = o.shared.connect_timeout;
  out.op_timeout = o.shared.op_timeout;
  out.retry_base = default_retry_base;
  out.text = o.where.text();
  out.layout = default_layout;
  out.rules = {.op_timeout = o.shared.op_timeout,
               .clock_skew = o.shared.clock_skew,
               .outage_timeout = o.shared.outage_timeout};
  if (o.where.scheme() == "zookeepers") out.tls.emplace();
  std::vector<url::option> rest;
  for (const url::option& option : o.own) {
    if (option.first == "session-timeout") {
      out.session_timeout = read_session_timeout(o, option);
    } else if (option.first == "revocation-timeout") {
      out.revocation_timeout = read_revocation_timeout(o, option);
    } else if (option.first == "layout") {
      out.layout = read_layout(o, option);
    } else if (option.first == "extra-lock-patterns") {
      out.extra_lock_patterns = read_patterns(o, option.second);
    } else if (option.first == "attach") {
      out.attach = read_attach(o, option);
    } else if (!out.tls || !core::read_tls_option(*out.tls, option)) {
      rest.push_back(option);
    }
  }
  if (!out.extra_lock_patterns.empty() && !out.layout.starts_with("kazoo"))
    refuse(o, "extra-lock-patterns is an option of layout=kazoo and layout=kazoo-rw",
           errc::bad_option);
  if (out.tls) core::check_tls_files(o, *out.tls);
  core::refuse_unknown_options(o.where, rest,
                               out.tls ? "layout, extra-lock-patterns, session-timeout, attach, "
                                         "revocation-timeout, tls-ca, tls-cert, tls-key, tls-host"
                                       : "layout, extra-lock-patterns, session-timeout, attach, "
                                         "revocation-timeout");
  return out;
}

}  // namespace holdfast::zookeeper
