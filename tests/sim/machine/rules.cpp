#include "tests/sim/machine/rules.hpp"

#include <iterator>

namespace holdfast::sim {

namespace {

constexpr std::string_view rule_names[] = {"one",     "told",     "once",   "lost",     "tokens",
                                           "twice",   "lease",    "owner",  "turns",    "free",
                                           "stalled", "ghost",    "kept",   "notes",    "attempt",
                                           "bound",   "given up", "shown",  "guarded",  "break",
                                           "old",     "dead",     "passed", "together", "group",
                                           "spin",    "quorum",   "served", "rest",     "warned",
                                           "left"};
static_assert(std::size(rule_names) == rules);

}  // namespace

std::string_view name_of(rule r) noexcept { return rule_names[static_cast<int>(r)]; }

std::string rule_set::text() const {
  std::string out;
  for (int i = 0; i < rules; ++i)
    if (contains(rule(i))) out.append(out.empty() ? "" : ", ").append(rule_names[i]);
  return out;
}

}  // namespace holdfast::sim
