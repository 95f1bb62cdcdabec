// What troubles a world, and how it ends.
#include <array>

#include "api/client_access.hpp"
#include "cohort/client_impl.hpp"
#include "tests/sim/world/network.hpp"
#include "tests/sim/world/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

struct nobody final : peer {
  void deliver(std::string_view) override {}
  void kicked() override {}
};
nobody no_one;

bool is_of(const pipe& p, fault::role r) noexcept {
  const fault::role is = p.is_for_renewals() ? fault::role::renewals
                         : p.listens()       ? fault::role::messages
                                             : fault::role::commands;
  return r == fault::role::any || r == is;
}

}  // namespace

// All that changes the server but what clients ask.
template <class Change>
void world::change_server(Change change) {
  change();
  watch.after_server(nullptr);
}

void world::happen(const fault& f) {
  record(event::fault, {static_cast<int>(f.what)},
         [&] { return std::string("trouble: ") + name_of(f.what); });
  // Who was put off asks again after up to two and a half seconds, and connects after as long.
  const moment settles = time.now() + f.lasts + schedule.op_timeout * 3 + 6s;
  const bool refuses = f.what == trouble::readonly || f.what == trouble::set_revoked ||
                       f.what == trouble::loading || f.what == trouble::memory_full;
  watch.excuse_ghosts(refuses ? time.now() + f.lasts : settles);
  process& p = processes_[f.whom];
  switch (f.what) {
    case trouble::pause: p.where->stand_still(); return later(f.lasts, [&p] { p.where->go_on(); });
    case trouble::crash: return crash(p);
    case trouble::cut:
    case trouble::stall:
    case trouble::black_hole: watch.excuse(settles); return happen_to_pipe(f);
    case trouble::refuse:
      watch.excuse(settles);
      ++refusals_;
      return later(f.lasts, [this] { refusals_ -= refusals_ > 0; });
    case trouble::foreign:
    case trouble::foreign_forever: return foreign(f);
    case trouble::broken: return break_lock(f);
    default: watch.excuse(settles); return happen_to_server(f);
  }
}

void world::happen_to_pipe(const fault& f) {
  std::vector<pipe*> all;
  for (const auto& p : processes_[f.whom].where->pipes())
    if (p->alive() && is_of(*p, f.of)) all.push_back(p.get());
  if (all.empty()) return;
  pipe& hit = *all[chance.below(all.size())];
  record(event::fault_hits, {hit.number()},
         [&] { return "it hits connection " + std::to_string(hit.number()); });
  if (f.what == trouble::cut) return hit.cut();
  if (f.what == trouble::black_hole) return hit.swallow();
  const bool up = f.of == fault::role::any && chance.chance(0.6);
  hit.stall(up, !up || chance.chance(0.3), time.now() + f.lasts);
}

void world::happen_to_server(const fault& f) {
  switch (f.what) {
    case trouble::server_pause:
      stands_until_ = std::max(stands_until_, time.now() + f.lasts);
      return;
    case trouble::restart: return restart(kept::everything);
    case trouble::down: return go_down(f.lasts);
    case trouble::resynced: return resync(f.lasts);
    case trouble::restart_saved:
      server.save();
      return later(f.lasts, [this] { restart(kept::what_was_saved); });
    case trouble::restart_empty: return restart(kept::nothing);
    case trouble::flush_all:
      // Those who wait look when the lease that they know of would have ended.
      watch.excuse(time.now() + lease_max() + 1s);
      watch.unsafe(0ns);
      return change_server([&] { server.flushall(); });
    case trouble::script_flush: return server.script_flush();
    case trouble::clock_forward: return leap(f.lasts);
    case trouble::clock_back: {
      const moment by = f.lasts * chance.between(1, 5);
      // Leases last longer, and who is refused meanwhile, since numbers could repeat, asks again.
      watch.excuse(time.now() + f.lasts + by + lease_max() + schedule.op_timeout * 3 + 2s);
      leap(-by);
      return later(f.lasts, [this, by] { leap(by); });
    }
    case trouble::memory_full:
      server.set_maxmemory_full(true);
      return later(f.lasts, [this] { server.set_maxmemory_full(false); });
    case trouble::readonly:
      server.set_readonly(true);
      return later(f.lasts, [this] { server.set_readonly(false); });
    case trouble::set_revoked:
      server.forbid("set");
      return later(f.lasts, [this] { server.allow("set"); });
    case trouble::loading:
      server.set_loading(true);
      return later(f.lasts, [this] { server.set_loading(false); });
    default: return;
  }
}

