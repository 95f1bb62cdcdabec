// Holders of a lock while its name is led to other servers: no two, but for the windows that
// docs/safety.md states. A control plants a mutant, and must find more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string_view>
#include <vector>

#include "base/mutant.hpp"
#include "campaign.hpp"
#include "tests/stress/run.hpp"

namespace holdfast::redis_test {
namespace {

// HOLDFAST_ROUNDS=N, as ./dev torture sets it: N rounds in all.
int rounds_or(int few) {
  const char* const text = std::getenv("HOLDFAST_ROUNDS");
  return text ? std::atoi(text) : few;
}

class redis_balancer : public on_redis {
 protected:
  const std::uint64_t seed = stress::seed_of_run();
  const testing::ScopedTrace trace{__FILE__, __LINE__,
                                   "HOLDFAST_STRESS_SEED=" + std::to_string(seed)};
};

class redis_balancer_of_servers : public redis_balancer, public testing::WithParamInterface<int> {};

TEST_P(redis_balancer_of_servers, lets_no_two_hold_beyond_the_stated_windows) {
  constexpr std::uint64_t grants_least = 1'000;
  campaign all(seed, GetParam());
  std::vector<const fault_kind*> kinds;
  for (const fault_kind& k : fault_kinds())
    if (k.servers_least <= GetParam()) kinds.push_back(&k);
  const int rounds = rounds_or(static_cast<int>(kinds.size()));
  const bool is_whole = rounds >= std::ssize(kinds);  // a busy machine needs more rounds
  const auto is_enough = [&](int played) {
    return played >= rounds && (!is_whole || all.total().grants >= grants_least);
  };
  for (int i = 0; !is_enough(i) && !HasFailure(); ++i)
    all.play(*kinds[static_cast<std::size_t>(i) % kinds.size()]);
  all.print();
  const tally t = all.total();
  EXPECT_EQ(t.beyond, 0);
  EXPECT_EQ(t.broken_tokens, 0);
}

INSTANTIATE_TEST_SUITE_P(, redis_balancer_of_servers, testing::Values(2, 3),
                         testing::PrintToStringParamName());

struct control_case {
  base::mutant planted;
  const char *name, *fault;
};

void PrintTo(const control_case& c, std::ostream* out) { *out << c.name; }

class redis_balancer_control : public redis_balancer,
                               public testing::WithParamInterface<control_case> {};

TEST_P(redis_balancer_control, finds_two_holders_when_a_rule_is_broken) {
  constexpr int rounds_max = 20;
  const auto kind = std::ranges::find(fault_kinds(), std::string_view(GetParam().fault),
                                      [](const fault_kind& k) { return std::string_view(k.name); });
  base::plant(GetParam().planted);
  {
    campaign all(seed, 3);
    for (int i = 0; i < rounds_max && all.total().beyond == 0; ++i) all.play(*kind);
    all.print();
    EXPECT_GT(all.total().beyond, 0);
  }
  base::plant(base::mutant::none);
}

constexpr control_case controls[] = {
    {base::mutant::replaced_master_joined, "replaced_master_joined", "back to a former master"},
    {base::mutant::name_not_probed, "name_not_probed", "stream lost, nothing cut"},
    {base::mutant::push_of_another_server, "push_of_another_server", "failover, nothing cut"},
};

INSTANTIATE_TEST_SUITE_P(, redis_balancer_control, testing::ValuesIn(controls),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace holdfast::redis_test
