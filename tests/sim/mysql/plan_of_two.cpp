// Draws a plan of a primary and a replica of MariaDB in one URL from a seed.
//
// A replica is promoted by hand. Of such a fault:
//   cuts          all: the primary is killed; none: an operator sets it read-only, and its
//                 connections stay
//   lost          for so long the replica has got nothing before; 0: it has all
//   name_follows  so long no server takes writes
//   lasts         from the promotion until the former primary is a replica
#include <algorithm>

#include "tests/sim/machine/dice.hpp"
#include "tests/sim/mysql/strategies.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

// Leases that are long beside the time that a promotion takes a client.
void draw_leases_of_primary(plan& p, const played_strategy& s, dice& d) {
  draw_long_ttl(p, d);
  p.delay_min = std::min(p.delay_min, p.delay_max / 2);
  const auto trip =
      std::chrono::ceil<std::chrono::milliseconds>(p.delay_max * (p.slow_share > 0 ? 10 : 1));
  p.ttl = std::max(p.ttl, trip * 24);
  if (s.is_of_connections()) p.ttl = std::chrono::ceil<std::chrono::seconds>(p.ttl);
  p.op_timeout = std::max(p.op_timeout, p.ttl / 2);
}

fault promotion_by_hand(const plan& p, dice& d) {
  fault f;
  f.what = trouble::promoted;
  f.cuts = d.chance(0.4) ? fault::share::all : fault::share::none;
  if (d.chance(0.5)) f.lost = d.between(1ms, p.ttl / 2);
  if (d.chance(0.7)) f.name_follows = d.between(1ms, p.ttl / 2);
  f.lasts = d.between(p.ttl / 2, p.ttl * 4);
  return f;
}

moment end_of_promotion(const fault& f) { return f.at + f.lost + f.name_follows + f.lasts + 2ms; }

// One after the other: each begins when the former primary has become a replica.
void draw_promotions(plan& p, dice& d) {
  moment at = d.between(0ns, p.ttl * 2);
  for (int n = d.between(1, 3); n > 0; --n) {
    fault f = promotion_by_hand(p, d);
    f.at = at;
    p.faults.push_back(f);
    at = end_of_promotion(f) + d.between(0ns, p.ttl * 2);
  }
}

}  // namespace

// In one of ten nothing happens.
plan draw_of_two(std::uint64_t seed, const played_strategy& s) {
  constexpr trouble others[] = {trouble::pause,        trouble::crash,  trouble::cut,
                                trouble::stall,        trouble::refuse, trouble::black_hole,
                                trouble::server_pause, trouble::restart};
  plan p = draw(seed, flavour::calm, s);
  dice d(seed ^ 0x7265706c696361);
  p.servers = 2;
  draw_leases_of_primary(p, s, d);
  draw_long_use(p, d);
  if (d.chance(0.1)) return p;
  draw_promotions(p, d);
  draw_others(p, d, others);
  if (d.chance(0.25)) p.deadlock_share = d.share() / 50;
  for (const fault& f : p.faults) {
    const bool promotes = f.what == trouble::promoted;
    p.troubled = std::max(p.troubled, promotes ? end_of_promotion(f) : f.at + f.lasts + 1ms);
  }
  std::ranges::stable_sort(p.faults, {}, &fault::at);
  return p;
}

}  // namespace holdfast::sim
