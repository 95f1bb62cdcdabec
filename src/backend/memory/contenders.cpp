#include "backend/memory/contenders.hpp"

#include <algorithm>

namespace holdfast::memory {

member* contenders::find(const owner_id& who) noexcept {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const member& m) { return m.who == who; });
  return found == members.end() ? nullptr : &*found;
}

bool contenders::remove(const owner_id& who) noexcept {
  return std::erase_if(members, [&](const member& m) { return m.who == who; }) > 0;
}

void contenders::remove_lapsed(time_point now) {
  std::erase_if(members, [&](const member& m) { return m.lapses <= now; });
}

bool contenders::fits(const request_details& p) const noexcept {
  if (members.empty()) return true;
  if (p.mode == lock_mode::shared) return true;
  std::uint64_t taken = p.permits;
  for (const member& m : members) taken += m.permits;
  return p.mode == lock_mode::permit && taken <= total_permits;
}

time_point contenders::earliest_lapse() const noexcept {
  const auto earlier = [](const member& a, const member& b) { return a.lapses < b.lapses; };
  return std::min_element(members.begin(), members.end(), earlier)->lapses;
}

}  // namespace holdfast::memory
