// Planted faults. A build with HOLDFAST_MUTANTS has switches, each of which breaks a rule of safety
// (docs/safety.md); the test suite must notice each. Every other build contains none of this.
#pragma once

namespace holdfast::base {

enum class mutant : unsigned char {
#define HOLDFAST_MUTANT(name, rule) name,
#include "base/mutants.def"
#undef HOLDFAST_MUTANT
  none,
};

#ifdef HOLDFAST_MUTANTS
void plant(mutant) noexcept;  // one at a time; mutant::none removes it
bool planted(mutant) noexcept;
#else
constexpr bool planted(mutant) noexcept { return false; }
#endif

}  // namespace holdfast::base
