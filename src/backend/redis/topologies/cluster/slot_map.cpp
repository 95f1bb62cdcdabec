#include "backend/redis/topologies/cluster/slot_map.hpp"

#include <algorithm>

#include "base/mutant.hpp"

namespace holdfast::redis {

using base::mutant;
using base::planted;

namespace {

bool has_slots_in(const std::vector<cluster_node>& all, const std::string& id) {
  return std::ranges::any_of(all, [&](const cluster_node& n) {
    return n.is_master && !n.slots.empty() && n.id == id;
  });
}

}  // namespace

bool slot_map::learn(const std::vector<cluster_node>& all) {
  bool is_news = false;
  // One that was a replica, and has slots of its own beside its former master, is of that shard no
  // more.
  for (shard& s : shards_)
    if (has_slots_in(all, s.master))
      std::erase_if(s.members,
                    [&](const std::string& id) { return id != s.master && has_slots_in(all, id); });
  for (const cluster_node& n : all) {
    if (!n.is_master || n.slots.empty() || n.at.port == 0 || n.at.host.empty()) continue;
    const std::size_t which = shard_with(n);
    shard& s = shards_[which];
    is_news = follow(s, n) || is_news;
    if (s.master != n.id) continue;  // another one has taken its place
    for (const cluster_node& other : all)
      if (!other.is_master && other.master == n.id) {
        for (shard& each : shards_) each.members.erase(other.id);
        s.members.insert(other.id);
      }
    for (const auto& [from, to] : n.slots)
      for (std::size_t i = from; i <= to; ++i) {
        claim_to_slot& c = slots_[i];
        const bool is_same = c.shard == which;
        const bool is_newer = n.epoch > c.epoch || c.shard == nobody || has_moved_to(i, n) ||
                              planted(mutant::older_slot_map_believed);
        if (!is_newer && !(is_same && n.epoch == c.epoch)) continue;
        c.epoch = n.epoch;
        if (is_same) continue;
        give(i, which);
        moved_.erase(static_cast<slot_number>(i));
        is_news = true;
      }
  }
  return is_news;
}

std::size_t slot_map::shard_with(const cluster_node& master) {
  const auto found =
      std::ranges::find_if(shards_, [&](const shard& s) { return s.members.contains(master.id); });
  if (found != shards_.end()) return static_cast<std::size_t>(found - shards_.begin());
  shards_.push_back({.members = {master.id}});
  return shards_.size() - 1;
}

// True: the shard has another master, or its master another address.
bool slot_map::follow(shard& s, const cluster_node& master) {
  const bool is_same = s.master == master.id;
  if (!s.master.empty() && (is_same ? master.epoch < s.epoch : master.epoch <= s.epoch))
    return false;
  const bool is_news = !is_same || base::text_of(s.at) != base::text_of(master.at);
  s.master = master.id;
  s.at = master.at;
  s.epoch = master.epoch;
  return is_news;
}

void slot_map::give(std::size_t slot, std::size_t to) {
  claim_to_slot& c = slots_[slot];
  c.shard == nobody ? ++claimed_ : --shards_[c.shard].slots;
  c.shard = static_cast<std::uint16_t>(to);
  ++shards_[to].slots;
}

void slot_map::mark_moved(slot_number slot, std::string_view to) { moved_[slot] = to; }

// "host:port", or ":port" and "?:port", where the host is that of the server that says so.
bool slot_map::has_moved_to(std::size_t slot, const cluster_node& n) const {
  if (moved_.empty()) return false;
  const auto found = moved_.find(static_cast<slot_number>(slot));
  if (found == moved_.end()) return false;
  const std::string_view to = found->second;
  const std::string port = ':' + std::to_string(n.at.port);
  return to == base::text_of(n.at) || to == n.at.host + port || to == port || to == '?' + port;
}

std::optional<std::size_t> slot_map::shard_of(slot_number slot) const noexcept {
  const std::uint16_t which = slots_[slot].shard;
  return which == nobody ? std::nullopt : std::optional<std::size_t>(which);
}

std::optional<slot_number> slot_map::first_without_shard() const noexcept {
  const auto found = std::ranges::find_if(slots_, [](const auto& c) { return c.shard == nobody; });
  if (found == slots_.end()) return std::nullopt;
  return static_cast<slot_number>(found - slots_.begin());
}

}  // namespace holdfast::redis
