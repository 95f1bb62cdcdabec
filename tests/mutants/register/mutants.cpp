#include "tests/mutants/register/mutant.hpp"

#include <algorithm>

#include "tests/mutants/register/script_mutants.hpp"

namespace holdfast::mutants {
namespace {

std::vector<mutant> register_of_all() {
  std::vector<mutant> out{
#define HOLDFAST_MUTANT(name, rule) {#name, rule, base::mutant::name},
#include "base/mutants.def"
#undef HOLDFAST_MUTANT
  };
  for (const mutant& m : script_mutants()) {
    const auto same =
        std::find_if(out.begin(), out.end(), [&](const mutant& o) { return o.name == m.name; });
    if (same == out.end()) {
      out.push_back(m);
    } else {
      same->edits = m.edits;
    }
  }
  return out;
}

const std::vector<mutant>& all() {
  static const std::vector<mutant> list = register_of_all();
  return list;
}

}  // namespace

std::span<const mutant> all_mutants() { return all(); }

const mutant* mutant_named(std::string_view name) {
  const auto found =
      std::find_if(all().begin(), all().end(), [&](const mutant& m) { return m.name == name; });
  return found == all().end() ? nullptr : &*found;
}

}  // namespace holdfast::mutants
