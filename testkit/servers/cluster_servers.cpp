#include "testkit/servers/cluster_servers.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "testkit/eventually.hpp"
#include "testkit/servers/port.hpp"

namespace holdfast::testkit {
namespace {

// On a busy machine an election may fail, and is repeated after twice its timeout.
constexpr std::chrono::seconds cluster_bound{90};
constexpr std::chrono::seconds meeting_bound{1};  // after which a node may forget the other one
constexpr const char* migrate_timeout_ms = "20000";

// Whether the view lists the node as reachable and as a replica of the master with that id. With an
// empty id: as a master.
bool is_listed(const cluster_view& view, const std::string& id, const std::string& master) {
  const cluster_node* const node = view.find(id);
  return node && node->is_reachable && node->master == master;
}

// Whether a node with this id has sent these messages of the bus: each begins with a signature, 36
// bytes of numbers, and the id.
bool are_sent_by(std::string_view id, std::string_view messages) {
  constexpr std::size_t sender_at = 40;
  return messages.starts_with("RCmb") && messages.size() >= sender_at + id.size() &&
         messages.substr(sender_at, id.size()) == id;
}

}  // namespace

cluster_servers::cluster_servers(const cluster_options& options) : options_(options) {
  if (options_.tls) certificates_.emplace(folder_);
  // A master serves 2 s after its start at the earliest. The replicas start meanwhile.
  for (std::size_t i = 0; i < options_.masters * (1 + options_.replicas); ++i) {
    add_server();
    ids_.push_back(checked_command(i, {"CLUSTER", "MYID"}).text);
  }
  join();
  assign_replicas();
  wait_until("do not join", [this] { return is_complete(); });
}

// The proxy of its bus needs a port before the server has one.
void cluster_servers::add_server() {
  redis_options options = server_options();
  if (options_.can_be_cut) {
    constexpr int none_yet = 1;
    buses_.push_back(std::make_unique<tcp_proxy>(none_yet));
    options.config.push_back("cluster-announce-bus-port " + std::to_string(buses_.back()->port()));
  }
  servers_.push_back(std::make_unique<redis_server>(options));
  if (options_.can_be_cut) buses_.back()->route_to(servers_.back()->port() + bus_offset);
}

std::string cluster_servers::bus_port(std::size_t i) const {
  return std::to_string(options_.can_be_cut ? buses_[i]->port() : servers_[i]->port() + bus_offset);
}

// Replicas log in to their master as the user that the test itself uses.
redis_options cluster_servers::server_options() const {
  redis_options all = options_.servers;
  all.cluster = true;
  all.config.clear();
  const auto add = [&](const std::string& line) { all.config.push_back(line); };
  add("masteruser testkit");
  add("masterauth any");
  add("cluster-node-timeout " + std::to_string(options_.node_timeout.count()));
  add(std::string("cluster-require-full-coverage ") + (options_.full_coverage ? "yes" : "no"));
  // A replica replaces its master however long it has not received from it, and stays in its shard.
  add("cluster-replica-validity-factor 0");
  add("cluster-migration-barrier 1000");
  // Nodes do not list a replica before it has received something, which may be this ping.
  add("repl-ping-replica-period 1");
  if (certificates_) {
    all.tls = "server";
    add("tls-cert-file " + certificates_->certificate("server"));
    add("tls-key-file " + certificates_->key("server"));
    add("tls-ca-cert-file " + certificates_->certificate("ca"));
    add("tls-replication yes");
    add("tls-cluster yes");
  }
  for (const std::string& line : options_.servers.config) add(line);  // may override the others
  return all;
}

// Each node meets each other one: gossip would take seconds to introduce them. Different epochs
// spare the nodes a conflict, and can be set only before a node knows another one. A meeting on a
// busy machine may take too long. Then one of the two nodes forgets the other, and ignores it until
// they meet again.
void cluster_servers::join() {
  for (std::size_t i = 0; i < servers_.size(); ++i)
    checked_command(i, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  for (std::size_t i = 0; i < options_.masters; ++i) {
    const auto first_slot = [&](std::size_t of) { return of * cluster_slots / options_.masters; };
    std::vector<std::string> words{"CLUSTER", "ADDSLOTS"};  // ADDSLOTSRANGE is new in 7.0
    for (std::size_t slot = first_slot(i); slot < first_slot(i + 1); ++slot)
      words.push_back(std::to_string(slot));
    checked_command(i, words);
  }
  const auto lists = [this](std::size_t i, std::size_t other) {
    const auto view = view_of(i);
    return view && view->find(id(other));
  };
  auto next = std::chrono::steady_clock::now();
  wait_until("do not meet", [&] {
    const bool is_due = std::chrono::steady_clock::now() >= next;
    if (is_due) next = std::chrono::steady_clock::now() + meeting_bound;
    bool have_met = true;
    for (std::size_t i = 0; i < servers_.size(); ++i)
      for (std::size_t other = i + 1; other < servers_.size(); ++other) {
        if (lists(i, other) && lists(other, i)) continue;
        have_met = false;
        if (is_due)
          checked_command(i, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(server(other).port()),
                              bus_port(other)});
      }
    return have_met;
  });
}

void cluster_servers::assign_replicas() {
  for (std::size_t i = options_.masters; i < servers_.size(); ++i)
    wait_until("do not accept a replica", [&] {
      return !server(i).command({"CLUSTER", "REPLICATE", id(shard_of(i))}).is_error();
    });
}

bool cluster_servers::is_complete() {
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const auto view = view_of(i);
    if (!view || !lists_all(*view) || !lists_all_replicas(i)) return false;
    if (i >= options_.masters && !is_in_sync(i)) return false;
  }
  return all_agree();
}

