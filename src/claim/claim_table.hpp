// The claims of one client, by the places to which replies come back and by their owner ids.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace holdfast::claims {

// The handle by which a reply reaches its claim. A reply to a destroyed claim is dropped: the
// slot's generation has changed by then.
struct claim_handle {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  auto operator<=>(const claim_handle&) const noexcept = default;
};

// For pushes, which carry an owner id. A claim with an owner id links itself in by `next_of_id`;
// its id() has a random number in `low`. All with the store's mutex held.
template <class Claim>
class claim_table {
 public:
  claim_handle add(Claim& c) {
    if (free_ == none) {
      slots_.push_back({&c, 0, none});
      return {static_cast<std::uint32_t>(slots_.size() - 1), 0};
    }
    const std::uint32_t index = free_;
    free_ = slots_[index].next_free;
    slots_[index].who = &c;
    return {index, slots_[index].generation};
  }
  void remove(claim_handle p) noexcept {
    slot& s = slots_[p.index];
    s.who = nullptr;
    ++s.generation;
    s.next_free = std::exchange(free_, p.index);
  }
  Claim* at(claim_handle p) const noexcept {
    const slot& s = slots_[p.index];
    return s.generation == p.generation ? s.who : nullptr;
  }

  void insert(Claim& c) {
    if (with_id_ >= buckets_.size()) grow();
    Claim*& first = bucket(c.id());
    c.next_of_id = std::exchange(first, &c);
    ++with_id_;
  }
  void erase(Claim& c) noexcept {
    for (Claim** at = &bucket(c.id()); *at; at = &(*at)->next_of_id) {
      if (*at != &c) continue;
      *at = std::exchange(c.next_of_id, nullptr);
      --with_id_;
      return;
    }
  }
  template <class Id>
  Claim* find(const Id& id) const noexcept {
    Claim* c = buckets_[id.low & (buckets_.size() - 1)];
    while (c && !(c->id() == id)) c = c->next_of_id;
    return c;
  }

  template <class Each>
  void for_each(Each each) const {
    for (const slot& s : slots_)
      if (s.who) each(*s.who);
  }

 private:
  struct slot {
    Claim* who = nullptr;
    std::uint32_t generation = 0;
    std::uint32_t next_free = 0;
  };
  template <class Id>
  Claim*& bucket(const Id& id) noexcept {
    return buckets_[id.low & (buckets_.size() - 1)];
  }
  void grow() {
    std::vector<Claim*> old(buckets_.size() * 2);
    old.swap(buckets_);
    for (Claim* c : old) {
      while (c) {
        Claim* const next = c->next_of_id;
        Claim*& first = bucket(c->id());
        c->next_of_id = std::exchange(first, c);
        c = next;
      }
    }
  }

  static constexpr std::uint32_t none = 0xffffffff;
  std::vector<slot> slots_;
  std::uint32_t free_ = none;
  std::vector<Claim*> buckets_ = std::vector<Claim*>(16);
  std::size_t with_id_ = 0;
};

}  // namespace holdfast::claims
