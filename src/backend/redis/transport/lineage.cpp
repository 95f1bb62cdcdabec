#include "backend/redis/transport/lineage.hpp"

#include <algorithm>

#include "base/mutant.hpp"

namespace holdfast::redis {

using base::mutant;
using base::planted;

namespace {

constexpr std::size_t remembered_max = 16;  // of each kind
constexpr int lanes_max = 3, probes_max = 5;

// To the end, as what was heard of last; the oldest goes.
template <class Item>
void keep(std::vector<Item>& all, Item item) {
  if (all.size() >= remembered_max) all.erase(all.begin());
  all.push_back(std::move(item));
}

}  // namespace

std::string_view lineage::first_name(std::string_view history) const noexcept {
  const auto found = std::ranges::find(renamed_, history, &names::first);
  return found == renamed_.end() ? history : std::string_view(found->second);
}

const lineage::node* lineage::find(std::string_view history) const noexcept {
  const auto found = std::ranges::find(nodes_, first_name(history), &node::history);
  return found == nodes_.end() ? nullptr : &*found;
}

bool lineage::is_one_history(std::string_view one, std::string_view other) const noexcept {
  return one.empty() || other.empty() || first_name(one) == first_name(other);
}

// Strictly; no history is before or after an empty one. Histories that name each other would be no
// chain: the steps are bounded.
bool lineage::is_before(std::string_view older, std::string_view newer) const noexcept {
  const std::string_view sought = first_name(older);
  const node* at = find(newer);
  for (std::size_t steps = 0; at && steps <= remembered_max; ++steps) {
    if (at->before.empty()) return false;
    // It may have been learned before its first name was known.
    if (first_name(at->before) == sought) return true;
    at = find(at->before);
  }
  return false;
}

// The last that was heard of.
const lineage::node* lineage::successor_of(std::string_view history) const noexcept {
  for (auto at = nodes_.rbegin(); at != nodes_.rend(); ++at)
    if (is_before(history, at->history)) return &*at;
  return nullptr;
}

bool lineage::follows_leader(const server_identity& s) const noexcept {
  if (s.history.empty() || leader_.history.empty()) return s.is_same_process(leader_);
  return first_name(s.history) == first_name(leader_.history) ||
         is_before(leader_.history, s.history);
}

bool lineage::is_replaced(const server_identity& s) const noexcept {
  return !planted(mutant::replaced_master_joined) && successor_of(s.history) &&
         !has_its_successor(s);
}

// The server of the commands: it has been a replica since, so another one may have granted locks.
bool lineage::reigns_anew(const server_identity& s) const noexcept {
  return !is_one_history(s.history, leader_.history) && !planted(mutant::new_reign_unnoticed);
}

// As a replica: the newer one has yielded. A master that cannot reach a replica lists it as one for
// a minute (repl-timeout), although it may have been promoted meanwhile: what counts is that the
// master has heard from it since the client last knew it as a master.
bool lineage::has_its_successor(const server_identity& s) const noexcept {
  const node* const newer = successor_of(s.history);
  return newer && !newer->address.empty() &&
         std::ranges::any_of(s.replicas, [&](const attached_replica& r) {
           const bool has_yielded = s.asked_at - r.silence > newer->master_at;
           return r.address == newer->address &&
                  (has_yielded || planted(mutant::silent_replica_believed));
         });
}

void lineage::learn(const server_identity& s) {
  if (s.history.empty()) return;
  const bool is_master = s.role == server_role::master;
  if (is_master && s.is_known()) {
    const auto known = std::ranges::find(processes_, s.run_id, &process::run_id);
    const bool is_renamed = known != processes_.end() && known->history != s.history &&
                            s.history_before.empty() && !find(s.history);
    if (is_renamed) keep(renamed_, names(s.history, first_name(known->history)));
    if (known != processes_.end()) processes_.erase(known);
    keep(processes_, {s.run_id, s.history});
  }
  node n{std::string(first_name(s.history)), std::string(first_name(s.history_before)), {}, {}};
  if (n.before == n.history) n.before.clear();
  if (is_master) {
    n.address = s.address;
    n.master_at = s.told_at;
  }
  const auto old = std::ranges::find(nodes_, n.history, &node::history);
  if (old != nodes_.end()) {
    if (n.before.empty()) n.before = old->before;
    if (n.address.empty()) n.address = old->address;
    n.master_at = std::max(n.master_at, old->master_at);
    nodes_.erase(old);
  }
  keep(nodes_, std::move(n));
}

void lineage::lead(const server_identity& s) {
  std::erase_if(nodes_, [&](const node& n) { return is_before(s.history, n.history); });
  leader_ = s;
  strange_lanes_ = strange_probes_ = 0;
}

bool lineage::is_stranger(const server_identity& s) {
  learn(s);
  const bool is_first = !leader_.is_known() && leader_.history.empty();
  return s.role != server_role::replica && !is_replaced(s) && !is_first && !follows_leader(s) &&
         !has_its_successor(s);
}

lineage::action lineage::judge_commands(const server_identity& s) {
  const bool is_strange = is_stranger(s);
  if (s.role == server_role::replica) return action::retry;
  if (is_replaced(s)) return action::refuse;
  lead(s);
  return is_strange ? action::join_stranger : action::join;
}

std::optional<bool> lineage::is_leader(const server_identity& s) const noexcept {
  if (s.is_known() || leader_.is_known()) return s.is_same_process(leader_);
  if (!s.has_listener) return std::nullopt;
  return *s.has_listener || planted(mutant::listener_not_counted);
}

lineage::action lineage::judge_lane(const server_identity& s) {
  const std::optional<bool> known = is_leader(s);
  if (!known && s.role != server_role::replica) return action::join;
  return judge_follower(s, known.value_or(true) || planted(mutant::lanes_at_two_servers),
                        strange_lanes_, lanes_max);
}

lineage::action lineage::judge_probe(const server_identity& s, bool is_named) {
  const std::optional<bool> known = is_leader(s);
  if (!known && s.role != server_role::replica) return action::retry;
  return judge_follower(s, known.value_or(false), strange_probes_, is_named ? 1 : probes_max);
}

lineage::action lineage::judge_own(const server_identity& own) {
  int strange = 0;  // the strangers in a row are counted by their lanes and probes
  return judge_follower(own, true, strange, probes_max);
}

lineage::action lineage::judge_again(const server_identity& own, const server_identity& stranger) {
  if (judge_own(own) == action::move) return action::move;
  const bool follows = follows_leader(stranger) && !is_replaced(stranger);
  return follows ? action::move : action::retry;
}

bool lineage::is_heir(const server_identity& s) {
  learn(s);
  return s.role == server_role::master && !is_replaced(s) && is_before(leader_.history, s.history);
}

lineage::action lineage::judge_listener(bool is_counted) {
  server_identity s;
  s.has_listener = is_counted;
  return judge_lane(s);
}

// `strange`: how many strangers were reached in a row.
lineage::action lineage::judge_follower(const server_identity& s, bool is_leader, int& strange,
                                        int strange_max) {
  learn(s);
  if (s.role == server_role::replica) return is_leader ? action::move : action::retry;
  if (is_leader) {
    strange = 0;
    return reigns_anew(s) ? action::move : action::join;
  }
  if (is_replaced(s)) return action::retry;
  if (!s.history.empty() && follows_leader(s)) return action::move;
  return ++strange < strange_max ? action::retry : action::move;
}

std::string lineage::refusal_of(const server_identity& s) const {
  const auto named = [](std::string_view address, std::string_view history) {
    std::string out(address.empty() ? "a server" : address);
    return out + " (master_replid " + std::string(short_id(history)) + "...)";
  };
  const node* const newer = successor_of(s.history);
  std::string out = "the name leads to a replaced master: " + named(s.address, s.history);
  if (newer) out += " was followed by " + named(newer->address, newer->history);
  return out + "; point the name to the newer one, or, if the older one is to be the master again, "
               "give it a new replication id: MULTI, REPLICAOF 127.0.0.1 1, REPLICAOF NO ONE, EXEC";
}

}  // namespace holdfast::redis
