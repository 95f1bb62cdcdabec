#include "backend/redis/settings.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "backend/redis/layouts/layouts.hpp"
#include "base/fail.hpp"
#include "base/secret.hpp"
#include "base/url_parts.hpp"
#include "seam/own_options.hpp"

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;

constexpr int default_port = 6379;
constexpr double databases_max = 1 << 20;

[[noreturn]] void refuse(const seam::open_args& o, std::string why) {
  base::fail(errc::bad_url, "open", std::move(why), {}, o.where.text());
}

int database_of(const seam::open_args& o, std::string_view text) {
  int n = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 0)
    refuse(o, "the path is the number of a database, as in redis://host:6379/0");
  return n;
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
  if (endpoints.size() != 1) refuse(o, "name one host: redis://host:6379");
  out.where.host = endpoints[0].host;
  out.where.port = endpoints[0].port ? endpoints[0].port : default_port;
  std::string_view path = o.where.path();
  if (path.starts_with('/')) path.remove_prefix(1);
  if (!path.empty()) out.database = database_of(o, path);
}

int database_option(const seam::open_args& o, const seam::own_options& own,
                    std::string_view value) {
  const double number = seam::parse_number(value, "db", 0, databases_max);
  const int database = static_cast<int>(number);
  if (database != number) own.refuse("db: give a whole number");
  std::string_view path = o.where.path();
  if (path.starts_with('/')) path.remove_prefix(1);
  if (o.where.scheme() == "redis+unix" || path.empty()) return database;
  const int of_path = database_of(o, path);
  if (database != of_path)
    own.refuse("the path says database " + std::to_string(of_path) + " and db= says " +
               std::to_string(database) + "; keep one");
  return database;
}

void read_options(const seam::open_args& o, settings& out) {
  seam::own_options own(o);
  own.text("prefix", out.prefix);
  own.read("db", [&](std::string_view value) { out.database = database_option(o, own, value); });
  own.layout(out.layout, {is_layout, layout_names, danger_of});
  own.flag("fair", out.is_fair);
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
  own.refuse_others();
}

}  // namespace

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
  if (o.where.scheme() == "rediss") {
    out.tls.emplace();
    out.tls->host = out.where.host;
  }
  read_options(o, out);
  return out;
}

}  // namespace holdfast::redis
