// Templates of string_layout that several of its files use.
#pragma once
#include <vector>

#include "backend/redis/layouts/string/string_layout.hpp"

namespace holdfast::redis {

template <class Stays>
void string_layout::review_deferred(Stays stays) {
  std::vector<claims::claim_handle> before;
  before.swap(deferred_);
  for (const auto place : before) {
    claim* const c = claims_.at(place);
    if (!c || c->deferred == operation::none) continue;
    // Deferred before the claim began something else, as before a push granted it the lock.
    const bool is_obsolete = c->deferred_epoch != c->recipe().epoch();
    if (is_obsolete) c->deferred = operation::none;
    if (!is_obsolete && stays(*c)) deferred_.push_back(place);
  }
}

}  // namespace holdfast::redis
