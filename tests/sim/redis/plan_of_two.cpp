// Draws a plan of two servers behind one name, or watched by sentinels, from a seed.
#include <algorithm>
#include <utility>

#include "tests/sim/machine/dice.hpp"
#include "tests/sim/redis/layouts.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

fault::share some_share(dice& d) { return static_cast<fault::share>(d.below(3)); }

fault some_promotion(const plan& p, dice& d) {
  fault f;
  f.what = trouble::promoted;
  f.cuts = some_share(d);
  if (d.chance(0.5)) f.lost = d.between(1ms, p.ttl / 2);
  const double order = d.share();
  if (order < 0.2) f.name_follows = -d.between(1ms, p.ttl / 4);
  if (order > 0.6) f.name_follows = d.between(1ms, p.ttl);
  if (d.chance(0.2)) f.stops = d.between(1ms, p.ttl * 2);
  f.lasts = d.between(p.ttl / 2, p.ttl * 4);
  return f;
}

fault some_failover(const plan& p, dice& d) {
  fault f;
  f.what = trouble::failed_over;
  f.cuts = some_share(d);
  f.lasts = d.between(1ms, p.ttl / 8);
  const double order = d.share();
  if (order < 0.2) f.name_follows = -d.between(1ms, p.ttl / 4);
  if (order > 0.5) f.name_follows = d.between(1ms, p.ttl);
  return f;
}

moment end_of(const fault& f) {
  return f.at + std::max(f.lost, f.name_follows < 0ns ? -f.name_follows : f.name_follows) * 2 +
         f.lasts + 2ms;
}

// One after the other: each goes on when the one before is over, and the servers replicate again.
// Returns when all of them are over.
moment draw_changes(plan& p, dice& d) {
  moment at = d.between(0ns, p.ttl * 2);
  for (int n = d.between(1, 4); n > 0; --n) {
    fault f = d.chance(0.6) ? some_promotion(p, d) : some_failover(p, d);
    f.at = at;
    p.faults.push_back(f);
    const moment begun = std::exchange(at, end_of(f) + d.between(0ns, p.ttl * 2));
    if (d.chance(0.2)) {
      f = fault{};
      f.what = trouble::replication_id_changed;
      f.whom = static_cast<std::uint32_t>(d.below(2));
      f.at = d.between(begun, at);
      p.faults.push_back(f);
    }
    if (!d.chance(0.4)) continue;
    f = fault{};
    f.what = d.chance(0.7) ? trouble::name_led_back : trouble::taken_back;
    f.cuts = some_share(d);
    f.at = d.between(begun, at);
    f.lasts = d.between(1ms, p.ttl);
    p.faults.push_back(f);
    at = std::max(at, end_of(f));
  }
  return at;
}

// Data of the old master alone are lost when it becomes a replica. It is the master again before a
// client that is connected to it sends another request.
void draw_return(plan& p, dice& d, moment at) {
  fault f;
  f.what = trouble::promoted;
  f.at = at;
  f.lost = d.between(1ms, p.ttl / 2);
  f.lasts = d.between(1ms, p.ttl / 2);
  p.faults.push_back(f);
  const moment demoted = at + f.lost + f.lasts;
  f = fault{};
  f.what = trouble::failed_over;
  f.at = demoted + d.between(1ms, 100ms);
  f.lasts = 1ms;
  p.faults.push_back(f);
}

// A WAIT lasts for an eighth of the op-timeout: what it takes to confirm a reply without trouble.
// Where nothing confirms, an outage lasts for longer than its fault.
void require_replicas(plan& p, int replicas) {
  p.replicas = replicas;
  const moment least = p.delay_max * (p.slow_share > 0 ? 400 : 40);
  p.op_timeout = std::max(p.op_timeout, std::chrono::ceil<std::chrono::milliseconds>(least));
  p.outage_timeout = {};
}

bool is_of_a_name(const fault& f) {
  return f.what == trouble::name_led_back || f.what == trouble::taken_back ||
         f.what == trouble::replication_id_changed;
}

// Sentinels announce a change after it.
void let_sentinels_follow(plan& p, dice& d) {
  std::erase_if(p.faults, is_of_a_name);
  for (fault& f : p.faults) {
    if (f.what < trouble::promoted) continue;
    // While the change is known to some only, the judge believes those that it is unknown to.
    if (f.name_follows <= 0ns || d.chance(0.4)) f.name_follows = d.between(1ms, 50ms);
  }
}

fault some_trouble_of_sentinel(const plan& p, dice& d, trouble what, int sentinel) {
  fault f;
  f.what = what;
  f.whom = static_cast<std::uint32_t>(sentinel);
  f.at = d.between(0ns, p.troubled);
  f.lasts = d.between(1ms, p.ttl * 2);
  return f;
}

