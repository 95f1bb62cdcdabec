// The layouts that the simulator plays on its model of ZooKeeper.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "seam/capabilities.hpp"
#include "seam/claim.hpp"
#include "tests/sim/machine/plan.hpp"
#include "tests/sim/zookeeper/lock_nodes.hpp"

namespace holdfast::sim {

struct own_text {           // where a client writes what tells its attempt from all others
  std::string_view behind;  // the path of the lock
  std::size_t gap = 0;      // bytes between the two
};

struct stranger {               // a node of another program
  std::string_view folder;      // below the lock
  std::string_view begin, end;  // of its name, with a number between; the server adds another
  bool is_the_lock = false;     // it has no name of its own
};
inline constexpr std::string_view stranger_mark = "foreign";  // in the name of each

struct zookeeper_layout {
  std::string_view name;
  seam::capabilities can;
  node_reader read;
  std::string (*claim_of)(const seam::claim&);  // its own part
  std::vector<own_text> own_texts;
  std::vector<stranger> strangers;
  bool takes_foreign_data = true;  // writing to its nodes means no harm
};

const zookeeper_layout* zookeeper_layout_named(std::string_view);  // null: it is not played
std::vector<std::string_view> zookeeper_layouts();

// draw(), with an ensemble's troubles in the place of those that no ensemble knows.
plan draw(std::uint64_t seed, const zookeeper_layout&);
plan draw(std::uint64_t seed, flavour, const zookeeper_layout&);

}  // namespace holdfast::sim
