// The options, the capabilities and the services that all cohorts of a client share.
#pragma once
#include <cstdint>

#include "base/recording.hpp"
#include "cohort/counters.hpp"
#include "seam/client_options.hpp"
#include "seam/lock_store.hpp"

namespace holdfast::cohort {
using namespace base;
using namespace seam;

inline constexpr std::int64_t turns_per_grant = 1024;  // a token is number * 1024 + turn
inline constexpr duration polled_every = std::chrono::milliseconds{1};  // while lingering

struct lock_rules {  // common to all cohorts of a client whose locks are in one lock store
  client_options options;
  capabilities can;
  lock_store* locks = nullptr;     // null: the backend has no locks of this kind
  std::uint16_t store_number = 0;  // for recordings: equal for kinds whose locks exclude each other
  environment* env = nullptr;
  counters* counts = nullptr;            // null: metrics are off
  base::recording* recording = nullptr;  // null: no events are recorded
  std::uint32_t phase = 0;  // random per client, so that clients do not all renew at the same time

  std::uint32_t turns() const noexcept { return options.turns.value_or(can.turns); }
};

}  // namespace holdfast::cohort
