// The register of planted faults: what each breaks and where it is planted. The tests that must
// notice it are killers (../killer.hpp).
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutant.hpp"

namespace holdfast::mutants {

// A piece of a Lua script becomes another one.
struct script_edit {
  std::string_view script;  // layout and file: "string/release"
  std::string_view code;    // must be in the script's code exactly once (lua_code.hpp)
  std::string_view becomes;
};

enum class model_fault : unsigned char {
  none,
  transactions_come_apart,  // MULTI's commands run as they come
};

struct mutant {
  std::string name;
  std::string rule;                         // that it breaks
  base::mutant point = base::mutant::none;  // a switch in the library
  std::vector<script_edit> edits{};         // of Lua scripts
  model_fault fault = model_fault::none;    // of the simulator's model of Redis
};

std::span<const mutant> all_mutants();
const mutant* mutant_named(std::string_view name);  // null: there is none

// Why the mutant cannot be planted: a script that is not there, or code that is not in it exactly
// once. Empty when it can be.
std::string obstacle_to(const mutant&);

// Plants the mutant from here on, on this thread and in the library, and removes the one before;
// while no server of the simulator lives. Throws std::invalid_argument with obstacle_to().
void plant(const mutant&);
// Throws std::logic_error when the model has loaded scripts since, and no edit of the mutant was in
// any of them: the scripts that run are not the files that the edits were made for.
void check_planted();
void remove_planted();

}  // namespace holdfast::mutants
