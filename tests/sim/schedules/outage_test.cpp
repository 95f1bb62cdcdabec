// The table of outages in docs/internals/reliability.md: what happens to waiters while a server
// refuses.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include <holdfast/error.hpp>

#include "tests/sim/redis/layouts.hpp"
#include "tests/sim/redis/play.hpp"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* layouts[] = {"string", "lua", "redisson", "redisson-fair", "redisson-rw"};

// Four clients that want one lock again and again, and wait for it for as long as it takes.
plan waiters_and(trouble what, std::string_view layout) {
  plan p = draw(1, flavour::calm, *layout_named(layout));
  p.locks_are = kind::mutex;
  p.several = false;
  p.permits = 0;
  p.clients = 4;
  p.users = p.locks = 1;
  p.rounds = 12;
  p.ttl = 1s;
  p.op_timeout = 1s;
  p.delay_min = 100us;
  p.delay_max = 500us;
  p.slow_share = p.split_share = p.cancel_share = p.timed_share = p.attempt_share = 0;
  p.linger = p.outage_timeout = 0ms;
  p.hold_max = 50ms;
  p.think_max = 20ms;
  p.troubled = 4s;
  p.faults = {{what, 100ms, 3s}};
  return p;
}

std::string refusal_of(errc why) {
  return "was refused, " + std::to_string(static_cast<int>(why)) + ':';
}

TEST(sim_outages, a_waiter_waits_until_a_server_that_refuses_for_a_while_accepts_again) {
  for (const trouble what : {trouble::loading, trouble::readonly, trouble::disk_full,
                             trouble::memory_full, trouble::too_few_replicas, trouble::cluster_down,
                             trouble::master_down, trouble::long_script, trouble::down,
                             trouble::too_many_clients, trouble::subscribers_dropped})
    for (const char* layout : layouts) {
      std::ostringstream trace;
      EXPECT_EQ(play_redis(waiters_and(what, layout), &trace).complaint, "")
          << name_of(what) << ", " << layout;
      EXPECT_EQ(trace.str().find("was refused"), std::string::npos)
          << name_of(what) << ", " << layout;
    }
}

TEST(sim_outages, a_waiter_without_the_rights_or_the_password_is_refused) {
  for (const trouble what : {trouble::set_revoked, trouble::scripts_revoked, trouble::password_set})
    for (const char* layout : layouts) {
      plan p = waiters_and(what, layout);
      // A connection that is open stays logged in.
      if (what == trouble::password_set) p.faults.push_back({trouble::restart, 200ms, 1ms});
      std::ostringstream trace;
      EXPECT_EQ(play_redis(p, &trace).complaint, "") << name_of(what) << ", " << layout;
      EXPECT_NE(trace.str().find(refusal_of(errc::refused)), std::string::npos)
          << name_of(what) << ", " << layout;
    }
}

TEST(sim_outages, each_kind_of_refusal_of_loss_and_of_machine_trouble_occurs_in_drawn_schedules) {
  std::set<trouble> drawn;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed)
    for (const fault& f : draw(seed).faults) drawn.insert(f.what);
  constexpr int last = static_cast<int>(trouble::clock_set);
  for (int t = static_cast<int>(trouble::disk_full); t <= last; ++t)
    EXPECT_TRUE(drawn.contains(static_cast<trouble>(t))) << name_of(static_cast<trouble>(t));
}

}  // namespace
}  // namespace holdfast::sim
