// The troubles of a Redis server.
#include <vector>

#include "tests/sim/machine/world.hpp"
#include "tests/sim/redis/redis_store.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

struct silent_peer final : peer {
  void deliver(std::string_view) override {}
  void kicked() override {}
};
silent_peer nobody;

}  // namespace

void redis_store::happen(const fault& f) {
  if (masters_ && (f.what == trouble::slot_moved || f.what == trouble::cluster_down))
    return masters_->happen(f);
  switch (f.what) {
    case trouble::foreign:
    case trouble::foreign_forever: return foreign(f);
    case trouble::restart: return restart(kept::everything);
    case trouble::resynced: return resync(f.lasts);
    case trouble::restart_saved:
      server_.save();
      return world_.later(f.lasts, [this] { restart(kept::what_was_saved); });
    case trouble::writes_lost: return lose_writes(f.lasts);
    case trouble::restart_empty: return restart(kept::nothing);
    case trouble::flush_all:
      world_.watch->excuse_leases();
      lose_data();
      return world_.change_server([&] { server_.flushall(); });
    case trouble::script_flush: return each_server([this] { server().script_flush(); });
    case trouble::clock_forward: return leap(f.lasts);
    case trouble::clock_back: return set_clock_back(f);
    case trouble::clock_set: return leap(std::chrono::hours(world_.chance.between(1, 48)));
    case trouble::memory_full:
      server_.set_maxmemory_full(true);
      return world_.later(f.lasts, [this] { server_.set_maxmemory_full(false); });
    case trouble::readonly:
      server_.set_readonly(true);
      return world_.later(f.lasts, [this] { server_.set_readonly(false); });
    case trouble::set_revoked:
      server_.forbid(layout_.taken_right);
      return world_.later(f.lasts, [this] { server_.allow(layout_.taken_right); });
    case trouble::loading:
      server_.set_loading(true);
      return world_.later(f.lasts, [this] { server_.set_loading(false); });
    case trouble::subscribers_dropped:
      return world_.change_server([&] { server_.close_subscribers(); });
    case trouble::key_lost: return lose_key();
    case trouble::promoted:
    case trouble::replica_emptied:
    case trouble::failed_over:
    case trouble::name_led_back:
    case trouble::replication_id_changed:
    case trouble::taken_back: return roles_ ? roles_->happen(f) : void();
    case trouble::sentinel_stopped:
    case trouble::sentinel_killed:
    case trouble::sentinel_cut_off:
    case trouble::client_cut_off: return sentinels_ ? sentinels_->happen(f) : void();
    default:
      refuse(f.what, true);
      return world_.later(f.lasts, [this, what = f.what] { refuse(what, false); });
  }
}

// As with appendfsync everysec: all that was acknowledged since the last write to the disk.
void redis_store::lose_writes(moment lasts) {
  server_.save();
  world_.later(lasts / 2, [this, down = lasts / 2] {
    world_.refuse_connections(true);
    restart(kept::what_was_saved);
    world_.later(down, [this] { world_.refuse_connections(false); });
  });
}

// Whatever of the locks it is: the holder's key, their queue, members, notes, or the counter.
void redis_store::lose_key() {
  const std::vector<std::string> names = server_.key_names();
  if (names.empty()) return;
  const std::string& name = names[world_.chance.below(names.size())];
  lose_data();
  excuse_key(name);
  world_.change_server([&] {
    const int c = server_.connect(nobody);
    const std::vector<std::string_view> del{"DEL", name};
    server_.execute(c, del);
    server_.disconnect(c);
  });
}

void redis_store::set_clock_back(const fault& f) {
  const moment by = f.lasts * world_.chance.between(1, 5);
  // Leases last longer, and a claim refused meanwhile, since numbers could repeat, tries again.
  world_.excused.add(world_.time.now() + f.lasts + by + world_.lease_max() + 500ms);
  leap(-by);
  world_.later(f.lasts, [this, by] { leap(by); });
}

