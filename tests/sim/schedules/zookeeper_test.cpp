#ifdef HOLDFAST_WITH_ZOOKEEPER
#include <gtest/gtest.h>

#include "tests/sim/zookeeper/layouts.hpp"
#include "tests/sim/zookeeper/play.hpp"

namespace holdfast::sim {

namespace {

void expect_all_well_on_zookeeper(std::uint64_t first, std::uint64_t count, flavour how) {
  const zookeeper_layout& layout = *zookeeper_layout_named("curator");
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const plan p = draw(seed, how, layout);
    ASSERT_EQ(play_zookeeper(p).complaint, "") << p.text();
  }
}

TEST(sim_zookeeper, without_trouble_all_promises_are_kept) {
  expect_all_well_on_zookeeper(1, 500, flavour::calm);
}

TEST(sim_zookeeper, all_promises_are_kept_when_clients_crash) {
  expect_all_well_on_zookeeper(1, 1000, flavour::crashes);
}

TEST(sim_zookeeper, all_promises_are_kept_in_any_trouble_and_all_are_served_after_it) {
  expect_all_well_on_zookeeper(1, 3000, flavour::any);
}

// A waiter queued again over the connection of the session that was lost.
TEST(sim_zookeeper, all_promises_are_kept_where_they_once_were_not) {
  const zookeeper_layout& layout = *zookeeper_layout_named("curator");
  for (const std::uint64_t seed : {13, 349, 528, 1823})
    EXPECT_EQ(play_zookeeper(draw(seed, layout)).complaint, "") << "seed " << seed;
}

TEST(sim_zookeeper, a_schedule_is_its_seed) {
  const zookeeper_layout& layout = *zookeeper_layout_named("curator");
  const auto digest_of = [&](std::uint64_t seed) {
    return play_zookeeper(draw(seed, layout), nullptr, recording::on).digest;
  };
  const std::uint64_t first = digest_of(7);
  for (std::uint64_t seed = 20; seed < 40; ++seed) EXPECT_NE(digest_of(seed), first);
  EXPECT_EQ(digest_of(7), first);
}

}  // namespace
}  // namespace holdfast::sim
#endif
