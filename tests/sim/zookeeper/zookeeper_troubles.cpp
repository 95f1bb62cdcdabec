// What troubles an ensemble.
#include <algorithm>
#include <vector>

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
    case trouble::leader_stopped: return stop_for(leader, f.lasts);
    case trouble::leader_isolated: return isolate(leader, f.lasts);
    case trouble::slow_buckets: return servers_.close_buckets_slowly(until, f.lasts);
    case trouble::link_frozen:
      if (const int other = some_follower(f)) servers_.freeze(leader, other, until);
      return;
    case trouble::link_cut:
      if (const int other = some_follower(f)) change([&] { servers_.cut(leader, other); });
      return;
    case trouble::other_bounds: {
      const auto ms = static_cast<std::int32_t>(world_.schedule.ttl.count());
      return servers_.bound_timeouts(some, ms * 2, ms * 4);
    }
    default: return;
  }
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
    case 0: ask_for(lock); break;
    case 1: clean_up(lock); break;
    default: break;
  }
  const std::string name = std::string(layout_.foreign_begin) + std::to_string(++foreigners_) +
                           std::string(layout_.foreign_end);
  change([&] { servers_.create_sequential(lock + '/' + name); });
  at(now() + f.lasts * world_.chance.between(1, 4) / 3,
     [this, lock, name] { foreign_leaves(lock, name); });
}

// As Curator's Revoker does: by the data of the nodes.
void zookeeper_store::ask_for(const std::string& lock) {
  const zk::node* const parent = servers_.agreed().find(lock);
  if (!parent) return;
  const auto all = parent->children;
  world_.record(event::fault_hits, {all.size()}, [&] { return "it asks for " + lock; });
  change([&] {
    for (const std::string& child : all) servers_.set_data(lock + '/' + child, "__REVOKE__");
  });
}

// Removes a node that waits. One that holds the lock is left: nobody could know that in time.
void zookeeper_store::clean_up(const std::string& lock) {
  const zk::tree* const tree = servers_.proposed();
  const zk::node* const parent = tree ? tree->find(lock) : nullptr;
  if (!parent || parent->children.size() < 2) return;
  std::vector<std::string> line(parent->children.begin(), parent->children.end());
  std::ranges::sort(line, {}, zk::sequence_of);
  const std::string name = line[1 + world_.chance.below(line.size() - 1)];
  world_.record(event::fault_hits, {name}, [&] { return "it removes " + name; });
  change([&] { servers_.remove(lock + '/' + name); });
}

// Its node may be agreed on long after it was asked for, by a new leader.
void zookeeper_store::foreign_leaves(const std::string& lock, const std::string& name) {
  bool is_there = false;
  if (const zk::node* const parent = servers_.agreed().find(lock))
    for (const std::string& child : parent->children)
      if (child.starts_with(name)) {
        is_there = true;
        servers_.remove(lock + '/' + child);
        break;
      }
  if (is_there || now() < world_.schedule.troubled + 5s)
    at(now() + 100ms, [this, lock, name] { foreign_leaves(lock, name); });
}

}  // namespace holdfast::sim
