// The layouts that the simulator plays on its model of Redis.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "seam/capabilities.hpp"
#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/machine/plan.hpp"

namespace holdfast::sim {

class dice;

class redis_store;

struct played_layout {
  std::string_view name;
  seam::capabilities can;
  moment longest_pause{};     // of a waiter that nobody tells that the lock is free
  moment window_of_waiter{};  // store_model::window_of_waiter()
  std::string taken_right;    // the command that trouble::set_revoked forbids
  std::unique_ptr<lock_view> (*view)(redis_store&, const std::vector<std::string>& lock_names);
  bool only_counts = false;  // its numbers begin again when the server's data are lost
  // Scripts of another program of the layout. KEYS: the lock. ARGV: its owner, and the ttl in ms if
  // it has one. Null: SET NX and DEL.
  const char* foreign_takes = nullptr;
  const char* foreign_leaves = nullptr;

  bool is_usual() const noexcept { return name == "string"; }
};

// Empty: the usual one. Null: it is not played.
const played_layout* layout_named(std::string_view);
std::vector<std::string_view> played_layouts();

// draw(), and what the layout cannot do is left out of the plan. For the usual layout it is draw().
plan draw(std::uint64_t seed, const played_layout&);
plan draw(std::uint64_t seed, flavour, const played_layout&);
// For two servers behind one name, whose roles change. `replicas`: have to confirm what counts.
plan draw_of_two(std::uint64_t seed, const played_layout&, int replicas = 0);
// The same of two servers that sentinels watch.
inline constexpr int usual_sentinels = 3;
plan draw_of_sentinels(std::uint64_t seed, const played_layout&, int replicas = 0);
// For the usual layout in a cluster of so many masters, whose slots move.
inline constexpr int usual_cluster = 3, cluster_max = 3;
plan draw_of_cluster(std::uint64_t seed, int masters = usual_cluster);

}  // namespace holdfast::sim
