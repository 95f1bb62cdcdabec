#include "torture/slot_moves.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::cluster_servers;

namespace {

// Some are longer than a lease lasts.
constexpr auto longest_half_way = 3s;

struct route {
  int slot = 0;
  std::size_t from = 0, to = 0;  // masters
};

route route_of(cluster_servers& all, int slot, dice& d) {
  const std::size_t from = all.master_of_slot(slot);
  for (;;) {
    const std::size_t to = d.below(all.server_count());
    if (to != from && all.server(to).info("role") == "master") return {slot, from, to};
  }
}

// The replicas have what has moved when the next fault strikes.
void finish_move(cluster_servers& all, const route& way) {
  auto keys = all.keys_of_slot(way.slot, way.from);
  for (; !keys.empty(); keys = all.keys_of_slot(way.slot, way.from))
    all.move_keys(keys, way.from, way.to);
  all.finish_move(way.slot, way.from, way.to);
  all.wait_until_moved(way.slot, way.to);
  all.wait_until_copied(way.from);
  all.wait_until_copied(way.to);
}

// None of the keys has moved, some, or all.
void begin_move(cluster_servers& all, const route& way, dice& d) {
  all.mark_migrating(way.slot, way.from, way.to);
  auto keys = all.keys_of_slot(way.slot, way.from);
  keys.resize(d.below(keys.size() + 1));
  all.move_keys(keys, way.from, way.to);
}

}  // namespace

std::vector<fault> slot_moves(cluster_servers& all, const std::function<int(dice&)>& a_slot) {
  return {
      {"slot.move",
       [&all, a_slot](dice& d) {
         const route way = route_of(all, a_slot(d), d);
         all.mark_migrating(way.slot, way.from, way.to);
         finish_move(all, way);
       }},
      {"slot.half-moved",
       [&all, a_slot](dice& d) {
         const route way = route_of(all, a_slot(d), d);
         begin_move(all, way, d);
         std::this_thread::sleep_for(d.between(20ms, longest_half_way));
         finish_move(all, way);
       }},
  };
}

}  // namespace holdfast::torture
