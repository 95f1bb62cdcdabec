#include "cohort/claim_records.hpp"

#include <utility>

namespace holdfast::cohort {

claim_record& claim_records::idle_one() {
  for (claim_record* c = &first_; c; c = c->other.get())
    if (c->now == claim_record::state::idle) return *c;
  auto made = std::make_unique<claim_record>(first_.home);
  made->other = std::exchange(first_.other, nullptr);
  first_.other = std::move(made);
  return *first_.other;
}

bool claim_records::are_idle() const noexcept {
  const claim_record* c = &first_;
  while (c && c->now == claim_record::state::idle) c = c->other.get();
  return !c;
}

bool claim_records::is_held(const claim_record& c) const noexcept {
  const claim_record* at = held_;
  while (at && at != &c) at = at->next_held;
  return at != nullptr;
}

void claim_records::add_held(claim_record& c) noexcept { c.next_held = std::exchange(held_, &c); }

void claim_records::remove_held(claim_record& c) noexcept {
  claim_record** at = &held_;
  while (*at && *at != &c) at = &(*at)->next_held;
  if (*at) *at = std::exchange(c.next_held, nullptr);
}

}  // namespace holdfast::cohort
