// What a link asks of the server for itself.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "backend/redis/claim.hpp"
#include "backend/redis/link.hpp"

namespace holdfast::redis {

// Out of a list of what is under way; null when it is not there.
template <class Pointer>
Pointer taken_from(std::vector<Pointer>& all, const void* which) {
  const auto found =
      std::find_if(all.begin(), all.end(), [which](const Pointer& p) { return p.get() == which; });
  if (found == all.end()) return nullptr;
  Pointer out = std::move(*found);
  all.erase(found);
  return out;
}

// Every claim that waits until it may be sent: `each` says whether it goes on waiting.
template <class Each>
void link::review_parked(Each goes_on) {
  std::vector<claim_table::place> before;
  before.swap(parked_);
  for (const auto place : before) {
    claim* const c = claims_.at(place);
    if (c && c->parked != operation::none && goes_on(*c)) parked_.push_back(place);
  }
}

struct link::raise_answer final : answerer {
  explicit raise_answer(link& l) noexcept : home(l) {}
  void answered(const value&, time_point now, time_point sent, core::event_queue&) override;
  void cut(time_point now, core::event_queue&) override;
  link& home;
};

struct link::time_answer final : answerer {  // TIME; and whatever is of no interest
  explicit time_answer(link& l) noexcept : home(l) {}
  void answered(const value&, time_point now, time_point sent, core::event_queue&) override;
  void cut(time_point, core::event_queue&) override { home.sampling_ = false; }
  link& home;
};

struct link::memory_answer final : answerer {  // INFO memory; a user may lack the right to it
  explicit memory_answer(link& l) noexcept : home(l) {}
  void answered(const value&, time_point now, time_point sent, core::event_queue&) override;
  void cut(time_point, core::event_queue&) override {}
  link& home;
};

// Questions of claims that went out as one: takes in a transaction, what let_go.lua frees, what
// gather.lua asks for.
struct link::crowd final : answerer {
  explicit crowd(link& l) noexcept : home(l) {}
  void answered(const value&, time_point now, time_point sent, core::event_queue&) override;
  void answered_gather(const value&, time_point now, core::event_queue&);
  void cut(time_point now, core::event_queue&) override;
  void end() noexcept;
  link& home;
  std::vector<sent_request> members;
};

struct link::batch final : answerer {  // renewals that went out together
  struct entry {
    claim_table::place whose;
    std::uint32_t epoch = 0;
    std::uint32_t ticket = 0;
    duration ttl{};
  };
  batch(link& l, bool members) noexcept : home(l), of_members(members) {}
  void answered(const value&, time_point now, time_point sent, core::event_queue&) override;
  void cut(time_point now, core::event_queue&) override;
  void end() noexcept;
  link& home;
  const bool of_members;
  std::vector<entry> entries;
};

}  // namespace holdfast::redis
