#include "backend/zookeeper/layouts/curator/codec.hpp"

#include <algorithm>

namespace holdfast::zookeeper::curator {

namespace {

constexpr std::string_view marker = "lock-";

constexpr core::capabilities abilities{
    .life = core::bound_to::session,
    .queue = core::order::fifo,
    .wanted = core::wanted_by::push,
    .modes = core::bit_of(lock_mode::exclusive),
    .tokens = true,
    .durable = true,
    .processes = true,
    .breakable = true,
};

}  // namespace

const core::capabilities& codec::can() const noexcept { return abilities; }

std::string codec::name_of(const guid& g, lock_mode) const {
  return "_c_" + text_of(g) + "-" + std::string(marker);
}

place_in_line codec::place_of(std::string_view own, lock_mode, node_names all) const {
  const std::vector<std::string_view> line = ordered_by(marker, all);
  const auto at = std::ranges::find(line, own);
  place_in_line out;
  if (at == line.end()) return out;
  out.is_there = true;
  out.others_behind = at + 1 != line.end();
  if (at == line.begin()) return out;
  out.blocker = at[-1];
  out.is_next = at - line.begin() == 1;
  return out;
}

std::vector<node_in_line> codec::line_of(node_names all) const {
  std::vector<node_in_line> out;
  for (const std::string_view name : ordered_by(marker, all))
    out.push_back({name, lock_mode::exclusive, out.empty()});
  return out;
}

}  // namespace holdfast::zookeeper::curator
