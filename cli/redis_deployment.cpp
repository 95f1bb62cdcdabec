#include "cli/redis_deployment.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "cli/drill_route.hpp"
#include "cli/server_address.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

// A line of CLUSTER NODES.
struct redis_deployment::node {
  std::string id, flags, master, link, first_slots;
  url::endpoint at;
  bool has(std::string_view flag) const {
    return (',' + flags + ',').find(',' + std::string(flag) + ',') != std::string::npos;
  }
  bool is_up() const { return !has("fail") && !has("noaddr") && !has("handshake"); }
};

namespace {

constexpr auto promotion_bound = 30s, longest_failover = 6s;
constexpr auto promotion_glance = 100ms;

// False: a stop was requested. Throws std::runtime_error when it does not happen in time.
bool await_promotion(const std::string& failure, const std::stop_token& stop,
                     const std::function<bool()>& has_happened) {
  const auto until = std::chrono::steady_clock::now() + promotion_bound;
  while (!has_happened()) {
    if (stop.stop_requested()) return false;
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error(failure);
    std::this_thread::sleep_for(promotion_glance);
  }
  return true;
}

// The value of a field in a list of names and values.
std::string field_of(const redis_value& of, std::string_view name) {
  for (std::size_t i = 0; i + 1 < of.items.size(); i += 2)
    if (of.items[i].text == name) return of.items[i + 1].text;
  return {};
}

void add_address(const std::string& host, const std::string& port, std::vector<url::endpoint>& to) {
  const auto at =
      read_address((host.find(':') == host.npos ? host : '[' + host + ']') + ':' + port);
  if (!at) return;
  const auto is_it = [&](const url::endpoint& e) { return address_text(e) == address_text(*at); };
  if (std::ranges::none_of(to, is_it)) to.push_back(*at);
}

}  // namespace

redis_deployment::redis_deployment(const std::string& text, const url& where)
    : where_(where),
      of_servers_(credentials_of_servers(text, where)),
      of_sentinels_(credentials_of_sentinels(where)),
      has_sentinels_(where.scheme().ends_with("+sentinel")) {}

std::vector<url::endpoint> redis_deployment::announced() const {
  return has_sentinels_ ? announced_by_sentinels() : announced_by_nodes();
}

void redis_deployment::fail_over(const std::stop_token& stop) const {
  if (has_sentinels_)
    fail_over_by_sentinel(stop);
  else
    fail_over_in_cluster(stop);
}

url::endpoint redis_deployment::reachable(const url::endpoint& announced) const {
  const auto given = std::ranges::find(where_.options(), "map", &url::option::first);
  std::string_view map = given == where_.options().end() ? std::string_view() : given->second;
  while (!map.empty()) {
    const std::string_view item = map.substr(0, map.find(','));
    map.remove_prefix(std::min(item.size() + 1, map.size()));
    const auto equals = std::min(item.find('='), item.size());
    const auto from = read_address(item.substr(0, equals));
    const auto to = read_address(item.substr(std::min(equals + 1, item.size())));
    if (from && to && address_text(*from) == address_text(announced)) return *to;
  }
  return announced;
}

// A connection to the first sentinel or node of the URL that is reachable.
redis_session redis_deployment::open_first() const {
  std::string reason = "the URL names no server";
  for (const url::endpoint& each : route_of(where_).servers) {
    try {
      return redis_session(each, has_sentinels_ ? of_sentinels_ : of_servers_);
    } catch (const std::runtime_error& e) {
      reason = e.what();
    }
  }
  throw std::runtime_error(reason);
}

std::string redis_deployment::master_name() const { return master_name_in(where_); }

url::endpoint redis_deployment::master_of(redis_session& sentinel) const {
  const redis_value reply =
      sentinel.checked_command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_name()});
  std::vector<url::endpoint> found;
  if (reply.items.size() == 2) add_address(reply.items[0].text, reply.items[1].text, found);
  if (found.empty())
    throw std::runtime_error("the sentinel does not know a master \"" + master_name() + '"');
  return found.front();
}

