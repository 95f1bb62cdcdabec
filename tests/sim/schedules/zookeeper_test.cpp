#ifdef HOLDFAST_WITH_ZOOKEEPER
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/sim/full_suite.hpp"
#include "tests/sim/zookeeper/layouts.hpp"
#include "tests/sim/zookeeper/play.hpp"

namespace holdfast::sim {

namespace {

void expect_all_well_on_zookeeper(std::uint64_t first, std::uint64_t count, flavour how) {
  const zookeeper_layout& layout = *zookeeper_layout_named("curator");
  for (std::uint64_t seed = first; seed < first + share_of(count); ++seed) {
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
  expect_all_well_on_zookeeper(1, 1500, flavour::any);
}

struct sim_zookeeper_layout : testing::TestWithParam<const char*> {};

TEST_P(sim_zookeeper_layout, keeps_its_promises_without_trouble_with_crashes_and_in_any_trouble) {
  const zookeeper_layout& layout = *zookeeper_layout_named(GetParam());
  const auto expect_all_well = [&](std::uint64_t count, flavour how) {
    for (std::uint64_t seed = 1; seed <= share_of(count); ++seed) {
      const plan p = draw(seed, how, layout);
      ASSERT_EQ(play_zookeeper(p).complaint, "") << p.text();
    }
  };
  expect_all_well(50, flavour::calm);
  expect_all_well(50, flavour::crashes);
  expect_all_well(250, flavour::any);
}

INSTANTIATE_TEST_SUITE_P(played, sim_zookeeper_layout,
                         testing::Values("kazoo", "curator-rw", "kazoo-rw", "curator-semaphore",
                                         "node"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(sim_zookeeper, all_promises_are_kept_where_they_once_were_not) {
  struct broken {
    const char* layout;
    std::uint64_t seed;
  };
  for (const broken& b : {
           // A waiter queued again over the connection of the session that was lost.
           broken{"curator", 13},
           broken{"curator", 349},
           broken{"curator", 528},
           broken{"curator", 1823},
           // The next session executed the downgrade of a claim that had been lost.
           broken{"curator-rw", 1752},
           broken{"kazoo-rw", 41},
           // A writer that became a reader was told that its node was gone.
           broken{"curator-rw", 355},
           broken{"kazoo-rw", 1061},
           // The holder that was shown had left, and the next one was not looked for.
           broken{"curator", 60096},
           // The next session was opened while the server of the one before was stopped.
           broken{"curator", 1265},
       })
    EXPECT_EQ(play_zookeeper(draw(b.seed, *zookeeper_layout_named(b.layout))).complaint, "")
        << b.layout << ", seed " << b.seed;
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
