// The strategies that the simulator plays on its model of MariaDB.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "cohort/turn.hpp"
#include "seam/capabilities.hpp"
#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/machine/plan.hpp"

namespace holdfast::sim {

class mysql_store;

struct played_strategy {
  std::string_view name;
  seam::capabilities can;
  moment longest_pause{};  // of a waiter that nobody tells that the lock is free
  std::string (*claim_of)(const mysql_store&, const seam::claim&);
  std::unique_ptr<lock_view> (*view)(mysql_store&, const std::vector<std::string>& lock_names);

  // A lock ends with the connection that has it.
  bool is_of_connections() const noexcept { return can.life == seam::lifetime::connection; }
};

const played_strategy* strategy_named(std::string_view);  // null: it is not played
std::vector<std::string_view> played_strategies();

// draw(), without what no server of this kind knows.
plan draw(std::uint64_t seed, const played_strategy&);
plan draw(std::uint64_t seed, flavour, const played_strategy&);

}  // namespace holdfast::sim
