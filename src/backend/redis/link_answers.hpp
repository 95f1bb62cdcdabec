// What a link asks of the server for itself.
#pragma once
#include <vector>

#include "backend/redis/claim.hpp"
#include "backend/redis/link.hpp"

namespace holdfast::redis {

// Every claim that waits until it may be sent: `each` says whether it goes on waiting.
template <class Each>
void link::review_parked(Each goes_on) {
  std::vector<claims::claim_place> before;
  before.swap(parked_);
  for (const auto place : before) {
    claim* const c = claims_.at(place);
    if (c && c->parked != operation::none && goes_on(*c)) parked_.push_back(place);
  }
}

struct link::raise_answer final : reply_handler {
  explicit raise_answer(link& l) noexcept : home(l) {}
  void on_reply(const value&, const reply_context&) override;
  void on_not_executed(const reply_context& c) override { on_cut(c); }
  void on_cut(const reply_context&) override { home.raising_ = false; }
  link& home;
};

}  // namespace holdfast::redis
