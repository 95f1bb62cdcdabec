#include "backend/mysql/settings.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backend/mysql/strategies/strategies.hpp"
#include "backend/mysql/transport/statement.hpp"
#include "base/fail.hpp"
#include "base/secret.hpp"
#include "base/url_parts.hpp"
#include "seam/own_options.hpp"

namespace holdfast::mysql {

namespace {

using namespace std::chrono_literals;

constexpr duration default_idle_timeout = 30s, idle_timeout_min = 1s, idle_timeout_max = 10min;
constexpr duration default_retry_base = 50ms;
constexpr double connections_max = 10'000;
constexpr double connections_of_rows = 16, connections_of_pins = 64;
constexpr std::size_t table_name_max = 56;  // 64 of MySQL, less the suffix of a second table
constexpr std::size_t path_max = 107;       // of sockaddr_un

void read_place(const seam::open_args& o, settings& out) {
  for (const auto& e : o.where.endpoints()) {
    base::address server{e.host, e.port ? e.port : o.where.default_port(), {}};
    const auto is_same = [&](const base::address& other) {
      return other.host == server.host && other.port == server.port;
    };
    if (std::ranges::any_of(out.servers, is_same))
      base::refuse_url(o.where, "the server " + base::text_of(server) + " is named twice");
    out.servers.push_back(std::move(server));
  }
  std::string_view path = o.where.path();
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.find('/') != path.npos) base::refuse_url(o.where, "the path is the name of a database");
  out.database = path;
}

void read_socket(seam::own_options& own, settings& out) {
  std::string path;
  if (!own.text("socket", path)) {
    if (out.servers.empty())
      own.refuse("name a host, mysql://user@host:3306/database, or a Unix socket with ?socket=");
    return;
  }
  if (!path.starts_with('/')) own.refuse("socket: give the path of a Unix socket");
  if (path.size() > path_max) own.refuse("socket: the path is longer than 107 bytes");
  const auto is_elsewhere = [](const base::address& a) { return a.host != "localhost"; };
  if (out.servers.size() > 1 || std::ranges::any_of(out.servers, is_elsewhere))
    own.refuse("socket: a Unix socket is on this machine, and the URL names another host");
  out.servers = {{"localhost", 0, path}};
}

void read_tls(const seam::open_args& o, seam::own_options& own, settings& out) {
  const bool has_socket = !out.servers.front().path.empty();
  bool wants_tls = o.where.uses_tls();
  own.flag("tls", wants_tls);
  base::tls_terms terms;
  own.tls(terms);
  const bool has_terms = std::ranges::any_of(o.own, [](const url::option& each) {
    return each.first.starts_with("tls-");
  });
  if (has_terms && !wants_tls) own.refuse("tls=0 is given, and the options of TLS have no effect");
  if (!wants_tls) return;
  if (has_socket) own.refuse("tls: a Unix socket has no TLS");
  if (!terms.host.empty())
    own.refuse("tls-host: libmariadb verifies the host of the URL, and no other name");
  out.tls = std::move(terms);
}

void read_options(const seam::open_args& o, settings& out) {
  seam::own_options own(o);
  own.text("strategy", out.strategy);
  if (!is_strategy(out.strategy))
    own.refuse("strategy: there is no \"" + base::shown_option_value(out.strategy) +
               "\"; there is " + strategy_names());
  const bool is_insert = out.strategy == "insert";
  if (is_insert) out.records = insert::read_columns(own);
  own.text("prefix", out.prefix);
  out.table = default_table_of(out.strategy);
  const bool has_table = !out.table.empty();
  if (own.text("table", out.table) && !has_table)
    own.refuse("table: strategy=" + out.strategy + " has no table");
  if (has_table && (!is_identifier(out.table) || out.table.size() > table_name_max))
    own.refuse("table: give 1 to 56 letters, digits and underscores");
  read_socket(own, out);
  read_tls(o, own, out);
  own.time("retry-base", out.retry_base);
  out.retry_base = std::clamp<duration>(out.retry_base, 1ms, 1min);
  own.time("idle-timeout", out.idle_timeout);
  if (out.idle_timeout < idle_timeout_min || out.idle_timeout > idle_timeout_max ||
      out.idle_timeout % 1s != duration::zero())
    own.refuse("idle-timeout: give whole seconds, 1s to 10m");
  const bool pins = pins_connections(out.strategy);
  const double number = own.number("connections", pins ? connections_of_pins : connections_of_rows,
                                   1, connections_max);
  if (number != std::floor(number)) own.refuse("connections: give a whole number");
  out.connections = static_cast<std::size_t>(number);
  // A row is created within this time, or another connection has locked it meanwhile.
  if (pins) out.row_wait = 1s;
  own.refuse_others();
}

}  // namespace

settings read_settings(const seam::open_args& o) {
  settings out;
  out.strategy = default_strategy;
  read_place(o, out);
  out.user = o.where.user();
  out.password = o.password.empty() ? secret_access::password(o.where) : o.password;
  if (out.database.empty())
    base::refuse_url(o.where,
                     "name the database in which the locks are: mysql://user@host:3306/database");
  out.retry_base = default_retry_base;
  out.idle_timeout = default_idle_timeout;
  out.connect_timeout = o.shared.connect_timeout;
  out.op_timeout = o.shared.op_timeout;
  out.row_wait = o.shared.ttl / 4;
  out.rules = {.op_timeout = o.shared.op_timeout,
               .clock_skew = o.shared.clock_skew,
               .outage_timeout = o.shared.outage_timeout};
  out.text = o.where.text();
  out.log = o.shared.log;
  base::process_identity me = o.env.process();
  out.host = std::move(me.host);
  out.process = me.pid;
  read_options(o, out);
  return out;
}

}  // namespace holdfast::mysql
