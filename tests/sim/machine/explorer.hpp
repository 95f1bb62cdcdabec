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
  moment lasted{};     // virtual time
  double excused = 0;  // of it, in ns
  rule_set rules{}, applied{};

  void add(const result& r) noexcept {
    ++schedules;
    events += r.events;
    lasted += r.lasted;
    rules.add(r.rules);
    applied.add(r.applied);
    excused += r.excused_share * static_cast<double>(r.lasted.count());
  }
  double excused_percent() const noexcept {
    return lasted.count() > 0 ? 100 * excused / static_cast<double>(lasted.count()) : 0;
  }
};

struct violation {
  plan whole, least;
  std::string complaint;  // of the whole
};

using drawing = std::function<plan(std::uint64_t seed)>;
// `goes_on` is called after each schedule; false ends the search.
std::optional<violation> explore(std::uint64_t seed, const drawing&, const player&,
                                 const std::function<bool(const progress&)>& goes_on);
// Plays on after a violation, which it reports and does not shrink. Returns how many there were.
std::uint64_t explore_all(std::uint64_t seed, const drawing&, const player&,
                          const std::function<bool(const progress&)>& goes_on,
                          const std::function<void(const violation&)>& report);
// The same violation, with less trouble, fewer clients and fewer rounds. It is the same when its
// complaint is the same but for names and numbers.
plan shrink(const plan&, const std::string& complaint, const player&);

}  // namespace holdfast::sim
