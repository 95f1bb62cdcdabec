// Draws a plan for an ensemble from a seed.
#include <algorithm>
#include <iterator>

#include "tests/sim/machine/dice.hpp"
#include "tests/sim/zookeeper/layouts.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

bool is_known(trouble t) {
  switch (t) {
    case trouble::pause:
    case trouble::crash:
    case trouble::cut:
    case trouble::stall:
    case trouble::black_hole:
    case trouble::refuse:
    case trouble::server_pause:
    case trouble::restart:
    case trouble::foreign:
    case trouble::down: return true;
    default: return static_cast<int>(t) >= troubles_of_one_server;
  }
}

trouble drawn_for_ensemble(dice& d) {
  constexpr trouble all[] = {
      trouble::server_killed,
      trouble::server_stopped,
      trouble::leader_killed,
      trouble::leader_stopped,
      trouble::link_frozen,
      trouble::link_frozen,
      trouble::leader_isolated,
      trouble::link_cut,
      trouble::slow_buckets,
      trouble::slow_buckets,
      trouble::other_bounds,
      trouble::pause,
      trouble::cut,
      trouble::foreign,
      trouble::foreign,
  };
  return all[d.below(std::size(all))];
}

// What shows only where it comes together, and a session is at stake. `at`, `lasts`: from, to.
void add_fault(plan& p, dice& d, trouble what, moment from, moment to, moment least, moment most) {
  fault f;
  f.what = what;
  f.at = std::max(moment{}, d.between(from, to));
  f.lasts = d.between(least, most);
  f.whom = static_cast<std::uint32_t>(d.below(static_cast<std::uint64_t>(p.clients)));
  p.faults.push_back(f);
}

// A client that stands still for about as long as its session lives.
void add_long_pause(plan& p, dice& d, moment from, moment to) {
  add_fault(p, d, trouble::pause, from, to, p.ttl * 4 / 5, p.ttl * 5 / 4);
}

// With dice of its own, again.
void draw_theme(plan& p) {
  constexpr trouble partings[] = {trouble::server_killed, trouble::link_cut, trouble::link_frozen};
  dice d(p.seed ^ 0x7468656d65);
  const double theme = d.share();
  if (theme > 0.4) return;
  p.hold_max = std::max<moment>(p.hold_max, p.ttl);
  const moment at = d.between(0ns, p.troubled);
  if (theme < 0.1) {  // its session is due to be closed, and answers
    add_fault(p, d, trouble::slow_buckets, 0ns, at, p.ttl * 2, p.ttl * 4);
    for (int n = d.between(1, 3); n > 0; --n) add_long_pause(p, d, at, at + p.ttl * 2);
  } else if (theme < 0.2) {  // its server parts from the leader just before that is told of it
    add_fault(p, d, partings[d.below(std::size(partings))], at, at + p.tick, p.ttl, p.ttl * 2);
    for (int n = d.between(1, 2); n > 0; --n) add_long_pause(p, d, at, at + p.tick);
  } else if (theme < 0.3) {  // the leader was stopped, and has not heard of the next one
    add_fault(p, d, trouble::leader_stopped, at, at, p.tick * 5, p.tick * 5 + p.ttl);
    const moment end = at + p.faults.back().lasts;
    for (int n = d.between(1, 2); n > 0; --n) add_long_pause(p, d, end, end + p.tick);
  } else {  // the leader hears nobody, and the others have another one before it steps down
    const moment silence = p.tick * 5;
    p.servers = 3;
    p.knows_one_server = true;
    add_fault(p, d, trouble::leader_isolated, at, at, silence + p.ttl, silence + p.ttl * 2);
    add_fault(p, d, trouble::followers_killed, at, at + p.tick, 1ms, p.tick);
    if (d.chance(0.5)) add_long_pause(p, d, at + p.tick, at + p.tick * 4);
  }
}

// With dice of its own: the other schedules stay as they are.
void draw_high_sequence(plan& p) {
  dice d(p.seed ^ 0x73657175656e6365);
  if (!d.chance(0.04)) return;
  for (int n = d.between(1, 2); n > 0; --n)
    add_fault(p, d, trouble::sequence_high, 0ns, p.troubled, 1ms, p.ttl);
}

