// What a holder's node shows an operator.
#pragma once
#include <holdfast/holder.hpp>

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/zookeeper/layouts/lock_path.hpp"
#include "backend/zookeeper/layouts/node_data.hpp"
#include "backend/zookeeper/transport/replies.hpp"
#include "base/environment.hpp"

namespace holdfast::zookeeper {

// Without its name, its owner, and what it holds.
inline holder holder_of(const node_data& node, node_owner who, core::environment& env) {
  constexpr std::int64_t turns_per_grant = 1024;
  holder out;
  out.host = std::move(who.host);
  out.pid = who.pid;
  out.note = std::move(who.note);
  out.token = node.stat.czxid * turns_per_grant;
  const auto wall = std::chrono::duration_cast<std::chrono::milliseconds>(env.wall());
  out.held =
      std::max(wall - std::chrono::milliseconds{node.stat.ctime_ms}, std::chrono::milliseconds{0});
  return out;
}

// In order: of the locks below the chroot that begin with this.
inline std::vector<std::string> lock_names(std::string_view chroot, std::string_view prefix,
                                           std::span<const std::string_view> nodes) {
  std::vector<std::string> out;
  for (const std::string_view node : nodes) {
    auto name = lock_name(node);
    if (name && name->starts_with(prefix) && lock_name_fault(chroot, *name).empty())
      out.push_back(std::move(*name));
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace holdfast::zookeeper
