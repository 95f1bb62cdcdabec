// The table of behaviours: what every lock does, on every backend.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "stage.hpp"
#include "subject.hpp"

namespace contract {

enum class played : unsigned char {
  in_threads,   // the others, if any, are threads
  in_both,      // and once more with processes, where the backend excludes processes
  in_processes  // with processes where the backend has them, else with threads in their place
};

enum class needs : unsigned char { nothing, ttl, breaking, outages, durability };

struct behaviour {
  int number;
  std::string_view name;  // its sentence in docs/contract.md, with _ for spaces
  played how;
  needs what;
  void (*play)(stage&);
};

#define CONTRACT_BEHAVIOUR(number, function, how, what) \
  { number, #function, played::how, needs::what, function }

using behaviours = std::vector<behaviour>;
behaviours granting();
behaviours waiting();
behaviours leaving();
behaviours tokens();
behaviours ownership();
behaviours reentry();
behaviours standard_library();
behaviours time_passing();
behaviours outages();
behaviours closing();
behaviours names();
behaviours inspecting();
behaviours errors();
behaviours crashes();

const behaviours& exclusive_behaviours();  // all of them, by number

// Why the backend cannot show the behaviour; "" when it can.
std::string not_applicable(const behaviour&, const backend_under_test&);
std::vector<place> places(const behaviour&, const backend_under_test&);
std::string case_name(const behaviour&);  // "b07_a_stale_unlock_harms_nobody"

}  // namespace contract
