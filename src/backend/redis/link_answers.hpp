// What a link asks of the server for itself.
#pragma once
#include <vector>

#include "backend/redis/claim.hpp"
#include "backend/redis/link.hpp"

namespace holdfast::redis {

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

}  // namespace holdfast::redis
