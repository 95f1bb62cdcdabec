// Acknowledged writes that a server loses, and writes of holders to a resource.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>

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

TEST(sim_lost_writes, bring_back_a_holder_that_has_released) {
  // A permit comes back for the rest of a lease that was renewed for twice the ttl.
  std::ostringstream trace;
  const plan p = killed_machine(654, "string");
  EXPECT_EQ(play_redis(p, &trace).complaint, "") << p.text();
  const std::string id = "hfp:6ba3e3557fe43e2b:941f1cc700000001936f54e37097fc4b";
  const std::string all = trace.str();
  const auto left = all.find(id + " is no member any more");
  ASSERT_NE(left, all.npos);
  EXPECT_NE(all.find(id + " came in", left), all.npos);
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
    EXPECT_GT(admitted, 10) << layout;
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
