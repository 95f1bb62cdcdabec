// The troubles of a world, and how they end. The troubles of the server itself are the store's.
#include <algorithm>
#include <iterator>

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

// Over as soon as it has happened.
bool is_of_a_moment(trouble t) noexcept {
  constexpr trouble all[] = {trouble::cut,          trouble::restart,
                             trouble::flush_all,    trouble::restart_empty,
                             trouble::script_flush, trouble::subscribers_dropped,
                             trouble::key_lost,     trouble::clock_forward,
                             trouble::clock_set};
  return std::find(std::begin(all), std::end(all), t) != std::end(all);
}

// Connections that are there stay as they are.
bool is_of_new_connections(trouble t) noexcept {
  return t == trouble::refuse || t == trouble::slow_connects || t == trouble::half_greetings;
}

// For clients: a promotion goes on for longer, until the old master becomes a replica.
moment lasts_of(const fault& f) noexcept { return f.what == trouble::promoted ? f.stops : f.lasts; }

// A server that became a replica: clients leave it, also where it has refused nothing.
bool is_left(trouble t) noexcept {
  return t == trouble::readonly || t == trouble::master_down || t == trouble::resynced;
}

// A request is refused when a part of it is done, and others are not notified of that part.
bool comes_between(trouble t) noexcept {
  return t == trouble::publish_revoked || t == trouble::set_revoked;
}

interruption interruption_of(trouble t) noexcept {
  switch (t) {
    case trouble::memory_full:
    case trouble::readonly:
    case trouble::loading:
    case trouble::set_revoked:
    case trouble::resynced: return interruption::refusal;
    case trouble::cut:
    case trouble::refuse:
    case trouble::restart:
    case trouble::restart_saved:
    case trouble::restart_empty:
    case trouble::flush_all:
    case trouble::script_flush:
    case trouble::clock_forward:
    case trouble::clock_back:
    case trouble::clock_set:
    case trouble::subscribers_dropped:
    case trouble::key_lost:
    case trouble::down:
    case trouble::writes_lost: return interruption::cut;
    case trouble::process_replaced:
    case trouble::process_added:
    case trouble::machine_stopped:
    case trouble::slow_connects:
    case trouble::half_greetings: return interruption::silence;
    default: break;
  }
  if (t > trouble::resynced && t < trouble::disk_full) return interruption::of_ensemble;
  if (t >= trouble::promoted) return interruption::of_roles;
  return t >= trouble::disk_full ? interruption::refusal : interruption::silence;
}

}  // namespace

// How long clients may need after a trouble. Refused requests and attempts to connect are repeated
// after pauses that grow with the trouble, up to two and a half seconds. A connection is taken for
// silent after a quarter of an op-timeout.
moment world::recovery(moment lasted, interruption how) const {
  const moment trips = round_trips();
  if (how == interruption::of_roles) return schedule.op_timeout * 3 + 6s;
  // The first attempt to connect again is made at once.
  const bool is_short = how == interruption::silence && lasted < schedule.op_timeout / 4;
  if (is_short || (how == interruption::cut && lasted == 0ns)) return trips;
  constexpr moment pause_max = 2500ms;
  moment pause = std::min<moment>(pause_max, lasted * 5 / 4 + 150ms);
  if (how == interruption::refusal) {
    // A withdrawal that was refused twice is repeated after a second, and may keep others waiting.
    // A grant from after a refusal may be given back, because its number proves nothing, and is
    // requested again after another pause. Callers that come and go make the pauses longer.
    pause = std::max<moment>(pause * 2, lasted > 80ms ? 1200ms : 0ms);
    const bool come_and_go =
        schedule.timed_share + schedule.attempt_share + schedule.cancel_share > 0;
    if (come_and_go) pause = std::max(pause, pause_max);
  }
  return pause + trips +
         (how == interruption::of_ensemble ? schedule.op_timeout + schedule.ttl : 0ms);
}

moment world::round_trips() const {
  return schedule.delay_max * (schedule.slow_share > 0 ? 24 : 8);
}

void world::happen(const fault& f) {
  record(event::fault, {static_cast<int>(f.what)},
         [&] { return std::string("trouble: ") + name_of(f.what); });
  // Pauses grow on where one trouble follows another.
  const moment now = time.now();
  // A client waits for a connection that it has begun for a connect-timeout.
  const bool is_of_connects = f.what == trouble::slow_connects || f.what == trouble::half_greetings;
  const moment connects = is_of_connects ? moment(schedule.op_timeout) : 0ns;
  const moment ends = now + (is_of_a_moment(f.what) ? 0ns : lasts_of(f)) + connects;
  if (now > recovered_) troubled_since_ = now;
  const bool is_ensemble = schedule.tick > 0ms;  // it elects a leader after a restart
  const interruption how = is_ensemble ? interruption::of_ensemble : interruption_of(f.what);
  const moment settles = ends + recovery(ends - troubled_since_, how);
  recovered_ = std::max(recovered_, settles);
  watch->excuse_ghosts(store->only_refuses(f.what) ? time.now() + f.lasts : settles);
  switch (f.what) {
    case trouble::pause:
    case trouble::machine_stopped:
    case trouble::crash:
    case trouble::process_replaced:
    case trouble::process_added: return happen_to_process(f);
    case trouble::broken: return break_lock(f);
    case trouble::foreign:
    case trouble::foreign_forever: return store->happen(f);
    default: break;
  }
  excuse(f, how, settles);
  switch (f.what) {
    case trouble::cut:
    case trouble::stall:
    case trouble::black_hole: return happen_to_pipe(f);
    case trouble::refuse:
      refuse_connections(true);
      return later(f.lasts, [this] { refuse_connections(false); });
    case trouble::slow_connects: connects_slowly_until_ = now + f.lasts; return;
    case trouble::half_greetings: greets_in_part_until_ = now + f.lasts; return;
    case trouble::server_pause:
      stands_until_ = std::max(stands_until_, time.now() + f.lasts);
      return;
    case trouble::down: return go_down(f.lasts);
    default: return store->happen(f);
  }
}

