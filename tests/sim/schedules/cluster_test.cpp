// Schedules of a Redis Cluster whose slots move.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/sim/full_suite.hpp"
#include "tests/sim/redis/layouts.hpp"
#include "tests/sim/redis/play.hpp"

namespace holdfast::sim {
namespace {

void expect_all_well_in_cluster(int masters, std::uint64_t schedules) {
  for (std::uint64_t seed = 1; seed <= share_of(schedules); ++seed) {
    const plan p = draw_of_cluster(seed, masters);
    ASSERT_EQ(play_redis(p).complaint, "") << p.text();
  }
}

TEST(sim_cluster, keeps_its_promises_while_slots_move_and_serves_all_after_it) {
  expect_all_well_in_cluster(usual_cluster, 600);
}

TEST(sim_cluster, keeps_its_promises_with_two_masters) { expect_all_well_in_cluster(2, 200); }

TEST(sim_cluster, keeps_its_promises_while_no_slot_moves) {
  for (std::uint64_t seed = 1; seed <= share_of(200); ++seed) {
    plan p = draw_of_cluster(seed);
    std::erase_if(p.faults, [](const fault& f) { return f.what == trouble::slot_moved; });
    ASSERT_EQ(play_redis(p).complaint, "") << p.text();
  }
}

TEST(sim_cluster, a_schedule_is_its_seed) {
  const auto digest_of = [](std::uint64_t seed) {
    return play_redis(draw_of_cluster(seed), nullptr, recording::on).digest;
  };
  const std::uint64_t first = digest_of(7);
  for (std::uint64_t seed = 20; seed < 40; ++seed) EXPECT_NE(digest_of(seed), first);
  EXPECT_EQ(digest_of(7), first);
}

TEST(sim_cluster, users_hold_locks_while_slots_move) {
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::ostringstream trace;
    play_redis(draw_of_cluster(seed), &trace);
    const std::string text = trace.str();
    const auto move = text.find("trouble: slot_moved");
    ASSERT_NE(move, text.npos) << "seed " << seed;
    held += text.find(" holds", move) != text.npos;
  }
  EXPECT_GE(held, 15);
}

}  // namespace
}  // namespace holdfast::sim
