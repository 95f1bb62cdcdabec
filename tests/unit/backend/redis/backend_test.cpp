// A client of one server: how it closes, and how it returns to a server that was away.
#include <gtest/gtest.h>

#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

TEST(redis_backend, closes_as_soon_as_an_open_release_is_answered) {
  on_model world;
  client c = world.open("ttl=20s&op-timeout=4s");
  lease held = c.mutex("job").acquire();
  world.stopped = {&world.model};
  std::error_code ec;
  held.release(ec);
  ASSERT_EQ(ec, errc::outcome_unknown);
  world.stopped.clear();
  const base::time_point begun = world.now();
  EXPECT_TRUE(c.close());
  EXPECT_LT(world.now() - begun, 100ms);
  EXPECT_EQ(world.command({"EXISTS", "job"}), ":0\r\n");
}

// The pauses between two attempts to connect reach two seconds.
TEST(redis_backend, is_connected_to_just_before_a_timed_wait_ends) {
  for (base::duration wait = 20s; wait < 25s; wait += 1s) {
    on_model world;
    const client c = world.open("op-timeout=2s");
    world.refuses_connections = true;
    world.model.restart(sim::kept::everything);
    world.at(wait - 251ms, [&] { world.refuses_connections = false; });
    const base::time_point begun = world.now();
    EXPECT_TRUE(c.mutex("job").try_acquire_for(wait)) << base::text_of(wait);
    EXPECT_LT(world.now() - begun, wait);
  }
}

}  // namespace
}  // namespace holdfast::redis