void world::restart(kept what) {
  if (what != kept::everything) watch.unsafe(0ns);
  // Those who stood in line then and have left since are first in line again, and look at nothing.
  if (what != kept::everything)
    watch.excuse(time.now() + lease_max() + schedule.op_timeout * 3 + 3s);
  change_server([&] { server.restart(what); });
  if (schedule.kill_forbidden) server.forbid("client|kill");
}

void world::go_down(moment lasts) {
  ++refusals_;
  restart(kept::everything);
  later(lasts, [this] { refusals_ -= refusals_ > 0; });
}

// Grants go on for a while after what its new master knows.
void world::resync(moment lasts) {
  server.save();
  later(lasts / 2, [this] { server.set_readonly(true); });
  later(lasts, [this] {
    watch.unsafe(0ns);
    watch.excuse(time.now() + lease_max() + schedule.op_timeout * 3 + 3s);
    change_server([&] { server.resync(); });
    server.set_readonly(false);
  });
}

void world::leap(moment by) {
  // A hand-over is placed by a sample that may be as old as a window: one from before is wrong, and
  // the lease seems to end later by as much.
  const moment slow = schedule.delay_max * (schedule.slow_share > 0 ? 160 : 16);
  if (by > 0ns) watch.unsafe(std::min<moment>(schedule.ttl, std::max<moment>(250ms, slow)) + by);
  watch.excuse(time.now() + schedule.ttl * 2 + 1s);
  change_server([&] { clock_offset_ += by; });
}

void world::foreign(const fault& f) {
  const std::string lock = lock_name(static_cast<int>(f.whom) % schedule.locks);
  const std::string mine = "foreign" + std::to_string(++foreigners_);
  const std::string ttl = std::to_string(f.lasts.count() / 1'000'000 + 1);
  change_server([&] {
    const int c = server.connect(no_one);
    std::vector<std::string_view> argv{"SET", lock, mine, "NX", "PX", ttl};
    if (f.what == trouble::foreign_forever) argv.resize(4);
    server.execute(c, argv);
    server.disconnect(c);
  });
  later(f.lasts * chance.between(1, 4) / 3, [this, lock, mine] { foreign_leaves(lock, mine); });
}

void world::foreign_leaves(const std::string& lock, const std::string& mine) {
  std::string done = ":1";
  change_server([&] {
    const int c = server.connect(no_one);
    const std::array<std::string_view, 2> get{"GET", lock}, del{"DEL", lock};
    if (server.execute(c, get).find(mine + "\r\n") != std::string::npos)
      done = server.execute(c, del);
    server.disconnect(c);
  });
  if (!done.starts_with(':')) later(100ms, [this, lock, mine] { foreign_leaves(lock, mine); });
}

struct world::breaking final : core::decision_handler {
  void on_decided(bool) override {}
  void on_failed(core::failure) override {}
};

void world::break_lock(const fault& f) {
  process& p = processes_[f.whom];
  const int lock = static_cast<int>(chance.below(static_cast<std::uint64_t>(schedule.locks)));
  const std::vector<std::string> holders = watch.holders_of(lock);
  if (p.where->is_dead() || holders.empty()) return;
  const std::string owner =
      holders.size() == 1 ? holders[0] : holders[chance.below(holders.size())];
  watch.excuse(time.now() + 2s);
  watch.unsafe(schedule.op_timeout * 4);  // when it comes about is not known here
  breakings_.push_back(std::make_unique<breaking>());
  p.where->post(time.now(), [this, &p, lock, owner, to = breakings_.back().get()] {
    if (p.runs)
      detail::client_access::impl(*p.runs).store().break_lock(lock_name(lock), owner, *to);
  });
}

void world::crash(process& p) {
  if (p.where->is_dead()) return;
  p.where->die();
  for (const auto& u : p.users) u->end();
  p.runs.reset();
}

void world::heal() {
  healed_ = true;
  for (process& p : processes_) {
    while (p.where->is_paused()) p.where->go_on();
    for (const auto& pipe : std::vector(p.where->pipes()))
      if (pipe->swallows() && pipe->alive()) pipe->cut();
  }
  refusals_ = 0;
  server.set_maxmemory_full(false);
  server.set_readonly(false);
  server.set_loading(false);
  server.allow("set");
  healed_at_ = time.now();
  for (int n = 1; n <= foreigners_; ++n)  // a restart may have brought them back
    for (int i = 0; i < schedule.locks; ++i)
      foreign_leaves(lock_name(i), "foreign" + std::to_string(n));
  if (schedule.faults.empty()) return;
  for (process& p : processes_)
    for (const auto& u : p.users)
      if (!p.where->is_dead()) u->one_more();
}

}  // namespace holdfast::sim
