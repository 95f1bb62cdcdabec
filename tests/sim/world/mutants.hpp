// Planted faults of the protocol that the simulator must find.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/mutant.hpp"

namespace holdfast::sim {

class model_redis;

struct script_edit {
  std::string_view of;  // a part of the text of the scripts that are meant
  std::string_view from, to;
};

struct protocol_mutant {
  std::string_view name;
  std::uint64_t killer;   // a seed that shows it, or one not far before
  std::string_view rule;  // that it breaks
  core::mutant planted = core::mutant::none;
  std::vector<script_edit> edits{};  // of Lua text
  bool groups_come_apart = false;    // SET and INCR are two commands
};

std::span<const protocol_mutant> protocol_mutants();
const protocol_mutant* mutant_of(std::string_view name);

// From here on, on this thread, while no world lives. Null: none. Throws std::logic_error, later,
// when a script is not as an edit expects it.
void plant(const protocol_mutant*);
void plant_in(model_redis&);  // what of it is the server's

}  // namespace holdfast::sim
