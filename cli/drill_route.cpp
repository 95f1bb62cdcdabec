#include "cli/drill_route.hpp"

#include <algorithm>
#include <string_view>

#include "cli/server_address.hpp"

namespace holdfast::cli {
namespace {

bool has_option(const url& where, std::string_view name) {
  return std::ranges::find(where.options(), name, &url::option::first) != where.options().end();
}

// The name in the certificates, when it is the same for all servers; else empty.
std::string name_of_all(const std::vector<url::endpoint>& servers) {
  const auto is_other = [&](const url::endpoint& e) { return e.host != servers.front().host; };
  return std::ranges::any_of(servers, is_other) ? "" : servers.front().host;
}

std::string obstacle_of(const url& where) {
  const std::string& scheme = where.scheme();
  if (where.endpoints().empty() || has_option(where, "socket"))
    return "the URL names no address of a server";
  if (scheme == "mysql" && where.uses_tls())
    return "with TLS, libmariadb verifies the host of the URL, and a proxy has another";
  if (scheme.ends_with("+shards") && !has_option(where, "names"))
    return "the addresses are the names of the shards; give names= in the URL";
  if (!where.uses_tls()) return {};
  if (is_of_announcing_servers(where))
    return "with TLS, the drill does not query the addresses that the servers announce";
  if (!has_option(where, "tls-host") && name_of_all(where.endpoints()).empty())
    return "the certificates have the names of several hosts, and all proxies have one; give "
           "tls-host= in the URL if they have one name";
  return {};
}

bool is_named(std::string_view item, const std::vector<url::option>& options) {
  const auto is_it = [name = item.substr(0, item.find('='))](const url::option& o) {
    return o.first == name;
  };
  return std::ranges::any_of(options, is_it);
}

}  // namespace

bool is_of_announcing_servers(const url& where) {
  return where.scheme().ends_with("+sentinel") || where.scheme().ends_with("+cluster");
}

std::string master_name_in(const url& where) {
  const std::string& path = where.path();
  const auto begin = path.starts_with('/') ? std::size_t{1} : 0;
  return path.substr(begin, path.find('/', begin) - begin);
}

std::string failover_obstacle(const std::optional<url>& where) {
  if (!where || !is_of_announcing_servers(*where))
    return "--failover=auto needs a redis+sentinel: or redis+cluster: URL; for this store, give "
           "--failover a command of yours";
  if (where->uses_tls())
    return "--failover=auto does not use TLS; give --failover a command, for example one with "
           "redis-cli --tls";
  return {};
}

std::string failover_commands(const url& where) {
  if (where.scheme().ends_with("+cluster")) return "CLUSTER FAILOVER at a replica of each master";
  return "SENTINEL FAILOVER " + master_name_in(where);
}

drill_route route_of(const std::optional<url>& where) {
  drill_route out;
  if (!where || where->scheme() == "file" || where->scheme() == "memory") return out;
  out.obstacle = obstacle_of(*where);
  if (!out.obstacle.empty()) return out;
  out.servers = where->endpoints();
  for (url::endpoint& each : out.servers)
    if (each.port == 0) each.port = where->default_port();
  if (where->uses_tls() && where->scheme() != "mysql" && !has_option(*where, "tls-host"))
    out.new_options.emplace_back("tls-host", name_of_all(out.servers));
  return out;
}

std::string with_servers(const std::string& text, const std::vector<url::endpoint>& servers,
                         const std::vector<url::option>& options) {
  const std::string_view whole = text;
  const auto begin = whole.find("//") + 2;
  const auto end = std::min(whole.find_first_of("/?", begin), whole.size());
  const auto question = std::min(whole.find('?', end), whole.size());
  const auto at = whole.substr(begin, end - begin).rfind('@');
  std::string out(whole.substr(0, at == whole.npos ? begin : begin + at + 1));
  for (const url::endpoint& each : servers)
    out += (&each == &servers.front() ? "" : ",") + address_text(each);
  out += whole.substr(end, question - end);
  char mark = '?';
  const auto append = [&](std::string_view item) {
    out += mark;
    out += item;
    mark = '&';
  };
  std::string_view query = whole.substr(std::min(question + 1, whole.size()));
  while (!query.empty()) {
    const std::string_view item = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(item.size() + 1, query.size()));
    if (!is_named(item, options)) append(item);
  }
  for (const auto& [name, value] : options) append(std::string(name).append(1, '=').append(value));
  return out;
}

std::string with_default(const std::string& text, const std::optional<url>& where,
                         const std::string& name, const std::string& value) {
  if (where && has_option(*where, name)) return text;
  return text + (text.find('?') == text.npos ? '?' : '&') + name + '=' + value;
}

}  // namespace holdfast::cli
