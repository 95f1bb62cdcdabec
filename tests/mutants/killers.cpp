#include "tests/mutants/killer.hpp"

#include "scenario.hpp"

namespace holdfast::mutants {
namespace {

constexpr auto groups =
    {lease_scenarios,      message_scenarios,   owner_scenarios,        cohort_scenarios,
     contenders_scenarios, token_scenarios,     fork_scenarios,         file_scenarios,
     thread_scenarios,     line_scenarios,      renewal_scenarios,      lifetime_scenarios,
     layout_scenarios,     zookeeper_scenarios, several_scenarios,      zookeeper_claim_scenarios,
     lineage_scenarios,    row_scenarios,       mysql_scenarios,        redlock_scenarios,
     sentinel_scenarios,   cluster_scenarios,   mysql_server_scenarios, guarded_scenarios,
     shard_scenarios};

std::string survived_scenario(const scenario& s, const mutant& m) {
  remove_planted();
  if (const std::string wrong = s.play(); !wrong.empty()) return "with no fault planted: " + wrong;
  plant(m);
  const bool is_noticed = !s.play().empty();
  remove_planted();
  return is_noticed ? "" : "the scenario finds nothing wrong";
}

}  // namespace

std::vector<killer> killers_of(const mutant& m) {
  std::vector<killer> out;
  for (const auto scenarios : groups)
    for (const scenario& s : scenarios())
      if (m.point == base::mutant::none ? m.name == s.name : m.point == s.breaks)
        out.push_back({s.backend, [&s](const mutant& one) { return survived_scenario(s, one); }});
  add_schedules(out, m.name);
  return out;
}

}  // namespace holdfast::mutants
