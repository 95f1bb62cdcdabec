// Machines, processes, connections and limits in schedules.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "tests/sim/full_suite.hpp"
#include "tests/sim/redis/layouts.hpp"
#include "tests/sim/redis/play.hpp"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* layouts_on_machines[] = {"string", "lua", "redisson", "redisson-fair",
                                               "redisson-rw"};

plan calm_but_for(trouble what, std::uint64_t seed, const char* layout) {
  plan p = draw(seed, flavour::calm, *layout_named(layout));
  p.faults = {{what, p.troubled / 4, p.troubled / 2}};
  return p;
}

bool shows(const std::string& trace, const std::string& what) {
  return trace.find(what) != std::string::npos;
}

// Waits that are long for the layout are not played to their end in most schedules.
TEST(sim_machines, a_process_that_begins_late_or_again_gets_its_locks) {
  for (const trouble what : {trouble::process_added, trouble::process_replaced})
    for (const char* layout : layouts_on_machines) {
      int served = 0;
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const plan p = calm_but_for(what, seed, layout);
        std::ostringstream trace;
        ASSERT_EQ(play_redis(p, &trace).complaint, "") << name_of(what) << '\n' << p.text();
        const std::string first = "user " + std::to_string(p.clients * p.users);
        EXPECT_TRUE(shows(trace.str(), first + " requests")) << name_of(what) << '\n' << p.text();
        served += shows(trace.str(), first + " holds") || shows(trace.str(), first + " has all");
      }
      EXPECT_GE(served, 10) << name_of(what) << ", " << layout;
    }
}

TEST(sim_machines, promises_are_kept_where_clocks_stand_and_connections_are_slow_or_half_greeted) {
  for (const trouble what :
       {trouble::machine_stopped, trouble::slow_connects, trouble::half_greetings})
    for (const char* layout : layouts_on_machines)
      for (std::uint64_t seed = 1; seed <= share_of(40); ++seed) {
        plan p = calm_but_for(what, seed, layout);
        if (what != trouble::machine_stopped)
          p.faults.push_back({trouble::cut, p.troubled / 3, 1ms});
        ASSERT_EQ(play_redis(p).complaint, "") << name_of(what) << '\n' << p.text();
      }
}

TEST(sim_machines, small_limits_of_scripts_and_replies_in_parts_make_other_schedules) {
  int limited = 0, in_parts = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    plan p = draw(seed, flavour::crashes);
    p.has_small_limits = false;
    const auto usual = play_redis(p, nullptr, recording::on).digest;
    p.has_small_limits = true;
    const result with_limits = play_redis(p, nullptr, recording::on);
    p.has_small_limits = false;
    p.fragment_share = 0.5;
    const result with_parts = play_redis(p, nullptr, recording::on);
    ASSERT_EQ(with_limits.complaint, "") << p.text();
    ASSERT_EQ(with_parts.complaint, "") << p.text();
    limited += with_limits.digest != usual;
    in_parts += with_parts.digest != usual;
  }
  EXPECT_GT(limited, 0);
  EXPECT_GT(in_parts, 100);
}

}  // namespace
}  // namespace holdfast::sim
