// The layouts that the simulator plays on its model of ZooKeeper.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "seam/capabilities.hpp"
#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/machine/plan.hpp"

namespace holdfast::sim {

class zookeeper_store;

struct zookeeper_layout {
  std::string_view name;
  core::capabilities can;
  // Of the name of another program's node, before its number and behind it.
  std::string_view foreign_begin, foreign_end;
  std::unique_ptr<lock_view> (*view)(zookeeper_store&, const std::vector<std::string>& lock_names);
};

const zookeeper_layout* zookeeper_layout_named(std::string_view);  // null: it is not played
std::vector<std::string_view> zookeeper_layouts();

// draw(), with an ensemble's troubles in the place of those that no ensemble knows.
plan draw(std::uint64_t seed, const zookeeper_layout&);
plan draw(std::uint64_t seed, flavour, const zookeeper_layout&);

}  // namespace holdfast::sim
