#include "backend/redis/settings.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "backend/redis/layouts/layouts.hpp"
#include "backend/redis/topologies/several_servers.hpp"
#include "base/fail.hpp"
#include "base/number.hpp"
#include "base/secret.hpp"
#include "base/url_parts.hpp"
#include "base/words.hpp"
#include "seam/own_options.hpp"

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;

constexpr double databases_max = 1 << 20, required_replicas_max = 100;

[[noreturn]] void refuse(const seam::open_args& o, std::string why) {
  base::fail(errc::bad_url, "open", std::move(why), {}, o.where.text());
}

base::address address_of(const url::endpoint& e, const url& where) {
  base::address out;
  out.host = e.host;
  out.port = e.port ? e.port : where.default_port();
  return out;
}

int database_of(const seam::open_args& o, std::string_view text) {
  const auto n = base::whole_number<int>(text);
  if (!n || *n < 0) refuse(o, "the path is the number of a database, as in redis://host:6379/0");
  return *n;
}

bool is_redlock(const seam::open_args& o) {
  return o.where.scheme() == "redlock" || o.where.scheme() == "redlocks";
}

bool has_sentinels(const seam::open_args& o) { return o.where.scheme().ends_with("+sentinel"); }

bool is_cluster(const seam::open_args& o) { return o.where.scheme().ends_with("+cluster"); }

struct path_parts {
  std::string_view master, database;  // empty: there is none
};

path_parts parts_of_path(const seam::open_args& o) {
  std::string_view path = o.where.path();
  if (path.starts_with('/')) path.remove_prefix(1);
  if (!has_sentinels(o)) return {{}, path};
  const auto slash = std::min(path.find('/'), path.size());
  return {path.substr(0, slash), path.substr(std::min(slash + 1, path.size()))};
}

void read_place(const seam::open_args& o, settings& out) {
  const bool is_unix = o.where.scheme() == "redis+unix";
  const auto& endpoints = o.where.endpoints();
  if (is_unix) {
    if (!endpoints.empty()) refuse(o, "a Unix socket has no host: redis+unix:///run/redis.sock");
    out.where.path = o.where.path();
    if (out.where.path.size() < 2) refuse(o, "name the socket: redis+unix:///run/redis.sock");
    constexpr std::size_t path_max = 107;  // of sockaddr_un
    if (out.where.path.size() > path_max) refuse(o, "the socket's path is longer than 107 bytes");
    return;
  }
  const bool has_several = is_redlock(o) || has_sentinels(o) || is_cluster(o);
  if (endpoints.size() != 1 && !has_several)
    refuse(o, "name one host: redis://host:6379; several independent servers are redlock://a,b,c, "
              "a master that sentinels watch is redis+sentinel://s1,s2,s3/name, and a cluster is "
              "redis+cluster://a,b");
  if (endpoints.size() < 3 && is_redlock(o))
    refuse(o,
           "name three servers at least, each an independent master: redlock://a,b,c; with fewer "
           "the failure of one leaves no majority");
  if (endpoints.empty()) refuse(o, "name a node: redis+cluster://a,b");
  if (endpoints.size() > independent_servers_max) refuse(o, "name at most 15 servers");
  if (!has_sentinels(o)) out.where = address_of(endpoints[0], o.where);
  const std::string_view database = parts_of_path(o).database;
  if (!database.empty()) out.database = database_of(o, database);
}

int database_option(const seam::open_args& o, const seam::own_options& own,
                    std::string_view value) {
  const double number = seam::parse_number(value, "db", 0, databases_max);
  const int database = static_cast<int>(number);
  if (database != number) own.refuse("db: give a whole number");
  const std::string_view path = parts_of_path(o).database;
  if (o.where.scheme() == "redis+unix" || path.empty()) return database;
  const int of_path = database_of(o, path);
  if (database != of_path)
    own.refuse("the path says database " + std::to_string(of_path) + " and db= says " +
               std::to_string(database) + "; keep one");
  return database;
}

// The servers of the URL; each has the user, the password and the times of `like`.
std::vector<endpoint> servers_like(const endpoint& like, const seam::open_args& o) {
  std::vector<endpoint> out;
  for (const url::endpoint& e : o.where.endpoints()) {
    endpoint& to = out.emplace_back(like);
    to.move_to(address_of(e, o.where));
    to.text = base::text_of(to.where);
  }
  return out;
}

void refuse_twins(const seam::open_args& o, const settings& s) {
  for (const endpoint& e : s.servers)
    if (std::ranges::count(s.servers, e.text, &endpoint::text) > 1)
      refuse(o, "it names " + e.text + " twice; each server has one vote");
}

void read_redlock_options(const seam::open_args& o, seam::own_options& own, settings& out) {
  out.max_ttl = 1min;
  own.time("max-ttl", out.max_ttl);
  out.max_ttl = std::chrono::ceil<std::chrono::milliseconds>(out.max_ttl);
  if (const base::failure f = seam::limit_fault(o.shared.ttl, out.max_ttl); f.code)
    own.refuse(f.text);
  out.node_timeout = std::clamp<duration>(o.shared.ttl / 10, 10ms, 500ms);
  own.time("node-timeout", out.node_timeout);
  if (out.node_timeout < 1ms || out.node_timeout > o.shared.ttl / 4)
    own.refuse("node-timeout: give at least 1ms, and at most a quarter of the ttl");
}

