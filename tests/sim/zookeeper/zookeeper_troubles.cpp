// The troubles of an ensemble.
#include <algorithm>
#include <limits>
#include <vector>

#include "backend/zookeeper/layouts/node_sequence.hpp"
#include "tests/sim/machine/world.hpp"
#include "tests/sim/zookeeper/zookeeper_store.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

void zookeeper_store::happen(const fault& f) {
  const int leader = servers_.leader();
  const int some = static_cast<int>(f.whom) % servers_.servers() + 1;
  const moment until = now() + f.lasts;
  switch (f.what) {
    case trouble::foreign: return foreign(f);
    case trouble::restart: return restart();
    case trouble::server_killed: return kill_for(some, f.lasts);
    case trouble::server_stopped: return stop_for(some, f.lasts);
    case trouble::leader_killed: return kill_for(leader, f.lasts);
    case trouble::followers_killed:
      for (int id = 1; id <= servers_.servers(); ++id)
        if (leader != 0 && id != leader) kill_for(id, f.lasts);
      return;
    case trouble::leader_stopped: return stop_for(leader, f.lasts);
    case trouble::leader_isolated: return isolate(leader, f.lasts);
    case trouble::slow_buckets: return servers_.close_buckets_slowly(until, f.lasts);
    case trouble::link_frozen:
      if (const int other = some_follower(f)) servers_.freeze(leader, other, until);
      return;
    case trouble::link_cut:
      if (const int other = some_follower(f)) change([&] { servers_.cut(leader, other); });
      return;
    case trouble::writes_lost: return restore(f.lasts);
    case trouble::sequence_high: return raise_sequences(f);
    case trouble::holder_removed: return remove_holder(f);
    case trouble::other_bounds: {
      const auto ms = static_cast<std::int32_t>(world_.schedule.ttl.count());
      return servers_.bound_timeouts(some, ms * 2, ms * 4);
    }
    default: return;
  }
}

std::vector<std::string> zookeeper_store::folders_of_locks() const {
  std::vector<std::string> out;
  for (int i = 0; i < world_.schedule.locks; ++i)
    for (const char* folder : {"", "/locks", "/leases"})
      out.push_back('/' + world_.lock_name(i) + folder);
  return out;
}

// To where a few claims are still granted, or to the limit; until an operator deletes the nodes.
void zookeeper_store::raise_sequences(const fault& f) {
  constexpr std::int32_t max = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t granted_until = 10'003;  // before the limit
  const auto drawn = static_cast<std::int32_t>(f.whom);
  const std::int32_t next = drawn % 2 == 0 ? max - granted_until : max - drawn % 3;
  change([&] {
    for (const std::string& path : folders_of_locks()) {
      const zk::node* const n = servers_.agreed().find(path);
      if (n && n->stat.cversion < next) servers_.set_created(path, next);
    }
  });
  at(now() + f.lasts, [this] { lower_sequences(); });
}

// Of those that no client uses. A server that lags behind may bring the old count back.
void zookeeper_store::lower_sequences() {
  bool is_any_high = false;
  const zk::tree* const proposed = servers_.proposed();
  for (const std::string& path : folders_of_locks()) {
    const zk::node* const n = servers_.agreed().find(path);
    if (!n || n->stat.cversion < zookeeper::sequence_limit - 10) continue;
    is_any_high = true;
    const zk::node* const next = proposed ? proposed->find(path) : nullptr;
    if (next && next->children.empty() && n->children.empty()) servers_.set_created(path, 1);
  }
  if (is_any_high || now() < world_.schedule.troubled + 2s)
    at(now() + 5ms, [this] { lower_sequences(); });
}

int zookeeper_store::some_follower(const fault& f) const {
  const int leader = servers_.leader();
  if (leader == 0 || servers_.servers() == 1) return 0;
  const int place = static_cast<int>(f.whom) % (servers_.servers() - 1) + 1;
  return place < leader ? place : place + 1;
}

void zookeeper_store::kill_for(int server, moment lasts) {
  if (server == 0) return;
  change([&] { servers_.kill(server); });
  at(now() + lasts, [this, server] { servers_.start(server); });
}

void zookeeper_store::stop_for(int server, moment lasts) {
  if (server == 0) return;
  servers_.stop(server);
  at(now() + lasts, [this, server] { servers_.resume(server); });
}

void zookeeper_store::isolate(int server, moment lasts) {
  for (int other = 1; server != 0 && other <= servers_.servers(); ++other)
    if (other != server) servers_.freeze(server, other, now() + lasts);
}

void zookeeper_store::restart() {
  change([this] {
    for (int id = 1; id <= servers_.servers(); ++id) servers_.kill(id);
    for (int id = 1; id <= servers_.servers(); ++id) servers_.start(id);
  });
}

