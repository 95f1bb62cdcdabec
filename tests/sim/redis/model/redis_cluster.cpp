#include "tests/sim/redis/model/redis_cluster.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tests/sim/redis/model/server.hpp"
#include "tests/sim/redis/model/sha1.hpp"

namespace holdfast::sim {
namespace {

constexpr std::string_view other_slots = "CROSSSLOT Keys in request don't hash to the same slot";
constexpr std::string_view is_down = "CLUSTERDOWN The cluster is down";
constexpr std::string_view some_absent = "TRYAGAIN Multiple keys request during rehashing of slot";

// Of a planted fault the queue has answers in the place of requests.
std::vector<std::string_view> keys_of_group(const connection& c) {
  std::vector<std::string_view> out;
  for (const queued_command& one : c.queued) {
    if (!one.what->takes(one.argv.size())) continue;
    const std::vector<std::string_view> argv(one.argv.begin(), one.argv.end());
    const auto keys = keys_of(*one.what, argv);
    out.insert(out.end(), keys.begin(), keys.end());
  }
  return out;
}

}  // namespace

redis_cluster::redis_cluster(const model_redis::wall_clock& clock, int masters,
                             std::function<void()> on_messages)
    : on_messages_(std::move(on_messages)) {
  for (int i = 0; i < masters; ++i) {
    nodes_.push_back({std::make_unique<model_redis>(clock, i + 1),
                      sha1_hex("node " + std::to_string(i + 1)), i + 1});
    inside(i).cluster = this;
    inside(i).node_number = i;
  }
  for (int slot = 0; slot < slots_of_cluster; ++slot)
    owners_.push_back(slot * masters / slots_of_cluster);
}

server& redis_cluster::inside(int node) const { return *at(node).server_; }

int redis_cluster::node_with(std::string_view key) const {
  constexpr auto before_expiry = std::numeric_limits<std::int64_t>::min();
  const int slot = slot_of_key(key);
  const auto move = moves_.find(slot);
  const bool has_moved =
      move != moves_.end() && inside(move->second).databases[0].find(key, before_expiry);
  return has_moved ? move->second : owner_of(slot);
}

void redis_cluster::begin_move(int slot, int to) {
  if (to != owner_of(slot)) moves_.try_emplace(slot, to);
}

std::vector<std::string> redis_cluster::keys_left(int slot) const {
  std::vector<std::string> out = at(owner_of(slot)).key_names();
  std::erase_if(out, [&](const std::string& key) { return slot_of_key(key) != slot; });
  return out;
}

void redis_cluster::move_key(const std::string& key) {
  const int slot = slot_of_key(key);
  const auto move = moves_.find(slot);
  server& from = inside(owner_of(slot));
  from.look_at_clock();
  const value* const moved = from.databases[0].find(key, from.now_ms());
  if (move == moves_.end() || !moved) return;
  inside(move->second).databases[0].make(key) = *moved;
  from.databases[0].erase(key, from.now_ms());
}

void redis_cluster::end_move(int slot) {
  const auto move = moves_.find(slot);
  if (move == moves_.end()) return;
  for (const std::string& key : keys_left(slot)) move_key(key);
  const int to = move->second;
  const int highest = std::ranges::max_element(nodes_, {}, &master::epoch)->epoch;
  master& owner = nodes_[static_cast<std::size_t>(to)];
  if (owner.epoch < highest) owner.epoch = highest + 1;
  owners_[static_cast<std::size_t>(slot)] = to;
  moves_.erase(move);
}

void redis_cluster::set_down(bool begins) {
  for (const master& one : nodes_) one.runs->set_cluster_down(begins);
}

std::string redis_cluster::led_to(std::string_view how, int slot, int node) const {
  const server_address& there = at(node).address();
  return std::string(how) + ' ' + std::to_string(slot) + ' ' + there.ip + ':' +
         std::to_string(there.port);
}

// As getNodeByQuery() in cluster.c of Redis decides.
std::string redis_cluster::redirection(const server& by, const connection& c, const command& what,
                                       arguments argv) const {
  const auto keys = what.name == "exec" ? keys_of_group(c) : keys_of(what, argv);
  if (keys.empty()) return {};
  const int slot = slot_of_key(keys.front());
  const auto move = moves_.find(slot);
  bool are_several = false;
  std::size_t present = 0;
  for (const std::string_view key : keys) {
    if (slot_of_key(key) != slot) return std::string(other_slots);
    are_several = are_several || key != keys.front();
    if (move != moves_.end() && inside(by.node_number).databases[0].find(key, by.now_ms()))
      ++present;
  }
  if (by.cluster_down) return std::string(is_down);
  const bool is_owner = owner_of(slot) == by.node_number;
  if (move != moves_.end() && is_owner && present < keys.size())
    return present > 0 ? std::string(some_absent) : led_to("ASK", slot, move->second);
  if (move != moves_.end() && move->second == by.node_number && c.asking > 0)
    return are_several && present < keys.size() ? std::string(some_absent) : std::string();
  return is_owner ? std::string() : led_to("MOVED", slot, owner_of(slot));
}

std::string redis_cluster::slots_text(int node) const {
  std::string out;
  for (int first = 0; first < slots_of_cluster; ++first) {
    if (owner_of(first) != node) continue;
    int last = first;
    while (last + 1 < slots_of_cluster && owner_of(last + 1) == node) ++last;
    out += ' ' + std::to_string(first);
    if (last > first) out += '-' + std::to_string(last);
    first = last;
  }
  return out;
}

std::string redis_cluster::moves_text(int node) const {
  std::string out;
  for (const auto& [slot, to] : moves_) {
    const auto id_of = [&](int other) { return nodes_[static_cast<std::size_t>(other)].id; };
    if (owner_of(slot) == node) out += " [" + std::to_string(slot) + "->-" + id_of(to) + ']';
    if (to == node) out += " [" + std::to_string(slot) + "-<-" + id_of(owner_of(slot)) + ']';
  }
  return out;
}

std::string redis_cluster::nodes_text(const server& by) const {
  std::string out;
  for (int i = 0; i < masters(); ++i) {
    const master& one = nodes_[static_cast<std::size_t>(i)];
    const server_address& there = one.runs->address();
    const std::string port = std::to_string(there.port);
    out += one.id + ' ' + there.ip + ':' + port + '@' + std::to_string(there.port + 10'000) +
           (i == by.node_number ? " myself,master" : " master") + " - 0 0 " +
           std::to_string(one.epoch) + " connected" + slots_text(i) +
           (i == by.node_number ? moves_text(i) : std::string()) + '\n';
  }
  return out;
}

void redis_cluster::pass_on(const server& from, std::string_view channel, std::string_view text) {
  under_way_.push_back({from.node_number, std::string(channel), std::string(text)});
  on_messages_();
}

void redis_cluster::deliver_next() {
  if (under_way_.empty()) return;
  const message next = std::move(under_way_.front());
  under_way_.pop_front();
  for (int i = 0; i < masters(); ++i) {
    if (i == next.from) continue;
    inside(i).send_to_subscribers(next.channel, next.text);
    inside(i).deliver_all();
  }
}

}  // namespace holdfast::sim
