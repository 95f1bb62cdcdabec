// The troubles of the masters of a Redlock. `whom` of a fault is the master.
#include <algorithm>

#include "tests/sim/machine/world.hpp"
#include "tests/sim/redlock/redlock_store.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

constexpr trouble refusals_of_master[] = {trouble::memory_full, trouble::loading,
                                          trouble::long_script, trouble::disk_full,
                                          trouble::too_few_replicas};

}  // namespace

void redlock_store::happen(const fault& f) {
  master& m = masters_[f.whom % masters_.size()];
  const moment now = world_.time.now();
  switch (f.what) {
    case trouble::server_killed: return kill(m, f.lasts, kept::everything);
    case trouble::restart_empty: return kill(m, f.lasts, kept::nothing);
    case trouble::restart_saved:
      m.runs->save();
      return world_.later(f.lasts / 2,
                          [this, &m, f] { kill(m, f.lasts / 2, kept::what_was_saved); });
    case trouble::server_stopped: m.stands_until = std::max(m.stands_until, now + f.lasts); return;
    case trouble::flush_all: return flush(m);
    case trouble::script_flush: return m.runs->script_flush();
    case trouble::clock_forward: return step_clock(m, f.lasts);
    case trouble::clock_back: return step_clock(m, -f.lasts);
    default: return refuse(m, f.what, f.lasts);
  }
}

void redlock_store::kill(master& m, moment lasts, kept what) {
  ++m.deaths;
  world_.change_server([&] { m.runs->restart(kept::everything); });
  world_.later(lasts, [this, &m, what] {
    if (m.deaths > 0 && --m.deaths == 0) come_back(m, what);
  });
}

// Its uptime counts from here.
void redlock_store::come_back(master& m, kept what) {
  world_.change_server([&] { m.runs->restart(what); });
  if (what != kept::everything) note_lost_records();
}

void redlock_store::restart() {
  for (master& m : masters_) come_back(m, kept::everything);
}

void redlock_store::flush(master& m) {
  world_.change_server([&] { m.runs->flushall(); });
  note_lost_records();
}

// Where fewer than a majority have their record, the numbers begin again from a client's clock.
void redlock_store::note_lost_records() {
  int known = 0;
  for (int i = 0; i < servers(); ++i) known += number_at(i) > 0;
  if (known >= majority()) return;
  world_.watch->forget_numbers();
}

// Forward: keys expire early, and a server that was restarted seems older than it is.
void redlock_store::step_clock(master& m, moment by) {
  if (by > 0ns) world_.watch->unsafe(max_ttl() + world_.lease_max());
  world_.change_server([&] { m.clock_offset += by; });
}

void redlock_store::set_refusal(master& m, trouble what, bool begins) {
  switch (what) {
    case trouble::memory_full: return m.runs->set_maxmemory_full(begins);
    case trouble::loading: return m.runs->set_loading(begins);
    case trouble::long_script: return m.runs->set_busy(begins);
    case trouble::disk_full: return m.runs->set_disk_full(begins);
    case trouble::too_few_replicas: return m.runs->set_too_few_replicas(begins);
    default: return;
  }
}

void redlock_store::refuse(master& m, trouble what, moment lasts) {
  set_refusal(m, what, true);
  m.refuses_until = std::max(m.refuses_until, world_.time.now() + lasts);
  world_.later(lasts, [&m, what] { set_refusal(m, what, false); });
}

void redlock_store::heal() {
  for (master& m : masters_) {
    if (m.deaths > 0) come_back(m, kept::everything);
    m.deaths = 0;
    m.stands_until = {};
    m.refuses_until = std::min(m.refuses_until, world_.time.now());
    for (const trouble what : refusals_of_master) set_refusal(m, what, false);
  }
}

}  // namespace holdfast::sim