// "host:port", or "[::1]:port"; nothing: it is neither.
std::optional<base::address> read_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  const auto port = base::whole_number<int>(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || !port || *port < 1 || *port > 65535) return std::nullopt;
  base::address out;
  out.host = host;
  out.port = *port;
  return out;
}

// "told=reached,told=reached".
void read_map(std::string_view text, const seam::own_options& own, settings& out) {
  while (!text.empty()) {
    const std::string_view item = base::next_word(text, ',');
    const auto equals = item.find('=');
    const auto from = read_address(item.substr(0, equals));
    const auto to = equals == item.npos ? std::nullopt : read_address(item.substr(equals + 1));
    if (!from || !to)
      own.refuse("map: give the address that is announced and the one to connect to, as in "
                 "map=10.0.0.7:6379=127.0.0.1:7001; several are separated by commas");
    out.map.emplace_back(*from, *to);
  }
}

// Each has the options of the connection in common, and a user and a password of its own.
void read_sentinels(const seam::open_args& o, seam::own_options& own, settings& out) {
  if (!has_sentinels(o)) return;
  out.master = parts_of_path(o).master;
  if (out.master.empty())
    refuse(o, "the path is the name by which the sentinels know the master: "
              "redis+sentinel://s1,s2,s3/name");
  endpoint shared = out;
  shared.database = 0;
  shared.user.clear();
  shared.password.clear();
  own.text("sentinel-user", shared.user);
  bool has_password = own.read("sentinel-password-file", [&](std::string_view file) {
    base::read_password_file(std::string(file), shared.password);
  });
  own.read("sentinel-password-env", [&](std::string_view name) {
    if (has_password) own.refuse("keep one of sentinel-password-file and sentinel-password-env");
    base::read_password_variable(std::string(name), shared.password);
    has_password = true;
  });
  if (!shared.user.empty() && !has_password)
    own.refuse("sentinel-user needs a password: give sentinel-password-file");
  out.sentinels = servers_like(shared, o);
}

void read_replicas(std::string_view text, const seam::own_options& own, settings& out) {
  if (text == "majority") {
    out.by_majority = true;
    return;
  }
  const double number = seam::parse_number(text, "replicas", 0, required_replicas_max);
  out.replicas = static_cast<int>(number);
  if (out.replicas != number) own.refuse("replicas: give a whole number, or majority");
}

void read_options(const seam::open_args& o, settings& out) {
  seam::own_options own(o);
  own.text("prefix", out.prefix);
  own.read("db", [&](std::string_view value) { out.database = database_option(o, own, value); });
  if (is_redlock(o)) {
    out.layout = layout_of_redlock;
    read_redlock_options(o, own, out);
  } else {
    own.layout(out.layout, {is_layout, layout_names, danger_of});
    own.flag("fair", out.is_fair);
    own.read("replicas", [&](std::string_view value) { read_replicas(value, own, out); });
  }
  if (own.time("probe", out.probe) && out.probe != duration::zero())
    out.probe = std::clamp<duration>(out.probe, 100ms, 24h);
  if (own.time("stale-after", out.stale_after) && out.layout != "getset")
    own.refuse("stale-after is an option of layout=getset");
  out.stale_after = std::clamp<duration>(out.stale_after, 100ms, 24h * 366);
  own.time("retry-base", out.retry_base);
  out.retry_base = std::clamp<duration>(out.retry_base, 1ms, 1min);
  if (out.is_fair && out.layout != redisson_family)
    own.refuse("fair is an option of layout=redisson");
  if (out.tls) own.tls(*out.tls);
  out.has_tls_host = out.tls && out.tls->host != out.where.host;
  read_sentinels(o, own, out);
  if (has_sentinels(o) || is_cluster(o))
    own.read("map", [&](std::string_view value) { read_map(value, own, out); });
  if (is_cluster(o) && out.database != 0)
    own.refuse("a cluster has database 0 only; leave the number out");
  own.refuse_others();
}

}  // namespace

base::address settings::reachable(const base::address& announced) const {
  for (const auto& [from, to] : map)
    if (base::text_of(from) == base::text_of(announced)) return to;
  return announced;
}

settings read_settings(const seam::open_args& o) {
  settings out;
  out.layout = default_layout;
  read_place(o, out);
  out.user = o.where.user();
  out.password = o.password.empty() ? secret_access::password(o.where) : o.password;
  if (!out.user.empty() && out.password.empty())
    refuse(o, "a user needs a password: redis://user:password@host, or ?password-file=");
  out.retry_base = 50ms;
  out.connect_timeout = o.shared.connect_timeout;
  out.op_timeout = o.shared.op_timeout;
  out.probe = std::max<duration>(1s, o.shared.ttl / 3);
  out.rules = {.op_timeout = o.shared.op_timeout,
               .clock_skew = o.shared.clock_skew,
               .outage_timeout = o.shared.outage_timeout};
  out.text = o.where.text();
  out.log = o.shared.log;
  base::process_identity me = o.env.process();
  out.host = std::move(me.host);
  out.process = me.pid;
  if (o.where.uses_tls()) {
    out.tls.emplace();
    out.tls->host = out.where.host;
  }
  read_options(o, out);
  if (is_redlock(o)) {
    out.servers = servers_like(out, o);
    refuse_twins(o, out);
  }
  if (is_cluster(o)) out.seeds = servers_like(out, o);
  return out;
}

}  // namespace holdfast::redis
