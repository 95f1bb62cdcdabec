// The claims of one client, by the places that answers come back to and by their ids.
#pragma once
#include <compare>
#include <cstdint>
#include <vector>

#include "backend/redis/layouts/string/names.hpp"

namespace holdfast::redis {

class claim;

// With the link's lock held. An answer to a claim that has gone finds nobody.
class claim_table {
 public:
  struct place {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    auto operator<=>(const place&) const noexcept = default;
  };

  place add(claim&);
  void remove(place) noexcept;
  claim* at(place) const noexcept;

  // For pushes, which name the id. Each claim links itself in by its `next_of_id`.
  void insert(claim&);
  void erase(claim&) noexcept;
  claim* find(const claim_id&) const noexcept;

  bool has_ids() const noexcept { return with_id_ > 0; }  // somebody holds or wants a lock

  template <class Each>
  void for_each(Each each) {
    for (const seat& s : seats_)
      if (s.who) each(*s.who);
  }

 private:
  struct seat {
    claim* who = nullptr;
    std::uint32_t generation = 0;
    std::uint32_t next_free = 0;
  };
  claim*& bucket(const claim_id& id) noexcept { return buckets_[id.low & (buckets_.size() - 1)]; }
  void grow();

  std::vector<seat> seats_;
  std::uint32_t free_ = none;
  std::vector<claim*> buckets_ = std::vector<claim*>(16);
  std::size_t with_id_ = 0;
  static constexpr std::uint32_t none = 0xffffffff;
};

}  // namespace holdfast::redis
