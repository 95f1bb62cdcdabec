#include <gtest/gtest.h>

#include "tests/sim/full_suite.hpp"
#include "tests/sim/redlock/play.hpp"

namespace holdfast::sim {
namespace {

void expect_all_well_with(int masters, std::uint64_t schedules) {
  for (std::uint64_t seed = 1; seed <= share_of(schedules); ++seed) {
    const plan p = draw_redlock(seed, masters);
    ASSERT_EQ(play_redlock(p).complaint, "") << p.text();
  }
}

TEST(sim_redlock, keeps_its_promises_in_any_trouble_and_serves_all_after_it) {
  expect_all_well_with(usual_masters, 1500);
}

TEST(sim_redlock, keeps_its_promises_with_five_masters) { expect_all_well_with(5, 100); }

TEST(sim_redlock, all_promises_are_kept_where_they_once_were_not) {
  for (const std::uint64_t seed : {
           26,      // the first master answered an attempt that had been withdrawn
           101711,  // a client took a master for empty whose record another one had begun
       })
    EXPECT_EQ(play_redlock(draw_redlock(seed)).complaint, "") << "seed " << seed;
}

TEST(sim_redlock, a_schedule_is_its_seed) {
  const auto digest_of = [](std::uint64_t seed) {
    return play_redlock(draw_redlock(seed), nullptr, recording::on).digest;
  };
  const std::uint64_t first = digest_of(7);
  for (std::uint64_t seed = 20; seed < 40; ++seed) EXPECT_NE(digest_of(seed), first);
  EXPECT_EQ(digest_of(7), first);
}

}  // namespace
}  // namespace holdfast::sim
