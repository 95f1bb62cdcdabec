// Draws a plan from a seed.
#include <algorithm>
#include <vector>

#include "tests/sim/machine/dice.hpp"
#include "tests/sim/machine/plan.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

void draw_pace(plan& p, dice& d) {
  constexpr milliseconds ttls[] = {100ms, 200ms, 500ms, 1s, 2s};
  p.ttl = ttls[d.below(std::size(ttls))];
  p.op_timeout = std::max<milliseconds>(100ms, p.ttl * d.between(1, 4) / 2);
  constexpr std::chrono::microseconds delays[] = {50us, 500us, 5ms, 20ms};
  p.delay_max = delays[d.below(std::size(delays))];
  p.delay_min = p.delay_max / d.between(1, 20);
  p.slow_share = d.chance(0.5) ? 0 : d.share() / 4;
  p.split_share = d.chance(0.5) ? 0 : d.share() / 3;
  // A client that cannot reach the server within its timeouts shows nothing.
  const auto trip = std::chrono::ceil<milliseconds>(p.delay_max * (p.slow_share > 0 ? 60 : 12));
  p.op_timeout = std::max(p.op_timeout, trip);
  if (p.ttl < trip / 2) p.ttl = trip / 2;
  p.hold_max = p.ttl * d.between(0, 3) + 1ms;
  p.think_max = p.ttl * d.between(0, 2) + 1ms;
  p.cancel_share = d.chance(0.5) ? 0 : d.share() / 2;
  p.timed_share = d.chance(0.5) ? 0 : d.share() / 2;
  p.attempt_share = d.chance(0.7) ? 0 : d.share() / 2;
  p.turns = d.chance(0.5) ? 1 : d.between(2, 128);
}

// With dice of its own: a schedule of mutexes is the same as it was before there was anything else.
void draw_kind(plan& p) {
  dice d(p.seed ^ 0x6b696e64);
  const auto drawn = d.below(10);
  if (drawn < 5) return;
  p.locks_are = drawn < 8 ? kind::shared : kind::semaphore;
  if (p.locks_are == kind::semaphore) p.permits = d.between(2, 4);
  p.clients = d.between(2, 4);
  p.users = d.between(1, 3);
}

// Likewise. Some of the users want several locks at once.
void draw_several(plan& p) {
  dice d(p.seed ^ 0x7365766572616c);
  if (p.locks_are != kind::mutex || !d.chance(0.2)) return;
  p.several = true;
  p.clients = d.between(2, 4);
  p.users = d.between(1, 2);
  p.locks = d.between(2, 3);
}

// Likewise. From less than a round trip to longer than any lease.
void draw_linger(plan& p) {
  dice d(p.seed ^ 0x6c696e67);
  if (!d.chance(0.25)) return;
  const milliseconds lengths[] = {1ms, p.ttl / 8, p.ttl / 2, p.ttl, p.ttl * 4};
  p.linger = lengths[d.below(std::size(lengths))];
}

// Likewise. Outages longer than an op-timeout, and clients that do not wait through them.
void draw_outage(plan& p) {
  dice d(p.seed ^ 0x6f7574616765);
  if (d.chance(0.25)) p.outage_timeout = p.op_timeout * d.between(1, 3);
  if (!d.chance(0.15)) return;
  fault f;
  f.what = trouble::down;
  f.at = d.between(moment{}, p.troubled);
  f.lasts = d.between(p.op_timeout / 4, p.op_timeout * 8);
  p.faults.push_back(f);
}

bool contradicts(const plan& p, trouble t) {
  // A counter that was lost while the clock is behind it has nothing left to grow from.
  constexpr trouble losses[] = {trouble::restart_saved, trouble::restart_empty, trouble::flush_all};
  const bool is_loss = std::find(std::begin(losses), std::end(losses), t) != std::end(losses);
  if (is_loss) return p.has(trouble::clock_back);
  return t == trouble::clock_back &&
         std::any_of(std::begin(losses), std::end(losses), [&](trouble l) { return p.has(l); });
}

plan start(std::uint64_t seed, dice& d) {
  plan p;
  p.seed = seed;
  p.clients = d.between(2, 4);
  p.users = d.chance(0.7) ? 1 : 2;
  p.locks = d.chance(0.8) ? 1 : 2;
  p.rounds = d.between(1, 3);
  draw_pace(p, d);
  draw_kind(p);
  draw_several(p);
  draw_linger(p);
  p.troubled = p.ttl * d.between(1, 6) + 100ms;
  return p;
}

fault some_fault(const plan& p, dice& d, trouble what) {
  fault f;
  f.what = what;
  f.at = d.between(0ns, p.troubled);
  f.lasts = d.between(1ms, p.ttl * 3 / 2);
  f.whom = static_cast<std::uint32_t>(d.below(static_cast<std::uint64_t>(p.clients)));
  return f;
}

