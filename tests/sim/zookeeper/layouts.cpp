#include "tests/sim/zookeeper/layouts.hpp"

#include <algorithm>

#include "backend/zookeeper/layouts/curator/codec.hpp"
#include "backend/zookeeper/layouts/kazoo/codec.hpp"
#include "tests/sim/machine/dice.hpp"
#include "tests/sim/zookeeper/sequential_view.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

std::unique_ptr<lock_view> sequential_view_of(zookeeper_store& s,
                                              const std::vector<std::string>& lock_names) {
  return std::make_unique<sequential_view>(s, lock_names);
}

const std::vector<zookeeper_layout>& all_on_zookeeper() {
  static const std::vector<std::string> no_more_patterns;
  static const std::vector<zookeeper_layout> all{
      {.name = "curator",
       .can = zookeeper::curator::codec().can(),
       .foreign_begin = "_c_foreign-",
       .foreign_end = "-lock-",
       .view = sequential_view_of},
      {.name = "kazoo",
       .can = zookeeper::kazoo::codec(zookeeper::kazoo::kind::lock, no_more_patterns).can(),
       .foreign_begin = "foreign",
       .foreign_end = "__lock__",
       .view = sequential_view_of},
  };
  return all;
}

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

// With dice of its own: what is drawn for every store stays as it is.
plan on_ensemble(plan p, const zookeeper_layout& l, flavour how) {
  dice d(p.seed ^ 0x656e73656d626c65);
  p.layout = l.name;
  p.locks_are = kind::mutex;
  p.permits = 0;
  p.kill_forbidden = false;
  p.parts_wait = false;  // for as long as a session may last: no client would come to rest
  // A client takes a server for silent that does not answer for a third of the session's time-out,
  // in which it may have to connect, attach, ask for the mode and write.
  const auto trip = std::chrono::ceil<milliseconds>(p.delay_max * (p.slow_share > 0 ? 10 : 1));
  p.ttl = std::max(p.ttl, trip * 32);
  p.op_timeout = std::max(p.op_timeout, trip * 32);
  p.tick = std::max<milliseconds>(10ms, p.ttl / d.between(2, 8));
  p.servers = d.chance(0.3) ? 1 : 3;
  p.attaches_to_leader = d.chance(0.4);
  if (how == flavour::any) p.parked_share = d.chance(0.5) ? 0 : d.share() / 10;
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
  for (const fault& f : p.faults) p.troubled = std::max(p.troubled, f.at + f.lasts * 3 / 2);
  std::ranges::stable_sort(p.faults, {}, &fault::at);
  return p;
}

}  // namespace

const zookeeper_layout* zookeeper_layout_named(std::string_view name) {
  const auto& all = all_on_zookeeper();
  const auto found = std::ranges::find(all, name, &zookeeper_layout::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string_view> zookeeper_layouts() {
  std::vector<std::string_view> out;
  for (const zookeeper_layout& l : all_on_zookeeper()) out.push_back(l.name);
  return out;
}

plan draw(std::uint64_t seed, flavour how, const zookeeper_layout& l) {
  return on_ensemble(draw(seed, how), l, how);
}

plan draw(std::uint64_t seed, const zookeeper_layout& l) { return draw(seed, flavour_of(seed), l); }

}  // namespace holdfast::sim