// Where waiters have windows, a lost key may leave some that nobody renews.
void redis_store::excuse_key(const std::string& name) {
  const moment now = world_.time.now(), window = layout_.window_of_waiter;
  const auto names = [&](int i) { return name.find(world_.lock_name(i)) != name.npos; };
  bool names_one = false;
  for (int i = 0; i < world_.schedule.locks; ++i) names_one = names_one || names(i);
  for (int i = 0; i < world_.schedule.locks; ++i) {
    if (names_one && !names(i)) continue;  // the counter may be one for all
    world_.watch->excuse_leases(i);
    const auto leases = static_cast<int>(world_.watch->queue_length(i)) + 1;
    if (window == 0ns || leases == 1) continue;
    const moment until = now + world_.lease_max() * leases + window * 2 + 500ms;
    world_.watch->excuse_waiters(i, until);
    world_.watch->excuse_ghosts(until);
  }
}

void redis_store::lose_data() {
  world_.watch->unsafe(0ns);
  if (layout_.only_counts) world_.watch->forget_numbers();
}

void redis_store::restart(kept what) {
  if (masters_) return masters_->restart();
  if (roles_) return roles_->restart();
  if (what != kept::everything) lose_data();
  if (what == kept::nothing) world_.watch->excuse_leases();
  world_.change_server([&] {
    server_.restart(what);
    if (what == kept::what_was_saved) world_.watch->excuse_old_queues();
  });
  if (world_.schedule.kill_forbidden) server_.forbid("client|kill");
}

// Grants go on for a while after what its new master knows.
void redis_store::resync(moment lasts) {
  server_.save();
  world_.later(lasts / 2, [this] { server_.set_readonly(true); });
  world_.later(lasts, [this] {
    lose_data();
    world_.change_server([&] {
      server_.resync();
      world_.watch->excuse_old_queues();
    });
    server_.set_readonly(false);
  });
}

void redis_store::leap(moment by) {
  const plan& p = world_.schedule;
  // A hand-over is placed by a sample that may be as old as a window: one from before is wrong, and
  // the lease seems to end later by as much.
  const moment slow = p.delay_max * (p.slow_share > 0 ? 160 : 16);
  if (by > 0ns)
    world_.watch->unsafe(std::min<moment>(p.ttl, std::max<moment>(250ms, slow)) +
                         std::min(by, world_.lease_max()));
  world_.watch->excuse_leases();
  world_.change_server([&] { clock_offset_ += by; });
}

void redis_store::foreign(const fault& f) {
  const std::string lock = world_.lock_name(static_cast<int>(f.whom) % world_.schedule.locks);
  const std::string mine = "foreign" + std::to_string(++foreigners_);
  const std::string ttl = std::to_string(f.lasts.count() / 1'000'000 + 1);
  world_.change_server([&] {
    const int c = server_.connect(nobody);
    std::vector<std::string_view> argv{"SET", lock, mine, "NX", "PX", ttl};
    if (layout_.foreign_takes) argv = {"EVAL", layout_.foreign_takes, "1", lock, mine, ttl};
    if (f.what == trouble::foreign_forever) argv.resize(layout_.foreign_takes ? 5 : 4);
    server_.execute(c, argv);
    server_.disconnect(c);
  });
  world_.later(f.lasts * world_.chance.between(1, 4) / 3,
               [this, lock, mine] { foreign_leaves(lock, mine); });
}

void redis_store::foreign_leaves(const std::string& lock, const std::string& mine) {
  std::string done = ":1";
  world_.change_server([&] {
    const int c = server_.connect(nobody);
    const std::vector<std::string_view> get{"GET", lock}, del{"DEL", lock};
    if (layout_.foreign_leaves) {
      const std::vector<std::string_view> argv{"EVAL", layout_.foreign_leaves, "1", lock, mine};
      done = server_.execute(c, argv);
    } else if (server_.execute(c, get).find(mine + "\r\n") != std::string::npos) {
      done = server_.execute(c, del);
    }
    server_.disconnect(c);
  });
  if (!done.starts_with(':'))
    world_.later(100ms, [this, lock, mine] { foreign_leaves(lock, mine); });
}

void redis_store::heal() {
  if (masters_) return masters_->heal();
  if (sentinels_) sentinels_->heal();
  if (roles_) return roles_->heal();
  server_.set_maxmemory_full(false);
  server_.set_readonly(false);
  server_.set_loading(false);
  server_.allow(layout_.taken_right);
  allow_all();
  for (int n = 1; n <= foreigners_; ++n)  // a restart may have brought them back
    for (int i = 0; i < world_.schedule.locks; ++i)
      foreign_leaves(world_.lock_name(i), "foreign" + std::to_string(n));
}

}  // namespace holdfast::sim
