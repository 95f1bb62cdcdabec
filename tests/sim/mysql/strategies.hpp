// The strategies that the simulator plays on its model of MariaDB.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cohort/turn.hpp"
#include "seam/capabilities.hpp"
#include "seam/claim.hpp"
#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/machine/plan.hpp"

namespace holdfast::sim {

class mysql_store;

struct owning_table {  // each of its rows names an owner; empty: the lock is free
  std::string name;
  std::string key;  // the column with the name of the lock
};

struct played_strategy {
  std::string_view name;
  std::string_view options;  // of the URL: those that choose it
  seam::capabilities can;
  moment longest_pause{};  // of a waiter that nobody tells that the lock is free
  std::string (*claim_of)(const mysql_store&, const seam::claim&);
  std::unique_ptr<lock_view> (*view)(mysql_store&, const std::vector<std::string>& lock_names);
  std::vector<std::string> schema{};                           // statements that create its tables
  std::string (*create_row)(std::string_view name) = nullptr;  // of a lock; null: it needs none
  std::vector<owning_table> owners{};                          // of its locks
  bool leaves_expired = false;                                 // rows, which an operator removes
  int connections = 16;                                        // of a client

  // A lock ends with the connection that has it.
  bool is_of_connections() const noexcept { return can.life == seam::lifetime::connection; }
};

const played_strategy* strategy_named(std::string_view);  // null: it is not played
std::vector<std::string_view> played_strategies();

// draw(), without what no server of this kind knows.
plan draw(std::uint64_t seed, const played_strategy&);
plan draw(std::uint64_t seed, flavour, const played_strategy&);
// For a primary and a replica, which an operator promotes.
plan draw_of_two(std::uint64_t seed, const played_strategy&);

}  // namespace holdfast::sim