// In half of the plans.
void draw_troubles_of_sentinels(plan& p, dice& d) {
  constexpr trouble kinds[] = {trouble::sentinel_cut_off, trouble::sentinel_stopped,
                               trouble::sentinel_killed};
  for (int n = d.chance(0.5) ? 0 : d.between(1, 4); n > 0; --n) {
    // Most of them only cut a sentinel off from the others, for which the judge excuses little.
    const trouble what = d.chance(0.6) ? kinds[0] : kinds[d.below(std::size(kinds))];
    p.faults.push_back(some_trouble_of_sentinel(p, d, what, d.between(0, p.sentinels - 1)));
  }
}

// The former master goes on, on one side of a cut network. The sentinel of that side is the only
// one that a client reaches that begins there after the failover, or that is left.
void draw_stale_minority(plan& p, dice& d) {
  const int stale = d.between(0, p.sentinels - 1);
  fault change = some_promotion(p, d);
  change.at = d.between(p.ttl / 2, p.ttl * 2);
  change.stops = 0ns;
  change.name_follows = d.between(1ms, p.ttl / 4);
  change.lasts = p.ttl * 8 + 4s;
  const moment named = change.at + change.lost + change.name_follows;
  fault cut{trouble::sentinel_cut_off, 0ns, named + change.lasts};
  cut.whom = static_cast<std::uint32_t>(stale);
  p.faults = {cut, change};
  const bool is_dead = d.chance(0.5);
  for (int i = 0; i < p.sentinels && is_dead; ++i) {
    if (i == stale) continue;
    fault dead{trouble::sentinel_killed, named + d.between(1ms, p.ttl / 2), change.lasts};
    dead.whom = static_cast<std::uint32_t>(i);
    p.faults.push_back(dead);
  }
  const moment begins = named + p.ttl * 4 + 2s + d.between(0ns, p.ttl);
  fault apart{trouble::client_cut_off, begins - 1ms, named + change.lasts - begins};
  apart.whom = static_cast<std::uint32_t>(p.clients);
  if (!is_dead) p.faults.push_back(apart);
  p.faults.push_back({trouble::process_added, begins});
}

// Clients that have lost their connections for commands look at a master of another history.
void draw_emptied_replica(plan& p, dice& d) {
  fault emptied{trouble::replica_emptied, d.between(0ns, p.troubled / 2)};
  emptied.lasts = d.between(p.ttl / 2, p.ttl * 2);
  std::erase_if(p.faults, [](const fault& f) { return f.what == trouble::promoted; });
  p.faults.push_back(emptied);
  for (int client = 0; client < p.clients; ++client) {
    fault lost{trouble::cut, emptied.at + d.between(0ns, emptied.lasts)};
    lost.whom = static_cast<std::uint32_t>(client);
    lost.of = fault::role::commands;
    p.faults.push_back(lost);
  }
}

void end_with_faults(plan& p) {
  for (const fault& f : p.faults) p.troubled = std::max(p.troubled, end_of(f) + 1ms);
  std::ranges::stable_sort(p.faults, {}, &fault::at);
}

}  // namespace

plan draw_of_two(std::uint64_t seed, const played_layout& l, int replicas) {
  constexpr trouble others[] = {trouble::pause,        trouble::crash,        trouble::cut,
                                trouble::stall,        trouble::black_hole,   trouble::refuse,
                                trouble::server_pause, trouble::script_flush, trouble::restart,
                                trouble::down};
  plan p = draw(seed, flavour::calm, l);
  dice d(seed ^ 0x7365727665727332);
  p.servers = 2;
  draw_long_ttl(p, d);
  draw_long_use(p, d);
  const moment changed = draw_changes(p, d);
  draw_others(p, d, others);
  if (replicas > 0) require_replicas(p, replicas);
  if (replicas > 0 && d.chance(0.4)) draw_return(p, d, changed);
  end_with_faults(p);
  return p;
}

plan draw_of_sentinels(std::uint64_t seed, const played_layout& l, int replicas) {
  plan p = draw_of_two(seed, l, replicas);
  dice d(seed ^ 0x73656e74696e656c);
  p.sentinels = usual_sentinels;
  let_sentinels_follow(p, d);
  const double theme = d.share();
  if (theme < 0.1) {
    draw_stale_minority(p, d);
  } else {
    if (theme < 0.2) draw_emptied_replica(p, d);
    draw_troubles_of_sentinels(p, d);
  }
  end_with_faults(p);
  return p;
}

}  // namespace holdfast::sim
