// The first renewal of a lease: what it writes at the server, and what it proves.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr const char* notes_of_job = "holdfast:{job}:job:m";

struct redis_first_renewal : testing::Test {
  on_model world;
  client c = world.open("ttl=10s");
};

TEST_F(redis_first_renewal, at_another_server_leaves_no_note_after_the_release) {
  lease held = c.mutex("job").acquire();
  world.model.restart(sim::kept::everything);
  world.pass(100ms);
  ASSERT_EQ(world.command({"HLEN", notes_of_job}), ":1\r\n") << "the lease is confirmed at once";
  held.release();
  world.pass(100ms);
  EXPECT_EQ(world.command({"EXISTS", "job"}), ":0\r\n");
  EXPECT_EQ(world.command({"HLEN", notes_of_job}), ":0\r\n");
}

// The hypervisor stopped the machine while it held nothing.
TEST_F(redis_first_renewal, does_not_end_a_lease_that_is_younger_than_a_leap_of_the_server_clock) {
  lease before = c.mutex("before").acquire();
  world.pass(4s);
  before.release();
  world.time.set_wall(world.wall() + 30s);
  lease after = c.mutex("after").acquire();
  world.pass(4s);
  EXPECT_TRUE(after.held());
  EXPECT_EQ(world.command({"HLEN", "holdfast:{after}:after:m"}), ":1\r\n") << "it was renewed";
}

TEST_F(redis_first_renewal, ends_a_lease_that_was_renewed_before_a_leap_of_the_server_clock) {
  lease held = c.mutex("job").acquire();
  world.pass(4s);
  ASSERT_TRUE(held.held());
  world.time.set_wall(world.wall() + 5s);
  world.pass(4s);
  EXPECT_FALSE(held.held());
}

}  // namespace
}  // namespace holdfast::redis
