// Claims of one lock_group wait here until all of them have come; then one of them sends for all.
#pragma once
#include <algorithm>
#include <list>
#include <utility>
#include <vector>

#include "seam/claim.hpp"

namespace holdfast::claims {

template <class Claim>
struct claim_group {
  using claim_type = Claim;
  explicit claim_group(const seam::lock_group& g) noexcept : group(g) {}
  bool is_whole() const noexcept { return members.size() == group.members; }

  const seam::lock_group group;
  std::vector<Claim*> members;  // in the order in which they came
  bool is_broken = false;       // a member has left: what was sent for all is not to be executed
};

// Group derives from claim_group. A claim joins once, and leaves as soon as it does not ask for the
// lock any more; those that are left of a group wait on. All with the store's mutex held.
template <class Group>
class group_barrier {
 public:
  using claim_type = typename Group::claim_type;

  // Not null: the group is whole, and `member` sends for all. That is the last that came, and from
  // then on only the first: a member that repeated its own request could be granted alone.
  template <class... Args>
  Group* join(const seam::lock_group& g, claim_type& member, Args&&... args) {
    auto place = find(g);
    if (place == groups_.end()) place = groups_.emplace(place, g, std::forward<Args>(args)...);
    auto& members = place->members;
    const bool is_new = std::find(members.begin(), members.end(), &member) == members.end();
    if (is_new) members.push_back(&member);
    return place->is_whole() && (is_new || members.front() == &member) ? &*place : nullptr;
  }
  void leave(const seam::lock_group& g, claim_type& member) noexcept {
    const auto place = find(g);
    if (place == groups_.end()) return;
    place->is_broken = std::erase(place->members, &member) > 0 || place->is_broken;
    if (place->members.empty()) groups_.erase(place);
  }
  void dissolve(Group& g) noexcept { groups_.erase(find(g.group)); }

 private:
  typename std::list<Group>::iterator find(const seam::lock_group& g) noexcept {
    return std::find_if(groups_.begin(), groups_.end(),
                        [&](const Group& other) { return other.group == g; });
  }

  std::list<Group> groups_;
};

}  // namespace holdfast::claims
