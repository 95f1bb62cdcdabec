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

#ifdef HOLDFAST_WITH_REDIS
void plant_in_model(std::vector<edited_script> scripts, model_fault fault) {
  sim::model_redis::let_transactions_come_apart(fault == model_fault::transactions_come_apart);
  if (scripts.empty()) return sim::model_redis::edit_scripts(nullptr);
  sim::model_redis::edit_scripts([scripts = std::move(scripts)](std::string_view text) {
    std::string out(text);
    for (const edited_script& s : scripts)
      if (const auto at = out.find(s.text); at != out.npos)
        out.replace(at, s.text.size(), s.code + '\n');
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
  core::plant(m.point);
  plant_in_model(std::move(scripts), m.fault);
}

void remove_planted() {
  core::plant(core::mutant::none);
  plant_in_model({}, model_fault::none);
}

}  // namespace holdfast::mutants
