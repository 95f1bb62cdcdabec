// A test that must notice a mutant: a scenario, or the simulator's schedules from a seed on.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/mutants/register/mutant.hpp"

namespace holdfast::mutants {

struct killer {
  std::string by;  // the backend of a scenario, "schedules", "schedules_lua"
  // Plants the mutant and removes it. Why it counts as survived; empty when it was noticed, and
  // nothing was wrong without it.
  std::function<std::string(const mutant&)> survived;
};

std::vector<killer> killers_of(const mutant&);  // none: nothing would notice it

// The simulator's part of it.
void add_schedules(std::vector<killer>&, std::string_view mutant);

}  // namespace holdfast::mutants
