// Draws a plan of a cluster from a seed.
#include <algorithm>

#include "tests/sim/machine/dice.hpp"
#include "tests/sim/redis/layouts.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

void draw_leases_of_cluster(plan& p, dice& d) {
  draw_long_ttl(p, d);
  p.several = false;
  p.locks = d.between(1, 3);
  p.hold_max = p.ttl * d.between(0, 2) + 1ms;
  p.think_max = p.ttl * d.between(0, 1) + 1ms;
  p.rounds = d.between(2, 5);
  p.troubled = p.ttl * d.between(3, 6);
}

fault moved_slot(const plan& p, dice& d) {
  fault f;
  f.what = trouble::slot_moved;
  f.at = d.between(0ns, p.troubled);
  f.lasts = d.between(1ms, p.ttl);
  f.whom = static_cast<std::uint32_t>(d.below(static_cast<std::uint64_t>(p.locks)));
  return f;
}

}  // namespace

plan draw_of_cluster(std::uint64_t seed, int masters) {
  constexpr trouble others[] = {trouble::pause,        trouble::crash,        trouble::cut,
                                trouble::stall,        trouble::black_hole,   trouble::refuse,
                                trouble::server_pause, trouble::script_flush, trouble::restart,
                                trouble::cluster_down};
  plan p = draw(seed, flavour::calm);
  dice d(seed ^ 0x636c7573746572);
  p.masters = masters;
  draw_leases_of_cluster(p, d);
  for (int n = d.between(1, 5); n > 0; --n) {
    p.faults.push_back(moved_slot(p, d));
    // Most often a slot moves within milliseconds.
    if (d.chance(0.6)) p.faults.back().lasts = d.between(1ms, 50ms);
  }
  draw_others(p, d, others);
  for (const fault& f : p.faults) p.troubled = std::max(p.troubled, f.at + f.lasts + 1ms);
  std::ranges::stable_sort(p.faults, {}, &fault::at);
  return p;
}

}  // namespace holdfast::sim
