#ifdef HOLDFAST_WITH_MYSQL
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/sim/full_suite.hpp"
#include "tests/sim/mysql/play.hpp"
#include "tests/sim/mysql/strategies.hpp"

namespace holdfast::sim {
namespace {

struct sim_mysql : testing::TestWithParam<const char*> {
  void expect_all_well(std::uint64_t schedules, flavour how) const {
    const played_strategy& strategy = *strategy_named(GetParam());
    for (std::uint64_t seed = 1; seed <= share_of(schedules); ++seed) {
      const plan p = draw(seed, how, strategy);
      ASSERT_EQ(play_mysql(p).complaint, "") << p.text();
    }
  }
};

TEST_P(sim_mysql, without_trouble_all_promises_are_kept) { expect_all_well(300, flavour::calm); }

TEST_P(sim_mysql, all_promises_are_kept_when_clients_crash) {
  expect_all_well(300, flavour::crashes);
}

TEST_P(sim_mysql, all_promises_are_kept_in_any_trouble_and_all_are_served_after_it) {
  expect_all_well(1000, flavour::any);
}

// In these another client's transaction has locked the row of a lock, and its end is late.
TEST(sim_mysql_rows, all_promises_are_kept_while_a_statement_waits_for_a_transaction) {
  const played_strategy& strategy = *strategy_named("row");
  EXPECT_EQ(play_mysql(draw(727, strategy)).complaint, "");
  EXPECT_EQ(play_mysql(draw(131, flavour::crashes, strategy)).complaint, "");
}

TEST_P(sim_mysql, a_schedule_is_its_seed) {
  const played_strategy& strategy = *strategy_named(GetParam());
  const auto digest_of = [&](std::uint64_t seed) {
    return play_mysql(draw(seed, strategy), nullptr, recording::on).digest;
  };
  const std::uint64_t first = digest_of(7);
  for (std::uint64_t seed = 20; seed < 40; ++seed) EXPECT_NE(digest_of(seed), first);
  EXPECT_EQ(digest_of(7), first);
}

INSTANTIATE_TEST_SUITE_P(played, sim_mysql,
                         testing::Values("row", "named", "insert", "insert-order", "for-update"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::sim
#endif