// A swarm: each schedule knows a few kinds of trouble only.
void draw_swarm(plan& p, dice& d, std::vector<trouble> kinds) {
  for (int n = kinds.empty() ? d.between(0, 4) : 0; n > 0; --n)
    kinds.push_back(static_cast<trouble>(d.below(swarm_troubles)));
  for (int n = kinds.empty() ? 0 : d.between(1, 6); n > 0; --n) {
    const fault f = some_fault(p, d, kinds[d.below(kinds.size())]);
    if (!contradicts(p, f.what)) p.faults.push_back(f);
  }
}

// With dice of its own, as above: the other troubles of a schedule are the same without these.
void draw_rights(plan& p) {
  dice d(p.seed ^ 0x726967687473);
  if (!d.chance(0.05)) return;
  for (int n = d.between(1, 3); n > 0; --n)
    p.faults.push_back(some_fault(p, d, trouble::set_revoked));
}

// The same for one or two kinds of refusal, of which each lasts for a while.
void draw_refusals(plan& p) {
  dice d(p.seed ^ 0x7265667573663b);
  if (!d.chance(0.08)) return;
  constexpr trouble kinds[] = {trouble::disk_full,          trouble::too_few_replicas,
                               trouble::long_script,        trouble::cluster_down,
                               trouble::master_down,        trouble::publish_revoked,
                               trouble::subscribe_revoked,  trouble::scripts_revoked,
                               trouble::password_set,       trouble::too_many_clients,
                               trouble::subscribers_dropped};
  for (int n = d.between(1, 2); n > 0; --n) {
    const trouble what = kinds[d.below(std::size(kinds))];
    for (int times = d.between(1, 2); times > 0; --times)
      p.faults.push_back(some_fault(p, d, what));
  }
}

// The same for the loss of single keys.
void draw_lost_keys(plan& p) {
  dice d(p.seed ^ 0x6c6f73746b657c);
  if (!d.chance(0.04) || p.has(trouble::clock_back)) return;
  for (int n = d.between(1, 4); n > 0; --n) p.faults.push_back(some_fault(p, d, trouble::key_lost));
}

// The same for a machine that is killed, of which the last second was not on the disk.
void draw_lost_writes(plan& p) {
  dice d(p.seed ^ 0x77726974656c7374);
  if (!d.chance(0.04) || p.has(trouble::clock_back)) return;
  for (int n = d.between(1, 2); n > 0; --n) {
    fault f = some_fault(p, d, trouble::writes_lost);
    f.lasts = d.between(2ms, 2s);
    p.faults.push_back(f);
  }
}

// The same for what becomes of machines and processes.
void draw_machines(plan& p) {
  dice d(p.seed ^ 0x6d616368696e65);
  if (!d.chance(0.08)) return;
  constexpr trouble kinds[] = {trouble::process_replaced, trouble::process_added,
                               trouble::machine_stopped, trouble::slow_connects,
                               trouble::half_greetings};
  for (int n = d.between(1, 3); n > 0; --n)
    p.faults.push_back(some_fault(p, d, kinds[d.below(std::size(kinds))]));
}

// The same for replies that come in parts.
void draw_fragments(plan& p) {
  dice d(p.seed ^ 0x667261676d656e74);
  if (d.chance(0.06)) p.fragment_share = d.share() / 2;
}

// The same for administrators that look who has a lock.
void draw_inspections(plan& p) {
  dice d(p.seed ^ 0x696e7370656374);
  if (d.chance(0.06)) p.inspections = d.between(1, 8);
}

// The same for writes of holders to a resource.
void draw_writes(plan& p) {
  dice d(p.seed ^ 0x777269746573);
  if (d.chance(0.15)) p.writes = d.between(1, 3);
}

// The same for limits of scripts, and for a clock that stays as it is set.
void draw_limits(plan& p) {
  dice d(p.seed ^ 0x6c696d697473);
  p.has_small_limits = d.chance(0.03);
  if (d.chance(0.02) && !p.has(trouble::clock_back))
    p.faults.push_back(some_fault(p, d, trouble::clock_set));
}

// The commands of one message arrive in two parts, and the lock ends between them.
void draw_parts(plan& p, dice& d) {
  p.parts_wait = true;
  p.split_share = 0.5;
  if (!p.several) p.locks = 1;
  p.clients = std::max(p.clients, 3);
  p.attempt_share = p.attempt_share / 2 + 0.4;
  for (int n = 6; n > 0; --n) {
    p.faults.push_back(some_fault(p, d, d.chance(0.5) ? trouble::clock_forward : trouble::broken));
    p.faults.back().lasts += p.ttl;
  }
}

