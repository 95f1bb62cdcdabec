// Names of nodes for the tests of codecs, and what a codec says of them as text.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "backend/zookeeper/layouts/sequential_codec.hpp"

namespace holdfast::zookeeper::layout_tests {

using names = std::vector<std::string_view>;

// "behind BLOCKER and SECOND and THIRD only, others behind"; "holds"; "is not there". only: of all
// that is ahead.
inline std::string place_of(const sequential_codec& c, std::string_view own, const names& all,
                            lock_mode mode = lock_mode::exclusive) {
  const node_place p = c.place_of(own, mode, all);
  if (!p.is_there) return "is not there";
  std::string out = p.is_first() ? "holds" : "behind";
  for (const std::string_view name : p.ahead)
    if (!name.empty()) out += (name == p.ahead.front() ? " " : " and ") + std::string(name);
  if (!p.is_first() && p.are_all) out += " only";
  if (p.others_behind) out += ", others behind";
  return out;
}

// Holders of the lock are in parentheses: "(a) b c".
inline std::string queue_of(const sequential_codec& c, const names& all) {
  std::string out;
  for (const queued_node& n : c.queue_of(all)) {
    const std::string name(n.name);
    out += (out.empty() ? "" : " ") + (n.holds ? '(' + name + ')' : name);
  }
  return out;
}

inline names reversed(names all) {
  std::ranges::reverse(all);
  return all;
}

}  // namespace holdfast::zookeeper::layout_tests
