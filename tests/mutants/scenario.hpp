// A scenario for each planted fault: without it nothing goes wrong, with it something does.
#pragma once
#include <span>
#include <string>

#include "base/mutant.hpp"

namespace holdfast::mutants {

struct scenario {
  base::mutant breaks;
  const char* backend;
  std::string (*play)();  // what went wrong; "" when nothing did
  const char* name = "";  // of a mutant in scripts, where `breaks` is none
};

std::span<const scenario> lease_scenarios();
std::span<const scenario> message_scenarios();
std::span<const scenario> owner_scenarios();
std::span<const scenario> cohort_scenarios();
std::span<const scenario> several_scenarios();
std::span<const scenario> guarded_scenarios();
std::span<const scenario> contenders_scenarios();
std::span<const scenario> token_scenarios();
std::span<const scenario> fork_scenarios();
std::span<const scenario> file_scenarios();
std::span<const scenario> thread_scenarios();
std::span<const scenario> line_scenarios();
std::span<const scenario> renewal_scenarios();
std::span<const scenario> lifetime_scenarios();
std::span<const scenario> layout_scenarios();
std::span<const scenario> lineage_scenarios();
std::span<const scenario> redlock_scenarios();
std::span<const scenario> sentinel_scenarios();
std::span<const scenario> cluster_scenarios();
std::span<const scenario> shard_scenarios();
std::span<const scenario> zookeeper_scenarios();
std::span<const scenario> zookeeper_claim_scenarios();
std::span<const scenario> row_scenarios();
std::span<const scenario> mysql_scenarios();
std::span<const scenario> mysql_server_scenarios();

}  // namespace holdfast::mutants
