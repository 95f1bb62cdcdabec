// Schedules of two servers that sentinels watch.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/sim/full_suite.hpp"
#include "tests/sim/redis/layouts.hpp"
#include "tests/sim/redis/play.hpp"

namespace holdfast::sim {
namespace {

constexpr const char* with_sentinels[] = {"string", "lua", "redisson", "redisson-fair",
                                          "redisson-rw"};

void expect_all_well_with_sentinels(int replicas, std::uint64_t schedules) {
  for (const char* layout : with_sentinels)
    for (std::uint64_t seed = 1; seed <= share_of(schedules); ++seed) {
      const plan p = draw_of_sentinels(seed, *layout_named(layout), replicas);
      ASSERT_EQ(play_redis(p).complaint, "") << p.text();
    }
}

TEST(sim_sentinels, keep_the_promises_while_masters_are_replaced_and_serve_all_after_it) {
  expect_all_well_with_sentinels(0, 50);
}

TEST(sim_sentinels, keep_the_promises_with_a_replica_that_confirms) {
  expect_all_well_with_sentinels(1, 25);
}

TEST(sim_sentinels, keep_the_promises_while_no_role_changes) {
  for (const char* layout : with_sentinels)
    for (std::uint64_t seed = 1; seed <= share_of(25); ++seed) {
      plan p = draw_of_sentinels(seed, *layout_named(layout));
      std::erase_if(p.faults, [](const fault& f) {
        return f.what == trouble::promoted || f.what == trouble::failed_over;
      });
      ASSERT_EQ(play_redis(p).complaint, "") << p.text();
    }
}

TEST(sim_sentinels, a_schedule_is_its_seed) {
  const auto digest_of = [](std::uint64_t seed) {
    return play_redis(draw_of_sentinels(seed, *layout_named({})), nullptr, recording::on).digest;
  };
  const std::uint64_t first = digest_of(7);
  for (std::uint64_t seed = 20; seed < 26; ++seed) EXPECT_NE(digest_of(seed), first);
  EXPECT_EQ(digest_of(7), first);
}

// In the order of the trace: a sentinel hears of a new master, and later a user gets a lock.
TEST(sim_sentinels, users_hold_locks_after_a_master_was_replaced) {
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    std::ostringstream trace;
    play_redis(draw_of_sentinels(seed, *layout_named({})), &trace);
    const std::string all = trace.str();
    const auto heard = all.find(" hears that 10.0.0.2 is the master");
    held += heard != all.npos && all.find(" holds", heard) != all.npos;
  }
  EXPECT_GE(held, 5);
}

}  // namespace
}  // namespace holdfast::sim
