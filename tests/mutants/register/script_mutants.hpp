// Faults planted in the Lua scripts and in the simulator's model of Redis.
#pragma once
#include <vector>

#include "tests/mutants/register/mutant.hpp"

namespace holdfast::mutants {

// One with the name of a switch of the library has no rule: it is the same fault in the scripts.
std::vector<mutant> script_mutants();

}  // namespace holdfast::mutants
