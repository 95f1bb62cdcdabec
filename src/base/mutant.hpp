// Planted faults. A build with HOLDFAST_MUTANTS has a switch for each rule of safety that breaks
// it, and the test-suite must notice each; every other build has none of this.
#pragma once
#include <string_view>

namespace holdfast::core {

enum class mutant : unsigned char {
#define HOLDFAST_MUTANT(name, rule) name,
#include "base/mutants.def"
#undef HOLDFAST_MUTANT
  none,
};

#ifdef HOLDFAST_MUTANTS
void plant(mutant) noexcept;  // one at a time; mutant::none takes it out again
bool planted(mutant) noexcept;
#else
constexpr bool planted(mutant) noexcept { return false; }
#endif

}  // namespace holdfast::core