// Likewise. In half of these nothing else happens, and the judge is strict.
void draw_removals(plan& p) {
  dice d(p.seed ^ 0x72656d6f76616c);
  if (!d.chance(0.06)) return;
  if (d.chance(0.5)) p.faults.clear();
  for (int n = d.between(1, 3); n > 0; --n)
    add_fault(p, d, trouble::holder_removed, 0ns, p.troubled, 1ms, p.ttl);
}

// Likewise.
void draw_five_servers(plan& p) {
  dice d(p.seed ^ 0x66697665);
  if (p.servers == 3 && !p.knows_one_server && d.chance(0.1)) p.servers = 5;
}

// Likewise. One server more, which never votes.
void draw_observer(plan& p) {
  dice d(p.seed ^ 0x6f62736572766572);
  if (p.servers < 3 || !d.chance(0.1)) return;
  ++p.servers;
  p.observers = 1;
}

// Likewise. An ensemble alone: the client of a single server sees that its transaction ids go back,
// and refuses it.
void draw_restore(plan& p) {
  dice d(p.seed ^ 0x726573746f7265);
  if (p.servers == 1 || p.has(trouble::sequence_high) || !d.chance(0.04)) return;
  add_fault(p, d, trouble::writes_lost, 0ns, p.troubled, p.ttl * 8, p.ttl * 10);
}

// Where a layout shares its locks, nothing but several at once is drawn without.
void choose_kind(plan& p, const seam::capabilities& can) {
  const auto is_able = [&](lock_mode m) { return (can.modes & seam::bit_of(m)) != 0; };
  if (is_able(lock_mode::permit)) {
    if (p.locks_are != kind::semaphore) p.permits = 2 + static_cast<int>(p.seed % 3);
    p.locks_are = kind::semaphore;
    p.several = false;
    return;
  }
  const bool is_shared = is_able(lock_mode::shared) && !p.several;
  p.locks_are = is_shared ? kind::shared : kind::mutex;
  p.permits = 0;
}

// With dice of its own: what is drawn for every store stays as it is.
plan on_ensemble(plan p, const zookeeper_layout& l, flavour how) {
  dice d(p.seed ^ 0x656e73656d626c65);
  p.layout = l.name;
  choose_kind(p, l.can);
  p.kill_forbidden = false;
  p.parts_wait = false;  // for as long as a session may last: no client would come to rest
  // A client takes a server for silent that does not answer for a third of the session's timeout,
  // in which it may have to connect, attach, ask for the mode and write.
  const auto trip = std::chrono::ceil<milliseconds>(p.delay_max * (p.slow_share > 0 ? 10 : 1));
  p.ttl = std::max(p.ttl, trip * 32);
  p.op_timeout = std::max(p.op_timeout, trip * 32);
  p.tick = std::max<milliseconds>(10ms, p.ttl / d.between(2, 8));
  p.servers = d.chance(0.3) ? 1 : 3;
  p.attaches_to_leader = d.chance(0.4);
  if (how == flavour::any) p.parked_share = d.chance(0.5) ? 0 : d.share() / 10;
  if (p.ttl < 1s) p.parked_share = 0;  // a reply may be late by a fifth of a second and more
  p.serves_reads_alone = how == flavour::any && p.seed % 3 == 0;
  for (fault& f : p.faults)
    if (!is_known(f.what)) f.what = drawn_for_ensemble(d);
  if (how == flavour::any)
    for (int n = d.between(0, 3); n > 0; --n) {
      fault f;
      f.what = drawn_for_ensemble(d);
      f.at = d.between(0ns, p.troubled);
      f.lasts = d.between(1ms, p.ttl * 3);
      f.whom = static_cast<std::uint32_t>(d.below(static_cast<std::uint64_t>(p.clients)));
      p.faults.push_back(f);
    }
  if (how == flavour::any) draw_theme(p);
  if (how == flavour::any) draw_high_sequence(p);
  if (how == flavour::any) draw_removals(p);
  draw_five_servers(p);
  draw_observer(p);
  if (how == flavour::any) draw_restore(p);
  for (const fault& f : p.faults) p.troubled = std::max(p.troubled, f.at + f.lasts * 3 / 2);
  std::ranges::stable_sort(p.faults, {}, &fault::at);
  return p;
}

}  // namespace

plan draw(std::uint64_t seed, flavour how, const zookeeper_layout& l) {
  return on_ensemble(draw(seed, how, server_kind::ensemble), l, how);
}

plan draw(std::uint64_t seed, const zookeeper_layout& l) { return draw(seed, flavour_of(seed), l); }

}  // namespace holdfast::sim