// The clock leaps while answers to commands stand still, and messages come late.
void draw_leaps(plan& p, dice& d) {
  p.op_timeout = std::max(p.op_timeout, milliseconds(4000));
  p.ttl = std::max(p.ttl, milliseconds(1000));
  p.slow_share = 0;
  if (!p.several) p.locks = 1;
  p.hold_max = 300ms;
  p.think_max = 100ms;
  p.rounds = 6;
  p.troubled = 3s;
  fault f = some_fault(p, d, trouble::stall);
  f.of = fault::role::commands;
  f.lasts = d.between(1200ms, 1900ms);
  p.faults.push_back(f);
  f.of = fault::role::any;
  f.what = trouble::clock_forward;
  f.at += d.between(1ms, 200ms);
  f.lasts = d.between(20ms, 300ms);
  p.faults.push_back(f);
  f.what = trouble::stall;
  f.of = fault::role::messages;
  for (int n = d.between(1, 3); n > 0; --n) {
    f.at += d.between(250ms, 500ms);
    f.lasts = d.between(50ms, 400ms);
    p.faults.push_back(f);
  }
}

// Afterwards the data are older, and every connection stays: only errors inside transactions tell.
// Every acquire is one attempt: a waiter that sends nothing meanwhile would not notice.
void draw_resync(plan& p) {
  dice d(p.seed ^ 0x726573796e63);
  if (p.locks_are != kind::mutex || p.several || !d.chance(0.03)) return;
  p.clients = 3;
  p.users = p.locks = p.turns = 1;
  p.rounds = 12;
  p.ttl = 1s;
  p.op_timeout = 3s;
  p.hold_max = 300ms;
  p.think_max = 60ms;
  p.delay_max = 5ms;
  p.delay_min = 500us;
  p.slow_share = p.split_share = p.cancel_share = p.timed_share = 0;
  p.attempt_share = 1;
  p.parts_wait = p.kill_forbidden = false;
  p.linger = p.outage_timeout = 0ms;
  p.troubled = 2s;
  p.faults = {{trouble::resynced, d.between(100ms, 500ms), 1s}};
}

}  // namespace

plan draw(std::uint64_t seed, flavour how, server_kind server) {
  dice d(seed * 2 + 1);
  plan p = start(seed, d);
  draw_inspections(p);
  draw_writes(p);
  if (how == flavour::calm) return p;
  if (how == flavour::any) {
    p.kill_forbidden = d.chance(0.05);
    p.parts_wait = d.chance(0.3);
  }
  const double theme = how == flavour::any ? d.share() : 1;
  if (theme < 0.05) {
    draw_parts(p, d);
  } else if (theme < 0.1) {
    draw_leaps(p, d);
  } else {
    draw_swarm(p, d,
               how == flavour::crashes ? std::vector{trouble::crash} : std::vector<trouble>{});
  }
  if (how == flavour::any) draw_rights(p);
  if (how == flavour::any) draw_outage(p);
  if (how == flavour::any && server == server_kind::redis) {
    draw_refusals(p);
    draw_lost_keys(p);
    draw_lost_writes(p);
    draw_limits(p);
  }
  if (how == flavour::any) draw_machines(p);
  if (how == flavour::any) draw_fragments(p);
  if (how == flavour::any) draw_resync(p);
  for (const fault& f : p.faults) p.troubled = std::max(p.troubled, f.at + f.lasts * 3 / 2);
  std::ranges::stable_sort(p.faults, {}, &fault::at);
  return p;
}

void draw_long_ttl(plan& p, dice& d) {
  constexpr milliseconds ttls[] = {500ms, 1s, 2s, 4s};
  p.ttl = ttls[d.below(std::size(ttls))];
  p.delay_max = std::min<moment>(p.delay_max, 5ms);
  p.delay_min = std::min(p.delay_min, p.delay_max);
  p.op_timeout = std::max(p.op_timeout, p.ttl / 2);
}

void draw_long_use(plan& p, dice& d) {
  p.hold_max = p.ttl * d.between(1, 3);
  p.think_max = p.ttl * d.between(0, 1) + 1ms;
  p.rounds = d.between(2, 4);
  p.troubled = p.ttl * d.between(3, 6);
}

void draw_others(plan& p, dice& d, std::span<const trouble> kinds) {
  for (int n = d.chance(0.6) ? 0 : d.between(1, 3); n > 0; --n) {
    fault f;
    f.what = kinds[d.below(kinds.size())];
    f.at = d.between(0ns, p.troubled);
    f.lasts = d.between(1ms, p.ttl);
    f.whom = static_cast<std::uint32_t>(d.below(static_cast<std::uint64_t>(p.clients)));
    p.faults.push_back(f);
  }
}

flavour flavour_of(std::uint64_t seed) {
  const std::uint64_t drawn = dice(seed ^ 0x73696d).below(10);
  return drawn == 0 ? flavour::calm : drawn == 1 ? flavour::crashes : flavour::any;
}

plan draw(std::uint64_t seed) { return draw(seed, flavour_of(seed)); }

}  // namespace holdfast::sim
