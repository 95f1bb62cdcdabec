// The table of behaviours: what every lock does, on every backend.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "fixture.hpp"
#include "modes.hpp"
#include "subject.hpp"

namespace contract {

enum class played : unsigned char {
  in_threads,   // the others, if any, are threads
  in_both,      // and once more with processes, where the backend excludes processes
  in_processes  // with processes where the backend has them, else with threads in their place
};

// The features that a behaviour needs of its subject.
enum class needs : unsigned char {
  nothing,
  ttl,       // each lease has a time of its own, which extend() and manual renewal are about
  deadline,  // a lease whose holder is not heard of ends: by its ttl, its session or its connection
  breaking,
  outages,
  durability,
  time,
  preference  // readers that come later do not pass a writer that waits
};

struct behaviour {
  int number;
  std::string_view name;  // its sentence in docs/internals/contract.md, with _ for spaces
  played how;
  in_modes modes;
  needs what;
  void (*play)(fixture&);
};

#define CONTRACT_BEHAVIOUR(number, function, how, modes, what) \
  { number, #function, played::how, modes, needs::what, function }

using behaviours = std::vector<behaviour>;
behaviours granting();
behaviours waiting();
behaviours leaving();
behaviours tokens();
behaviours ownership();
behaviours reentry();
behaviours standard_library();
behaviours losses();
behaviours time_passing();
behaviours outages();
behaviours closing();
behaviours names();
behaviours inspecting();
behaviours errors();
behaviours crashes();
behaviours sharing();
behaviours shared_mutexes();
behaviours permits();
behaviours limits();
behaviours contenders();
behaviours several();
behaviours elections();

const behaviours& all_behaviours();  // by number
// Why the subject cannot show the behaviour; "" when it can.
std::string not_applicable(const behaviour&, const subject_under_test&);
// Null: it is expected to pass there.
const expected_failure* failure_expected_of(const behaviour&, mode, const subject_under_test&);
std::vector<place> places(const behaviour&, const subject_under_test&);
std::string case_name(const behaviour&);  // "b07_a_stale_unlock_harms_nobody"
std::string_view word_of(mode);           // "shared"

}  // namespace contract
