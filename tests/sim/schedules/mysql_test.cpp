#ifdef HOLDFAST_WITH_MYSQL
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/sim/full_suite.hpp"
#include "tests/sim/machine/explorer.hpp"
#include "tests/sim/mysql/play.hpp"
#include "tests/sim/mysql/strategies.hpp"

namespace holdfast::sim {
namespace {

struct sim_mysql : testing::TestWithParam<const char*> {
  void expect_all_well(std::uint64_t schedules, flavour how) const {
    const played_strategy& strategy = *strategy_named(GetParam());
    const bool is_long = strategy.connections == 1;  // with more users and locks
    for (std::uint64_t seed = 1; seed <= share_of(is_long ? schedules / 4 : schedules); ++seed) {
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

TEST(sim_mysql_rows, a_release_of_permits_may_wait_for_the_requests_of_all_other_clients) {
  EXPECT_EQ(play_mysql(draw(75939, *strategy_named("row"))).complaint, "");
}

// A renewal that was sent before the release arrives after it, at a server that has lost it.
TEST(sim_mysql_rows, a_release_that_the_server_has_lost_leaves_the_lock_for_one_lease_at_most) {
  for (const std::uint64_t seed : {70064, 74254})
    EXPECT_EQ(play_mysql(draw(seed, *strategy_named("row"))).complaint, "") << seed;
}

TEST(sim_mysql_rows, a_lease_that_is_renewed_after_its_end_was_nobodys_meanwhile) {
  EXPECT_EQ(play_mysql(draw(703707, *strategy_named("row"))).complaint, "");
}

// A restart of the server ends all of them. They are one failure, and the pause after it is short.
TEST(sim_mysql_records, a_client_that_loses_many_connections_at_once_connects_again_soon) {
  EXPECT_EQ(play_mysql(draw(31920, *strategy_named("insert"))).complaint, "");
  for (const std::uint64_t seed : {70161, 70293})
    EXPECT_EQ(play_mysql(draw(seed, *strategy_named("insert-order"))).complaint, "") << seed;
}

TEST(sim_mysql_records, attempts_of_callers_do_not_keep_a_client_away_from_a_server_that_is_back) {
  for (const char* const strategy : {"insert", "insert-order"})
    EXPECT_EQ(play_mysql(draw(81005324, *strategy_named(strategy))).complaint, "") << strategy;
}

// The last part of a release is late, and is lost with the connection of a client that is closed
// meanwhile. Its close() reports that.
TEST(sim_mysql_records, a_client_in_trouble_that_reports_it_may_leave_an_expired_record) {
  EXPECT_EQ(play_mysql(draw(2237, *strategy_named("insert"))).complaint, "");
}

// The seed 7 gives the same schedule again, and those from 20 to before `end` give others.
template <class Draw>
void expect_a_schedule_is_its_seed(Draw draw, std::uint64_t end) {
  const auto digest_of = [&](std::uint64_t seed) {
    return play_mysql(draw(seed), nullptr, recording::on).digest;
  };
  const std::uint64_t first = digest_of(7);
  for (std::uint64_t seed = 20; seed < end; ++seed) EXPECT_NE(digest_of(seed), first);
  EXPECT_EQ(digest_of(7), first);
}

TEST_P(sim_mysql, a_schedule_is_its_seed) {
  const played_strategy& strategy = *strategy_named(GetParam());
  expect_a_schedule_is_its_seed([&](std::uint64_t seed) { return draw(seed, strategy); }, 40);
}

// Also of statements that wait for nothing, as in a deadlock on an index.
TEST_P(sim_mysql, all_promises_are_kept_when_statements_are_victims_of_deadlocks) {
  const played_strategy& strategy = *strategy_named(GetParam());
  for (std::uint64_t seed = 1; seed <= share_of(100); ++seed) {
    plan p = draw(seed, flavour::calm, strategy);
    p.deadlock_share = 0.02;
    ASSERT_EQ(play_mysql(p).complaint, "") << p.text();
  }
}

struct sim_mysql_of_two : testing::TestWithParam<const char*> {
  template <class Change>
  void expect_all_well(std::uint64_t schedules, Change change) const {
    const played_strategy& strategy = *strategy_named(GetParam());
    for (std::uint64_t seed = 1; seed <= share_of(schedules); ++seed) {
      plan p = draw_of_two(seed, strategy);
      change(p);
      ASSERT_EQ(play_mysql(p).complaint, "") << p.text();
    }
  }
};

TEST_P(sim_mysql_of_two, keeps_its_promises_while_no_role_changes) {
  expect_all_well(50, [](plan& p) {
    p.faults.clear();
    p.deadlock_share = 0;
  });
}

// Locks that are rows are all kept.
TEST_P(sim_mysql_of_two, keeps_its_promises_when_the_promoted_replica_has_all_writes) {
  expect_all_well(50, [](plan& p) {
    for (fault& f : p.faults) f.lost = {};
  });
}

TEST_P(sim_mysql_of_two, keeps_its_promises_when_a_replica_is_promoted) {
  expect_all_well(100, [](plan&) {});
}

TEST_P(sim_mysql_of_two, is_excused_for_a_quarter_of_the_time_at_most) {
  const played_strategy& strategy = *strategy_named(GetParam());
  progress all;
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    all.add(play_mysql(draw_of_two(seed, strategy)));
  EXPECT_LE(all.excused, 0.25 * static_cast<double>(all.lasted.count()));
}

TEST_P(sim_mysql_of_two, a_schedule_is_its_seed) {
  const played_strategy& strategy = *strategy_named(GetParam());
  expect_a_schedule_is_its_seed([&](std::uint64_t seed) { return draw_of_two(seed, strategy); },
                                30);
}

std::string title_of_strategy(const testing::TestParamInfo<const char*>& of) {
  std::string name = of.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

const auto all_played_strategies =
    testing::Values("row", "row-shared", "named", "insert", "insert-order", "for-update");

INSTANTIATE_TEST_SUITE_P(played, sim_mysql, all_played_strategies, title_of_strategy);
INSTANTIATE_TEST_SUITE_P(played, sim_mysql_of_two, all_played_strategies, title_of_strategy);

}  // namespace
}  // namespace holdfast::sim
#endif
