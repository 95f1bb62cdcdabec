// Plays schedule after schedule until one shows a violation, and then makes that one smaller.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tests/sim/machine/plan.hpp"
#include "tests/sim/machine/result.hpp"

namespace holdfast::sim {

struct progress {
  std::uint64_t schedules = 0, events = 0;
  moment lasted{};  // virtual time
};

struct violation {
  plan whole, least;
  std::string complaint;  // of the whole
};

using drawing = std::function<plan(std::uint64_t seed)>;
// `goes_on` is called after each schedule; false ends the search.
std::optional<violation> explore(std::uint64_t seed, const drawing&, const player&,
                                 const std::function<bool(const progress&)>& goes_on);
// The same violation, by its first word, with less trouble, fewer clients and fewer rounds.
plan shrink(const plan&, const std::string& complaint, const player&);

}  // namespace holdfast::sim