// Its pauses grow, and each of its claims has its own.
void world::note_refusal(const machine& m) {
  if (time.now() >= refused_clients_settle_) return;
  excused.add(m, refused_clients_settle_, refused_clients_settle_, true);
}

void world::excuse(const fault& f, interruption how, moment settles) {
  switch (f.what) {
    case trouble::cut:
    case trouble::stall:
    case trouble::black_hole:
      return excused.add(*processes_[f.whom].where, time.now(), settles, true);
    default: break;
  }
  if (comes_between(f.what)) return excused.add(settles);
  if (how == interruption::refusal)
    refused_clients_settle_ = std::max(refused_clients_settle_, settles);
  if (how == interruption::refusal && !is_left(f.what)) return;
  // Servers that change their roles are excused when they do: clients at other ones are not hit.
  const bool is_elsewhere = how == interruption::of_ensemble || how == interruption::of_roles;
  const bool hit = !is_elsewhere && !is_of_new_connections(f.what);
  for (const process& one : processes_) excused.add(*one.where, time.now(), settles, hit);
}

void world::happen_to_process(const fault& f) {
  process& p = processes_[f.whom];
  switch (f.what) {
    case trouble::crash: return crash(p);
    case trouble::process_added: return open_client();
    case trouble::process_replaced:
      if (p.where->is_dead()) return;
      crash(p);
      return later(f.lasts, [this] { open_client(); });
    default: break;
  }
  f.what == trouble::pause ? p.where->stop_process() : p.where->stop_with_its_clock();
  later(f.lasts, [&p] { p.where->resume(); });
}

// A connection that does not answer a request for half of an op-timeout is given up, or a greeting
// for all of it. Attempts to connect are repeated after pauses that grow until one has succeeded.
void world::excuse_silence(const machine& m, moment until, bool is_greeting) {
  const moment most = schedule.op_timeout / (is_greeting ? 1 : 2);
  const moment ends = std::min<moment>(until, time.now() + most);
  const moment lasts = ends - excused.troubled_since(m);
  excused.add(m, ends, ends + recovery(lasts, interruption::silence), true);
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

void world::cut_connections_to(int server, double share) {
  for (process& p : processes_)
    for (const auto& one : std::vector(p.where->pipes()))
      if (one->alive() && one->handle() != 0 && store->server_of(one->handle()) == server &&
          chance.chance(share))
        one->cut();
}

bool world::has_connection_to(int server) const {
  return std::ranges::any_of(processes_, [&](const process& p) {
    return std::ranges::any_of(p.where->pipes(), [&](const auto& one) {
      return one->alive() && one->handle() != 0 && store->server_of(one->handle()) == server;
    });
  });
}

std::vector<const machine*> world::clients_of(int server, int made_until) const {
  std::vector<const machine*> out;
  for (const process& p : processes_) {
    if (p.where->is_dead()) continue;
    const bool asks_it = std::ranges::any_of(p.where->pipes(), [&](const auto& one) {
      return one->alive() && one->use().asks && one->handle() != 0 && one->number() <= made_until &&
             store->server_of(one->handle()) == server;
    });
    if (asks_it) out.push_back(p.where.get());
  }
  return out;
}

bool world::asks_other_server(machine& m) const {
  return std::ranges::any_of(m.pipes(), [&](const auto& one) {
    return one->alive() && one->use().asks && one->handle() != 0 && !store->leads(one->handle());
  });
}

bool world::all_have_seen(int server, int later_than) const {
  return std::ranges::all_of(processes_, [&](const process& p) {
    return p.where->is_dead() || std::ranges::any_of(p.where->pipes(), [&](const auto& one) {
             return one->number() > later_than && one->use().asks && one->handle() != 0 &&
                    store->server_of(one->handle()) == server;
           });
  });
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
  excused.add(lock, time.now() + 500ms);
  watch->unsafe(schedule.op_timeout * 4);  // the server breaks it at an unknown time
  breakings_.push_back(std::make_unique<breaking>(*this, lock, owner, time.now()));
  p.where->post(time.now(), [this, &p, to = breakings_.back().get()] {
    if (p.runs)
      detail::client_access::impl(*p.runs).stores().break_lock(lock_name(to->lock), to->owner, *to);
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
      if (pipe->swallows() && pipe->alive()) {
        pipe->cut();
        excused.add(*p.where, time.now(), time.now() + recovery(0ns, interruption::silence), true);
      }
  }
  refusals_ = 0;
  connects_slowly_until_ = greets_in_part_until_ = {};
  healed_at_ = time.now();
  store->heal();
  if (schedule.faults.empty()) return;
  for (process& p : processes_)
    for (const auto& u : p.users)
      if (!p.where->is_dead()) u->one_more();
}

}  // namespace holdfast::sim
