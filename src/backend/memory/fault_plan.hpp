// The faults of a transport: what happens to its messages.
#pragma once
#include <cstdint>

#include "base/environment.hpp"

namespace holdfast::memory {

struct fault_plan {
  base::duration latency{};                                 // each way
  std::uint32_t requests_to_lose = 0, replies_to_lose = 0;  // the next ones
  double lose_requests = 0, lose_replies = 0;               // probabilities
  std::uint64_t dice = 0;                                   // the seed, then the state
  bool outage = false;                                      // no request is answered

  bool is_fault_free() const noexcept {
    return latency == latency.zero() && !requests_to_lose && !replies_to_lose && !outage &&
           lose_requests <= 0 && lose_replies <= 0;
  }
  bool loses_request() noexcept { return takes(requests_to_lose, lose_requests); }
  bool loses_reply() noexcept { return takes(replies_to_lose, lose_replies); }

 private:
  bool takes(std::uint32_t& count, double chance) noexcept {
    if (count != 0) return count--, true;
    return chance > 0 && throw_dice() < chance;
  }
  // SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
  double throw_dice() noexcept {
    std::uint64_t z = dice += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
  }
};

}  // namespace holdfast::memory
