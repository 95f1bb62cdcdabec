// The share of the clients' time in which the judge excuses them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/sim/machine/explorer.hpp"
#include "tests/sim/program/playable.hpp"

namespace holdfast::sim {
namespace {

double excused_of(const playable& l, std::uint64_t seeds) {
  progress all;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    all.add(l.play(l.draw(seed), nullptr, recording::off));
  return all.excused / static_cast<double>(all.lasted.count());
}

struct limited_layout {
  const char* name;
  double share_max = 0.25;
};

struct sim_excuses : testing::TestWithParam<limited_layout> {};

TEST_P(sim_excuses, cover_at_most_a_part_of_the_time) {
  const auto layout = playable_named(GetParam().name);
  if (!layout) GTEST_SKIP() << GetParam().name << " is not built";
  EXPECT_LE(excused_of(*layout, 300), GetParam().share_max);
}

INSTANTIATE_TEST_SUITE_P(played, sim_excuses,
                         testing::Values(limited_layout{"string"}, limited_layout{"lua"},
                                         limited_layout{"redisson"},
                                         limited_layout{"redisson-fair"},
                                         limited_layout{"redisson-rw"}, limited_layout{"redlock"},
                                         limited_layout{"curator"}, limited_layout{"row"},
                                         limited_layout{"named"}, limited_layout{"insert"},
                                         limited_layout{"for-update"}),
                         [](const auto& of) {
                           std::string name = of.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(sim_excuses_of_two, servers_behind_one_name_cover_at_most_a_quarter_of_the_time) {
  for (const char* layout : {"string", "redisson", "redisson-rw", "redisson-fair"})
    EXPECT_LE(excused_of(*playable_of_two(layout), 150), 0.25) << layout;
}

TEST(sim_excuses_of_two, servers_that_sentinels_watch_cover_at_most_three_tenths_of_the_time) {
  EXPECT_LE(excused_of(*playable_of_sentinels("string"), 150), 0.3);
}

// After a failover nothing is granted until the replica is back and confirms it.
TEST(sim_excuses_of_two, waits_for_a_replica_that_sentinels_watch_cover_at_most_half_of_the_time) {
  EXPECT_LE(excused_of(*playable_of_sentinels("string", 1), 60), 0.5);
}

}  // namespace
}  // namespace holdfast::sim
