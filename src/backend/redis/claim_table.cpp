#include "backend/redis/claim_table.hpp"

#include <utility>

#include "backend/redis/claim.hpp"

namespace holdfast::redis {

claim_table::place claim_table::add(claim& c) {
  if (free_ == none) {
    seats_.push_back({&c, 0, none});
    return {static_cast<std::uint32_t>(seats_.size() - 1), 0};
  }
  const std::uint32_t index = free_;
  free_ = seats_[index].next_free;
  seats_[index].who = &c;
  return {index, seats_[index].generation};
}

void claim_table::remove(place p) noexcept {
  seat& s = seats_[p.index];
  s.who = nullptr;
  ++s.generation;
  s.next_free = std::exchange(free_, p.index);
}

claim* claim_table::at(place p) const noexcept {
  const seat& s = seats_[p.index];
  return s.generation == p.generation ? s.who : nullptr;
}

void claim_table::insert(claim& c) {
  if (with_id_ >= buckets_.size()) grow();
  claim*& first = bucket(c.id());
  c.next_of_id = std::exchange(first, &c);
  ++with_id_;
}

void claim_table::erase(claim& c) noexcept {
  for (claim** at = &bucket(c.id()); *at; at = &(*at)->next_of_id) {
    if (*at != &c) continue;
    *at = std::exchange(c.next_of_id, nullptr);
    --with_id_;
    return;
  }
}

claim* claim_table::find(const claim_id& id) const noexcept {
  claim* c = buckets_[id.low & (buckets_.size() - 1)];
  while (c && !(c->id() == id)) c = c->next_of_id;
  return c;
}

void claim_table::grow() {
  std::vector<claim*> old(buckets_.size() * 2);
  old.swap(buckets_);
  for (claim* c : old) {
    while (c) {
      claim* const next = c->next_of_id;
      claim*& first = bucket(c->id());
      c->next_of_id = std::exchange(first, c);
      c = next;
    }
  }
}

}  // namespace holdfast::redis
