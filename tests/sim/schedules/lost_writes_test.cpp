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

// A member of a lock that left it, and is one again. Each request of a claim has another id.
bool has_come_back(const std::string& trace) {
  const std::string leaves = " is no member any more\n";
  for (auto end = trace.find(leaves); end != trace.npos; end = trace.find(leaves, end + 1)) {
    const auto begin = trace.rfind(' ', end - 1) + 1;
    if (trace.find(trace.substr(begin, end - begin) + " came in", end) != trace.npos) return true;
  }
  return false;
}

TEST(sim_lost_writes, bring_back_a_holder_that_has_released) {
  // A permit comes back for the rest of a lease that was renewed for twice the ttl.
  int found = 0;
  for (std::uint64_t seed = 601; seed <= 700; ++seed) {
    std::ostringstream trace;
    const plan p = killed_machine(seed, "string");
    EXPECT_EQ(play_redis(p, &trace).complaint, "") << p.text();
    found += has_come_back(trace.str());
  }
  EXPECT_GT(found, 0);
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
