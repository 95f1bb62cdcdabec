// Acknowledged writes that a server loses, and writes of holders to a resource.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>

#include "base/mutant.hpp"
#include "tests/sim/full_suite.hpp"
#include "tests/sim/redis/layouts.hpp"
#include "tests/sim/redis/play.hpp"
#ifdef HOLDFAST_WITH_ZOOKEEPER
#include "tests/sim/zookeeper/layouts.hpp"
#include "tests/sim/zookeeper/play.hpp"
#endif

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

plan with_lost_writes(plan p) {
  p.faults = {{trouble::writes_lost, p.troubled / 4, std::min<moment>(p.troubled, 2s)}};
  p.troubled *= 2;
  return p;
}

plan killed_machine(std::uint64_t seed, const char* layout) {
  return with_lost_writes(draw(seed, flavour::calm, *layout_named(layout)));
}

TEST(sim_lost_writes, of_a_killed_machine_repeat_no_number_and_leave_no_user_unserved) {
  for (const char* layout : {"string", "lua", "redisson", "redisson-fair", "redisson-rw"})
    for (std::uint64_t seed = 1; seed <= share_of(100); ++seed) {
      const plan p = killed_machine(seed, layout);
      ASSERT_EQ(play_redis(p).complaint, "") << p.text();
    }
}

TEST(sim_lost_writes, a_client_that_counts_on_from_before_is_noticed) {
  const auto is_noticed = [](std::uint64_t seed) {
    return play_redis(killed_machine(seed, "string")).complaint.starts_with("tokens");
  };
  base::plant(base::mutant::floor_kept);
  std::uint64_t seed = 1;
  while (seed <= 500 && !is_noticed(seed)) ++seed;
  base::plant(base::mutant::none);
  EXPECT_LE(seed, 500U);
}

int times(const std::string& trace, const std::string& what) {
  int n = 0;
  for (auto at = trace.find(what); at != trace.npos; at = trace.find(what, at + 1)) ++n;
  return n;
}

TEST(sim_guarded_writes, are_admitted_in_the_order_of_grants_and_refused_when_they_come_late) {
  for (const char* layout : {"string", "redisson", "redisson-rw"}) {
    int admitted = 0, refused = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      plan p = draw(seed, flavour::crashes, *layout_named(layout));
      p.writes = 2;
      std::ostringstream trace;
      ASSERT_EQ(play_redis(p, &trace).complaint, "") << p.text();
      admitted += times(trace.str(), ", and is admitted");
      refused += times(trace.str(), ", and is refused");
    }
    EXPECT_GT(admitted, refused) << layout;
    EXPECT_GT(refused, 10) << layout;
  }
}

#ifdef HOLDFAST_WITH_ZOOKEEPER
TEST(sim_lost_writes, of_an_ensemble_that_is_restored_keep_no_lock_beyond_its_session) {
  for (const char* layout :
       {"curator", "kazoo", "curator-rw", "kazoo-rw", "curator-semaphore", "node"})
    for (std::uint64_t seed = 1; seed <= share_of(60); ++seed) {
      plan p = draw(seed, flavour::calm, *zookeeper_layout_named(layout));
      if (p.servers == 1) continue;
      const moment lasts = p.ttl * 9;
      p.faults = {{trouble::writes_lost, p.troubled / 2, lasts}};
      p.troubled += lasts * 2;
      ASSERT_EQ(play_zookeeper(p).complaint, "") << p.text();
    }
}
#endif

}  // namespace
}  // namespace holdfast::sim