// From a backup, as an operator does when the disks of a quorum are lost. That takes longer than
// the sessions of the clients last.
void zookeeper_store::restore(moment lasts) {
  const std::size_t saved = servers_.agreed_count();
  at(now() + lasts / 4, [this, saved] {
    for (int id = 1; id <= servers_.servers(); ++id) servers_.kill(id);
    servers_.forget_all_after(saved);
    world_.watch->unsafe(0ns);  // holders do not know of it before they hear from the ensemble
    world_.watch->excuse_old_queues();
  });
  at(now() + lasts, [this] {
    for (int id = 1; id <= servers_.servers(); ++id) servers_.start(id);
  });
}

void zookeeper_store::heal() {
  servers_.thaw();
  servers_.close_buckets_slowly(now(), 0ns);
  change([this] {
    for (int id = 1; id <= servers_.servers(); ++id) {
      servers_.start(id);
      servers_.resume(id);
    }
  });
}

// Another program stands in the queue for a while, whether it has the lock or not.
void zookeeper_store::foreign(const fault& f) {
  const std::string lock = '/' + world_.lock_name(static_cast<int>(f.whom) % world_.schedule.locks);
  switch (world_.chance.below(3)) {
    case 0:
      if (layout_.takes_foreign_data) ask_for(lock);
      break;
    case 1: clean_up(lock); break;
    default: break;
  }
  const auto kinds = layout_.strangers.size();
  const stranger& as = layout_.strangers[kinds == 1 ? 0 : world_.chance.below(kinds)];
  const std::string name =
      std::string(as.begin) + std::to_string(++foreigners_) + std::string(as.end);
  const std::string path = as.is_the_lock ? lock : lock + std::string(as.folder) + name;
  change([&] {
    as.is_the_lock ? servers_.create_ephemeral(path, name) : servers_.create_sequential(path);
  });
  at(now() + f.lasts * world_.chance.between(1, 4) / 3,
     [this, path, text = as.is_the_lock ? name : std::string()] { foreign_leaves(path, text); });
}

// As Curator's Revoker does: by the data of the nodes.
void zookeeper_store::ask_for(const std::string& lock) {
  const auto all = layout_.read(servers_.agreed(), lock, world_.schedule.permits);
  const auto count = all.holders.size() + all.waiters.size();
  if (count == 0) return;
  world_.record(event::fault_hits, {count}, [&] { return "it asks for " + lock; });
  change([&] {
    for (const auto* some : {&all.holders, &all.waiters})
      for (const contender& c : *some) servers_.set_data(c.path, "__REVOKE__");
  });
}

// Removes a node that waits. One that holds the lock is left: nobody could know that in time.
void zookeeper_store::clean_up(const std::string& lock) {
  const zk::tree* const tree = servers_.proposed();
  if (!tree) return;
  const auto waiters = layout_.read(*tree, lock, world_.schedule.permits).waiters;
  if (waiters.empty()) return;
  const std::string path = waiters[world_.chance.below(waiters.size())].path;
  world_.record(event::fault_hits, {path}, [&] { return "it removes " + path; });
  change([&] { servers_.remove(path); });
}

// A holder that is connected is notified within 150 ms of its grant: docs/safety.md.
void zookeeper_store::remove_holder(const fault& f) {
  const plan& p = world_.schedule;
  const std::string lock = '/' + world_.lock_name(static_cast<int>(f.whom) % p.locks);
  const zk::tree* const tree = servers_.proposed();
  if (!tree || layout_.strangers.front().is_the_lock) return;
  const auto holders = layout_.read(*tree, lock, p.permits).holders;
  if (holders.empty()) return;
  const std::string path = holders[world_.chance.below(holders.size())].path;
  const bool is_the_only_trouble =
      p.parked_share == 0 && std::ranges::all_of(p.faults, [](const fault& other) {
        return other.what == trouble::holder_removed;
      });
  const moment noticed = 150ms + world_.round_trips() * 2;
  world_.record(event::fault_hits, {path}, [&] { return "it removes " + path; });
  world_.watch->taken(is_the_only_trouble ? noticed : world_.lease_max() + noticed);
  change([&] { servers_.remove(path); });
}

// The path of its node, which has a number of the server's behind `path`, or the text in it; empty:
// it is not there.
std::string zookeeper_store::foreign_node(const std::string& path, const std::string& text) const {
  const zk::tree& all = servers_.agreed();
  if (!text.empty()) {
    const zk::node* const n = all.find(path);
    return n && n->data == text ? path : std::string();
  }
  const std::string folder(zk::parent_of(path));
  if (const zk::node* const parent = all.find(folder))
    for (const std::string& child : parent->children)
      if (child.starts_with(zk::name_of(path))) return folder + '/' + child;
  return {};
}

// It may be agreed on long after it was asked for, by a new leader. Where a removal is proposed
// already, the node behind it may be another's.
void zookeeper_store::foreign_leaves(const std::string& path, const std::string& text) {
  const std::string found = foreign_node(path, text);
  const zk::tree* const proposed = servers_.proposed();
  const zk::node* const n = proposed && !found.empty() ? proposed->find(found) : nullptr;
  if (n && (text.empty() || n->data == text)) servers_.remove(found);
  if (!found.empty() || now() < world_.schedule.troubled + 5s)
    at(now() + 100ms, [this, path, text] { foreign_leaves(path, text); });
}

}  // namespace holdfast::sim