std::vector<url::endpoint> redis_deployment::announced_by_sentinels() const {
  redis_session sentinel = open_first();
  std::vector<url::endpoint> all{master_of(sentinel)};
  const redis_value replicas = sentinel.checked_command({"SENTINEL", "REPLICAS", master_name()});
  for (const redis_value& each : replicas.items)
    add_address(field_of(each, "ip"), field_of(each, "port"), all);
  return all;
}

// A sentinel refuses while it has no recent report of a replica (NOGOODSLAVE). While another
// failover is in progress (INPROG), that one counts.
void redis_deployment::fail_over_by_sentinel(const std::stop_token& stop) const {
  redis_session sentinel = open_first();
  const std::string before = address_text(master_of(sentinel));
  const bool is_accepted =
      await_promotion("the sentinel accepted no failover within 30 s", stop, [&] {
        const redis_value reply = sentinel.command({"SENTINEL", "FAILOVER", master_name()});
        const bool has_begun = !reply.is_error() || reply.text.starts_with("INPROG");
        if (!has_begun && !reply.text.starts_with("NOGOODSLAVE"))
          throw std::runtime_error("SENTINEL FAILOVER: " + reply.text);
        return has_begun;
      });
  if (!is_accepted) return;
  await_promotion("the sentinel named no other master within 30 s", stop,
                  [&] { return address_text(master_of(sentinel)) != before; });
}

std::vector<redis_deployment::node> redis_deployment::nodes_of(redis_session& of) const {
  std::vector<node> all;
  std::istringstream lines(of.checked_command({"CLUSTER", "NODES"}).text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    node one;
    std::string place, ping, pong, epoch;
    words >> one.id >> place >> one.flags >> one.master >> ping >> pong >> epoch >> one.link >>
        one.first_slots;
    const auto at = read_address(place.substr(0, place.find('@')));
    if (!at) continue;  // its address is not known yet
    one.at = *at;
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<url::endpoint> redis_deployment::announced_by_nodes() const {
  redis_session any = open_first();
  std::vector<url::endpoint> all;
  for (const node& each : nodes_of(any))
    if (each.is_up()) add_address(each.at.host, std::to_string(each.at.port), all);
  if (all.empty()) throw std::runtime_error("the node reports no addresses");
  return all;
}

void redis_deployment::fail_over_in_cluster(const std::stop_token& stop) const {
  redis_session any = open_first();
  const std::vector<node> all = nodes_of(any);
  bool is_any_promoted = false;
  for (const node& master : all) {
    if (!master.has("master") || !master.is_up() || master.first_slots.empty()) continue;
    const auto is_replica_of_it = [&](const node& n) {
      return n.master == master.id && n.is_up() && n.link == "connected";
    };
    const auto replica = std::ranges::find_if(all, is_replica_of_it);
    if (replica == all.end() || stop.stop_requested()) continue;
    promote(*replica, stop);
    is_any_promoted = true;
  }
  if (!is_any_promoted && !stop.stop_requested())
    throw std::runtime_error("no master of the cluster has a replica that is connected");
}

// Redis gives up a failover that has not ended after five seconds, and refuses one while the
// replica has no connection to its master.
void redis_deployment::promote(const node& replica, const std::stop_token& stop) const {
  redis_session at(reachable(replica.at), of_servers_);
  auto next_request = std::chrono::steady_clock::now();
  std::string refusal;
  const auto is_promoted = [&] {
    const redis_value role = at.checked_command({"ROLE"});
    if (!role.items.empty() && role.items.front().text == "master") return true;
    if (std::chrono::steady_clock::now() < next_request) return false;
    const redis_value reply = at.command({"CLUSTER", "FAILOVER"});
    refusal = reply.is_error() ? " (" + reply.text + ')' : "";
    next_request = std::chrono::steady_clock::now() + (reply.is_error() ? 1s : longest_failover);
    return false;
  };
  try {
    await_promotion(address_text(replica.at) + " was not promoted within 30 s", stop, is_promoted);
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(e.what() + refusal);
  }
}

}  // namespace holdfast::cli
