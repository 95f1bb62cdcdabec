#include <algorithm>
#include <map>
#include <stdexcept>

#include "tests/mutants/register/lua_code.hpp"
#include "tests/mutants/register/mutant.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "tests/sim/redis/model/model_redis.hpp"
#endif

namespace holdfast::mutants {
namespace {

struct edited_script {
  std::string text, code;  // as it is, and as the mutant has it
};

// Scripts are put together out of several files: each file's text is replaced where it stands.
std::vector<edited_script> scripts_of(const mutant& m, std::string& obstacle) {
  std::map<std::string_view, edited_script> out;
  for (const script_edit& e : m.edits) {
    edited_script& s = out[e.script];
    if (s.text.empty()) {
      s.text = text_of_script(e.script);
      s.code = code_of(s.text);
    }
    const int found = count_of(e.code, s.code);
    if (found != 1) {
      obstacle = m.name + ": the code of " + std::string(e.script) + ".lua has `" +
                 std::string(e.code) + "` " + std::to_string(found) + " times, not once";
      if (s.text.empty()) obstacle = m.name + ": there is no " + std::string(e.script) + ".lua";
      return {};
    }
    s.code.replace(s.code.find(e.code), e.code.size(), e.becomes);
  }
  std::vector<edited_script> scripts;
  for (auto& [name, s] : out) scripts.push_back(std::move(s));
  return scripts;
}

struct edits_made {
  std::string mutant;  // empty: it is also a switch of the library, or it edits no script
  bool has_loaded = false, has_replaced = false;
};

edits_made& edits() {
  thread_local edits_made made;
  return made;
}

#ifdef HOLDFAST_WITH_REDIS
void plant_in_model(std::vector<edited_script> scripts, model_fault fault) {
  sim::model_redis::let_transactions_come_apart(fault == model_fault::transactions_come_apart);
  if (scripts.empty()) return sim::model_redis::edit_scripts(nullptr);
  sim::model_redis::edit_scripts([scripts = std::move(scripts)](std::string_view text) {
    std::string out(text);
    edits().has_loaded = true;
    for (const edited_script& s : scripts) {
      const auto at = out.find(s.text);
      if (at == out.npos) continue;
      out.replace(at, s.text.size(), s.code + '\n');
      edits().has_replaced = true;
    }
    return out;
  });
}
#else
void plant_in_model(std::vector<edited_script>, model_fault) {}
#endif

}  // namespace

std::string obstacle_to(const mutant& m) {
  std::string obstacle;
  scripts_of(m, obstacle);
  return obstacle;
}

void plant(const mutant& m) {
  std::string obstacle;
  auto scripts = scripts_of(m, obstacle);
  if (!obstacle.empty()) throw std::invalid_argument(obstacle);
  const bool is_only_in_scripts = m.point == base::mutant::none && !m.edits.empty();
  edits() = {.mutant = is_only_in_scripts ? m.name : std::string()};
  base::plant(m.point);
  plant_in_model(std::move(scripts), m.fault);
}

void check_planted() {
  const edits_made& made = edits();
  if (made.mutant.empty() || !made.has_loaded || made.has_replaced) return;
  throw std::logic_error(made.mutant +
                         " is planted in none of the scripts that were loaded: they "
                         "are not built from the files in src, or the layout has no such script");
}

void remove_planted() {
  edits() = {};
  base::plant(base::mutant::none);
  plant_in_model({}, model_fault::none);
}

}  // namespace holdfast::mutants