bool cluster_servers::lists_all(const cluster_view& view) const {
  if (view.nodes().size() != servers_.size()) return false;
  for (std::size_t i = 0; i < servers_.size(); ++i)
    if (!is_listed(view, id(i), i < options_.masters ? "" : id(shard_of(i)))) return false;
  return true;
}

// CLUSTER SLOTS leaves a replica out until its offset is known, and CLUSTER NODES does not.
bool cluster_servers::lists_all_replicas(std::size_t i) {
  constexpr std::size_t first_server = 2;  // after the first and the last slot
  const redis_reply ranges = server(i).command({"CLUSTER", "SLOTS"});
  return std::ranges::all_of(ranges.items, [&](const auto& range) {
    return range.items.size() == first_server + 1 + options_.replicas;
  });
}

// The epochs count as well: a message that is still on its way with an older one could make a node
// forget a slot again.
bool cluster_servers::all_agree() {
  std::optional<std::vector<std::pair<std::string, long long>>> agreed;
  for (const std::size_t i : running()) {
    const auto view = view_of(i);
    if (!view || text_from(i, {"CLUSTER", "INFO"}).find("cluster_state:ok") == std::string::npos)
      return false;
    auto owners = view->owners_with_epochs();
    if (agreed && *agreed != owners) return false;
    agreed = std::move(owners);
  }
  if (!agreed) return false;
  std::map<long long, std::string> owner_of_epoch;
  return std::ranges::all_of(*agreed, [&](const auto& of_slot) {
    const auto& [owner, epoch] = of_slot;
    return !owner.empty() && owner_of_epoch.try_emplace(epoch, owner).first->second == owner;
  });
}

bool cluster_servers::is_in_sync(std::size_t replica) {
  return reported(replica, "role") == "slave" && reported(replica, "master_link_status") == "up";
}

std::size_t cluster_servers::server_with(const std::string& id) const {
  const auto found = std::ranges::find(ids_, id);
  if (found == ids_.end()) throw std::runtime_error("no server of the cluster has the id " + id);
  return static_cast<std::size_t>(found - ids_.begin());
}

std::vector<std::size_t> cluster_servers::running() const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < servers_.size(); ++i)
    if (servers_[i]->is_running() && !cut_off_.contains(i)) all.push_back(i);
  return all;
}

std::string cluster_servers::text_from(std::size_t i, const std::vector<std::string>& words) {
  if (!server(i).is_running()) return {};
  try {
    return server(i).command(words).text;
  } catch (const redis_silent&) {
    return {};
  }
}

std::optional<cluster_view> cluster_servers::view_of(std::size_t i) {
  const std::string reply = text_from(i, {"CLUSTER", "NODES"});
  if (reply.empty()) return std::nullopt;
  return cluster_view(reply);
}

bool cluster_servers::is_master(std::size_t i) {
  const auto view = view_of(i);
  return view && view->self().is_master;
}

