// What troubles a world, and how it ends. The troubles of the server itself are the store's.
#include "api/client_access.hpp"
#include "cohort/client_impl.hpp"
#include "tests/sim/machine/network.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

bool is_of(const pipe& p, fault::role r) noexcept {
  const fault::role is = p.is_for_renewals() ? fault::role::renewals
                         : p.use().listens   ? fault::role::messages
                                             : fault::role::commands;
  return r == fault::role::any || r == is;
}

}  // namespace

void world::happen(const fault& f) {
  record(event::fault, {static_cast<int>(f.what)},
         [&] { return std::string("trouble: ") + name_of(f.what); });
  // A claim that was put off repeats its request within two and a half seconds, and a connection is
  // tried again within as long.
  const moment settles = time.now() + f.lasts + schedule.op_timeout * 3 + 6s;
  watch->excuse_ghosts(store->only_refuses(f.what) ? time.now() + f.lasts : settles);
  process& p = processes_[f.whom];
  switch (f.what) {
    case trouble::pause:
      p.where->stop_process();
      return later(f.lasts, [&p] { p.where->resume(); });
    case trouble::crash: return crash(p);
    case trouble::broken: return break_lock(f);
    case trouble::foreign:
    case trouble::foreign_forever: return store->happen(f);
    default: watch->excuse(settles);
  }
  switch (f.what) {
    case trouble::cut:
    case trouble::stall:
    case trouble::black_hole: return happen_to_pipe(f);
    case trouble::refuse:
      refuse_connections(true);
      return later(f.lasts, [this] { refuse_connections(false); });
    case trouble::server_pause:
      stands_until_ = std::max(stands_until_, time.now() + f.lasts);
      return;
    case trouble::down: return go_down(f.lasts);
    default: return store->happen(f);
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

void world::go_down(moment lasts) {
  refuse_connections(true);
  store->restart();
  later(lasts, [this] { refuse_connections(false); });
}

void world::break_lock(const fault& f) {
  process& p = processes_[f.whom];
  const int lock = static_cast<int>(chance.below(static_cast<std::uint64_t>(schedule.locks)));
  const std::vector<std::string> holders = watch->holders_of(lock);
  if (p.where->is_dead() || holders.empty()) return;
  const std::string owner =
      holders.size() == 1 ? holders[0] : holders[chance.below(holders.size())];
  watch->excuse(time.now() + 2s);
  watch->unsafe(schedule.op_timeout * 4);  // the server breaks it at an unknown time
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
    while (p.where->is_paused()) p.where->resume();
    for (const auto& pipe : std::vector(p.where->pipes()))
      if (pipe->swallows() && pipe->alive()) pipe->cut();
  }
  refusals_ = 0;
  healed_at_ = time.now();
  store->heal();
  if (schedule.faults.empty()) return;
  for (process& p : processes_)
    for (const auto& u : p.users)
      if (!p.where->is_dead()) u->one_more();
}

}  // namespace holdfast::sim
