#include "backend/zookeeper/settings.hpp"

#include <utility>

#include "backend/zookeeper/layouts/layouts.hpp"
#include "backend/zookeeper/transport/chroot.hpp"
#include "base/fail.hpp"
#include "base/secret.hpp"
#include "base/url_parts.hpp"
#include "seam/own_options.hpp"

namespace holdfast::zookeeper {

namespace {

using namespace std::chrono_literals;

constexpr duration default_session_timeout = 30s;
constexpr duration session_timeout_min = 100ms, session_timeout_max = 24h;
constexpr duration default_retry_base = 50ms;
constexpr duration default_revocation_timeout = 1s, revocation_timeout_max = 1h;
constexpr std::string_view server_tree = "/zookeeper";  // the servers' own

void read_servers(const seam::open_args& o, settings& out) {
  for (const url::endpoint& e : o.where.endpoints())
    out.servers.push_back({e.host, e.port ? e.port : o.where.default_port(), {}});
  if (out.servers.empty())
    base::refuse_url(o.where, "name the servers: zookeeper://host1,host2:2181,host3/chroot");
}

void read_chroot(const seam::open_args& o, settings& out) {
  std::string_view path = o.where.path();
  if (path.ends_with('/')) path.remove_suffix(1);
  if (path.empty() || path == "/") return;
  if (const auto fault = path_fault(path); !fault.empty())
    base::refuse_url(o.where,
                     "the path is the node under which the locks are: " + std::string(fault));
  if (path == server_tree || path.starts_with(std::string(server_tree) + '/'))
    base::refuse_url(o.where, "the nodes under /zookeeper are the servers' own; name another path");
  out.chroot = path;
}

void read_credentials(const seam::open_args& o, settings& out) {
  const std::string_view password =
      o.password.empty() ? secret_access::password(o.where) : o.password;
  const std::string& user = o.where.user();
  if (user.empty() && password.empty()) return;
  if (user.empty() || password.empty())
    base::refuse_url(
        o.where,
        "a user needs a password, and a password a user: zookeeper://user:password@host, or "
        "?password-file= for the password");
  if (user.find(':') != std::string::npos)
    base::refuse_url(o.where, "a user's name has no ':' in ZooKeeper");
  out.credentials = user + ':' + std::string(password);
}

std::vector<std::string> patterns_of(const seam::own_options& own, std::string_view all) {
  std::vector<std::string> out;
  while (!all.empty()) {
    const std::size_t end = std::min(all.find(','), all.size());
    if (end == 0) own.refuse("extra-lock-patterns: a pattern is empty");
    out.emplace_back(all.substr(0, end));
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  return out;
}

void read_options(const seam::open_args& o, settings& out) {
  seam::own_options own(o);
  own.layout(out.layout, {is_layout, layout_names, danger_of});
  own.read("extra-lock-patterns",
           [&](std::string_view all) { out.extra_lock_patterns = patterns_of(own, all); });
  if (!out.extra_lock_patterns.empty() && !out.layout.starts_with("kazoo"))
    own.refuse("extra-lock-patterns is an option of layout=kazoo and layout=kazoo-rw");
  own.time("session-timeout", out.session_timeout);
  if (out.session_timeout < session_timeout_min || out.session_timeout > session_timeout_max)
    own.refuse("session-timeout: give 100ms to 24h; the server may grant another one within its "
               "own bounds");
  own.read("attach", [&](const std::string& value) {
    if (value != "any" && value != "leader")
      own.refuse("attach: there is no \"" + base::shown_option_value(value) +
                 "\"; there is any and leader");
    out.attach = value == "any" ? attach_to::any : attach_to::leader;
  });
  own.time("revocation-timeout", out.revocation_timeout);
  if (out.revocation_timeout < duration::zero() || out.revocation_timeout > revocation_timeout_max)
    own.refuse("revocation-timeout: give 0 to 1h; 0 breaks a lock without asking its holder");
  if (out.tls) own.tls(*out.tls);
  own.refuse_others();
}

}  // namespace

settings read_settings(const seam::open_args& o) {
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
  out.log = o.shared.log;
  out.layout = default_layout;
  out.rules = {.op_timeout = o.shared.op_timeout,
               .clock_skew = o.shared.clock_skew,
               .outage_timeout = o.shared.outage_timeout};
  if (o.where.uses_tls()) out.tls.emplace();
  read_options(o, out);
  return out;
}

}  // namespace holdfast::zookeeper