std::string cluster_servers::reported(std::size_t i, const std::string& info_field) {
  if (!server(i).is_running()) return {};
  try {
    return server(i).info(info_field);
  } catch (const redis_silent&) {
    return {};
  }
}

redis_reply cluster_servers::checked_command(std::size_t i, const std::vector<std::string>& words) {
  redis_reply reply = server(i).command(words);
  if (reply.is_error())
    throw std::runtime_error(words.front() + ' ' + words.at(1) + " at server " + std::to_string(i) +
                             ": " + reply.text + '\n' + states());
  return reply;
}

void cluster_servers::wait_until(const std::string& failure, const std::function<bool()>& is_so) {
  if (!eventually(is_so, cluster_bound))
    throw std::runtime_error("the nodes of a test's cluster " + failure + ":\n" + states() +
                             logs());
}

int cluster_servers::slot_of(std::string_view key) {
  return static_cast<int>(
      checked_command(running().at(0), {"CLUSTER", "KEYSLOT", std::string(key)}).number);
}

std::size_t cluster_servers::master_of_slot(int slot) {
  std::string owner;
  long long epoch = -1;
  for (const std::size_t i : running()) {
    const auto view = view_of(i);
    const cluster_node* const named = view ? view->owner_of(slot) : nullptr;
    if (!named || named->config_epoch <= epoch) continue;
    owner = named->id;
    epoch = named->config_epoch;
  }
  if (owner.empty())
    throw std::runtime_error("slot " + std::to_string(slot) + " has no owner:\n" + states());
  return server_with(owner);
}

std::size_t cluster_servers::replica_of(std::size_t master) {
  for (const std::size_t i : running()) {
    const auto view = view_of(i);
    if (view && view->self().master == id(master)) return i;
  }
  throw std::runtime_error("server " + std::to_string(master) + " has no replica:\n" + states());
}

void cluster_servers::fail_over(std::size_t master) {
  const std::size_t replica = replica_of(master);
  // Servers give a failover up after 5 s. Before Redis 7.0, one soon after another may need two.
  constexpr std::chrono::seconds given_up{6};
  auto next = std::chrono::steady_clock::now();
  wait_until("refuse a failover", [&] {
    const auto view = view_of(replica);
    if (view && view->self().is_master) return true;
    if (std::chrono::steady_clock::now() < next) return false;
    if (!server(replica).command({"CLUSTER", "FAILOVER"}).is_error())
      next = std::chrono::steady_clock::now() + given_up;
    return false;
  });
}

std::optional<std::size_t> cluster_servers::other_master_in_shard_of(std::size_t i) {
  for (const std::size_t other : running()) {
    if (other == i || shard_of(other) != shard_of(i)) continue;
    const auto view = view_of(other);
    if (view && view->self().is_master && !view->self().slots.empty()) return other;
  }
  return std::nullopt;
}

std::size_t cluster_servers::wait_until_failed_over(std::size_t former_master) {
  std::optional<std::size_t> heir;
  wait_until("promote no replica of server " + std::to_string(former_master), [&] {
    heir = other_master_in_shard_of(former_master);
    return heir && all_agree();
  });
  return *heir;
}

void cluster_servers::wait_until_replica(std::size_t i) {
  wait_until("do not have server " + std::to_string(i) + " as a replica", [&] {
    const auto master = other_master_in_shard_of(i);
    return master && is_in_sync(i) && std::ranges::all_of(running(), [&](std::size_t other) {
             const auto view = view_of(other);
             return view && is_listed(*view, id(i), id(*master));
           });
  });
}

void cluster_servers::wait_until_copied(std::size_t master) {
  const long long written = std::stoll(server(master).info("master_repl_offset"));
  wait_until("leave a replica of server " + std::to_string(master) + " behind", [&] {
    return std::ranges::all_of(running(), [&](std::size_t i) {
      if (i == master || shard_of(i) != shard_of(master)) return true;
      const std::string copied = reported(i, "slave_repl_offset");
      return is_in_sync(i) && !copied.empty() && std::stoll(copied) >= written;
    });
  });
}

void cluster_servers::wait_until_all_agree() {
  wait_until("do not agree", [this] { return all_agree(); });
}

