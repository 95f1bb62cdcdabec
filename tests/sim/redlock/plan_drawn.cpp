// Draws a plan of a Redlock from a seed.
#include <algorithm>
#include <vector>

#include "tests/sim/machine/dice.hpp"
#include "tests/sim/redlock/play.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

// A node-timeout is a quarter of the ttl at most, and has room for a few trips.
void draw_leases_of_masters(plan& p, dice& d) {
  constexpr std::chrono::milliseconds ttls[] = {200ms, 500ms, 1s, 2s};
  p.delay_max = std::min<moment>(p.delay_max, 5ms);
  p.delay_min = std::min(p.delay_min, p.delay_max);
  p.ttl = std::max(ttls[d.below(std::size(ttls))],
                   std::chrono::ceil<std::chrono::milliseconds>(p.delay_max * 40));
  p.op_timeout = std::max(p.op_timeout, p.ttl / 2);
  p.hold_max = p.ttl * d.between(0, 2) + 1ms;
  p.think_max = p.ttl * d.between(0, 2) + 1ms;
  p.rounds = d.between(2, 8);
  p.troubled = p.ttl * d.between(3, 10);
}

fault at_master(const plan& p, dice& d, trouble what) {
  fault f;
  f.what = what;
  f.at = d.between(0ns, p.troubled);
  f.lasts = d.between(1ms, p.ttl * 3 / 2);
  f.whom = static_cast<std::uint32_t>(d.below(static_cast<std::uint64_t>(p.servers)));
  return f;
}

fault at_client(const plan& p, dice& d, trouble what) {
  fault f = at_master(p, d, what);
  f.whom = static_cast<std::uint32_t>(d.below(static_cast<std::uint64_t>(p.clients)));
  return f;
}

// A few kinds of trouble of masters only.
void draw_troubles_of_masters(plan& p, dice& d) {
  constexpr trouble kinds[] = {trouble::server_killed,  trouble::server_killed,
                               trouble::server_stopped, trouble::server_stopped,
                               trouble::restart_empty,  trouble::restart_empty,
                               trouble::flush_all,      trouble::clock_forward,
                               trouble::clock_back,     trouble::memory_full,
                               trouble::loading,        trouble::long_script,
                               trouble::disk_full,      trouble::script_flush};
  std::vector<trouble> drawn;
  for (int n = d.between(1, 3); n > 0; --n) drawn.push_back(kinds[d.below(std::size(kinds))]);
  for (int n = d.between(1, 6); n > 0; --n)
    p.faults.push_back(at_master(p, d, drawn[d.below(drawn.size())]));
}

// One master after the other is away, so that each majority is another one.
void draw_turns_of_masters(plan& p, dice& d) {
  const trouble what = d.chance(0.5) ? trouble::server_killed : trouble::server_stopped;
  for (moment at = d.between(0ns, p.ttl); at < p.troubled;) {
    fault f = at_master(p, d, d.chance(0.2) ? trouble::server_stopped : what);
    f.at = at;
    at += f.lasts + d.between(0ns, p.ttl / 2);
    p.faults.push_back(f);
  }
}

// Masters come back without their data: most of them at the same time, or each when the one before
// votes again. Then one that has its data is away.
void draw_empty_masters(plan& p, dice& d) {
  const bool are_together = d.chance(0.4);
  p.rounds += 8;
  p.ttl = std::min<std::chrono::milliseconds>(p.ttl, 1s);
  p.think_max = are_together ? p.ttl : p.ttl * 2 + 1s;
  fault f = at_master(p, d, trouble::restart_empty);
  f.at = d.between(0ns, p.ttl * 2);
  for (int n = p.servers / 2 + d.between(0, 1); n > 0; --n) {
    f.lasts = d.between(1ms, p.ttl / 4);
    p.faults.push_back(f);
    ++f.whom;
    f.at += are_together ? d.between(0ns, p.ttl / 4) : p.ttl * 2 + d.between(1s, 4s);
  }
  f.what = trouble::server_stopped;
  f.lasts = d.between(p.ttl, p.ttl * 4) + 1s;
  p.faults.push_back(f);
}

void draw_troubles_of_clients(plan& p, dice& d) {
  constexpr trouble kinds[] = {trouble::pause,         trouble::pause,
                               trouble::crash,         trouble::cut,
                               trouble::cut,           trouble::stall,
                               trouble::stall,         trouble::black_hole,
                               trouble::process_added, trouble::slow_connects,
                               trouble::refuse,        trouble::process_replaced};
  for (int n = d.chance(0.4) ? 0 : d.between(1, 5); n > 0; --n)
    p.faults.push_back(at_client(p, d, kinds[d.below(std::size(kinds))]));
}

}  // namespace

plan draw_redlock(std::uint64_t seed, int masters) {
  plan p = draw(seed, flavour::calm);
  dice d(seed ^ 0x7265646c6f636b);
  p.layout = "redlock";
  p.locks_are = kind::mutex;
  p.permits = 0;
  p.writes = 0;
  p.servers = masters;
  draw_leases_of_masters(p, d);
  const double theme = d.share();
  if (theme < 0.1) return p;
  if (theme < 0.5) draw_troubles_of_masters(p, d);
  if (theme >= 0.5 && theme < 0.75) draw_turns_of_masters(p, d);
  if (theme >= 0.75 && theme < 0.9) draw_empty_masters(p, d);
  draw_troubles_of_clients(p, d);
  for (const fault& f : p.faults) p.troubled = std::max(p.troubled, f.at + f.lasts * 3 / 2);
  std::ranges::stable_sort(p.faults, {}, &fault::at);
  return p;
}

}  // namespace holdfast::sim