// Two nodes have two links, and each carries the messages of the node that made it and the replies.
// The proxy goes on listening: a node that connects to a closed port of its own kernel may be given
// this port, and connect to itself.
void cluster_servers::cut_off(std::size_t i) {
  cut_off_.insert(i);
  flow to_it, to_others;
  to_it.admits = [](std::string_view, const proxied_connection&) { return false; };
  to_others.admits = [sender = id(i)](std::string_view messages, const proxied_connection&) {
    return !are_sent_by(sender, messages);
  };
  for (std::size_t each = 0; each < buses_.size(); ++each)
    buses_[each]->set(direction::to_server, each == i ? to_it : to_others);
  buses_.at(i)->reset_all();
}

void cluster_servers::reconnect(std::size_t i) {
  cut_off_.erase(i);
  for (const auto& bus : buses_) bus->set(direction::to_server, flow());
}

// The target is marked first: a client that the source redirects is not sent back.
void cluster_servers::mark_migrating(int slot, std::size_t from, std::size_t to) {
  const std::string number = std::to_string(slot);
  checked_command(to, {"CLUSTER", "SETSLOT", number, "IMPORTING", id(from)});
  checked_command(from, {"CLUSTER", "SETSLOT", number, "MIGRATING", id(to)});
}

void cluster_servers::move_keys(const std::vector<std::string>& keys, std::size_t from,
                                std::size_t to) {
  if (keys.empty()) return;
  std::vector<std::string> words{"MIGRATE", "127.0.0.1", std::to_string(server(to).port()),
                                 "",        "0",         migrate_timeout_ms,
                                 "AUTH2",   "testkit",   "any",
                                 "KEYS"};
  words.insert(words.end(), keys.begin(), keys.end());
  checked_command(from, words);
}

std::vector<std::string> cluster_servers::keys_of_slot(int slot, std::size_t i) {
  constexpr const char* more_than_any_test_writes = "100000";
  std::vector<std::string> keys;
  for (const redis_reply& key :
       checked_command(i, {"CLUSTER", "GETKEYSINSLOT", std::to_string(slot),
                           more_than_any_test_writes})
           .items)
    keys.push_back(key.text);
  return keys;
}

// At the target first, which takes a higher epoch with the slot. If the source gave the slot away
// before, no node would own it for a moment. A source that has keys left deletes them as soon as it
// receives the new epoch.
void cluster_servers::finish_move(int slot, std::size_t from, std::size_t to) {
  if (const std::size_t left = keys_of_slot(slot, from).size(); left > 0)
    throw std::runtime_error("slot " + std::to_string(slot) + " has " + std::to_string(left) +
                             " keys at server " + std::to_string(from));
  std::vector<std::size_t> order{to, from};
  for (const std::size_t i : running())
    if (i != to && i != from && is_master(i)) order.push_back(i);
  for (const std::size_t i : order)
    checked_command(i, {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id(to)});
}

// A late message of the former owner may make the new one forget the slot again.
void cluster_servers::wait_until_moved(int slot, std::size_t to) {
  wait_until("do not agree", [&] {
    if (all_agree()) return true;
    checked_command(to, {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id(to)});
    return false;
  });
}

void cluster_servers::move_slot(int slot, std::size_t from, std::size_t to) {
  mark_migrating(slot, from, to);
  move_keys(keys_of_slot(slot, from), from, to);
  finish_move(slot, from, to);
  wait_until_moved(slot, to);
}

std::string cluster_servers::url(const std::string& user) const {
  std::string out = (options_.tls ? "rediss+cluster://" : "redis+cluster://") + user;
  for (std::size_t i = 0; i < options_.masters; ++i)
    out.append(i == 0 ? "" : ",").append("127.0.0.1:" + std::to_string(servers_[i]->port()));
  return out;
}

std::string cluster_servers::states() {
  std::string all;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    all += "server " + std::to_string(i) + ", port " + std::to_string(server(i).port()) + ": ";
    if (!server(i).is_running()) {
      all += "not running\n";
      continue;
    }
    const std::string info = text_from(i, {"CLUSTER", "INFO"});
    all += info.substr(0, info.find('\r')) + '\n' + text_from(i, {"CLUSTER", "NODES"});
  }
  return all;
}

std::string cluster_servers::logs() const {
  std::string all;
  for (const auto& each : servers_) all += '\n' + each->log();
  return all;
}

}  // namespace holdfast::testkit
