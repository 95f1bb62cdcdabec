// Waiters of the layouts that retry, in an outage: the server is tried once more shortly before the
// outage-timeout ends the wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr base::duration outage_timeout = 20s,
                         last_attempt_lead = 250ms;  // of an op-timeout of two seconds

class retrying_outage : public testing::TestWithParam<const char*> {
 protected:
  void be_lost() {
    world.refuses_connections = true;
    world.model.restart(sim::kept::everything);
    begin();
  }
  void begin() { begun_ = world.now(); }
  std::error_code waited() {
    std::error_code ec;
    if (has_permits()) {
      (void)c.semaphore("job", 1).acquire({}, {}, ec);
    } else {
      (void)c.mutex("job").acquire({}, {}, ec);
    }
    return ec;
  }
  std::error_code tried() {
    std::error_code ec;
    if (has_permits()) {
      (void)c.semaphore("job", 1).try_acquire(ec);
    } else {
      (void)c.mutex("job").try_acquire(ec);
    }
    return ec;
  }
  base::duration so_far() { return world.now() - begun_; }

  on_model world;
  client c = world.open("op-timeout=2s&outage-timeout=20s&layout=" + std::string(GetParam()));

 private:
  static bool has_permits() { return GetParam() == std::string("redisson-permits"); }

  base::time_point begun_{};
};

TEST_P(retrying_outage, that_ends_just_before_the_last_attempt_ends_no_wait) {
  be_lost();
  world.at(outage_timeout - last_attempt_lead - 1ms, [&] { world.refuses_connections = false; });
  EXPECT_EQ(waited(), std::error_code{});
  EXPECT_LT(so_far(), outage_timeout);
}

TEST_P(retrying_outage, that_lasts_ends_the_wait_after_a_last_attempt) {
  be_lost();
  EXPECT_EQ(waited(), errc::unavailable);
  EXPECT_GE(so_far(), outage_timeout);
  EXPECT_LT(so_far(), outage_timeout + 100ms);
  const base::time_point end = world.now();
  EXPECT_TRUE(std::ranges::any_of(world.connection_attempts, [&](base::time_point t) {
    return t < end && t >= end - last_attempt_lead - 10ms;
  }));
}

TEST_P(retrying_outage, ends_a_single_attempt_as_soon_as_nothing_can_be_connected_to) {
  be_lost();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(tried(), errc::unavailable);
    EXPECT_LT(so_far(), 500ms);
    world.pass(10s);  // the pauses between the attempts to connect are longer by then
    begin();
  }
}

TEST_P(retrying_outage, of_a_moment_ends_no_single_attempt) {
  bool is_cut = false;
  world.changed = [&](std::string bytes) {
    return std::exchange(is_cut, true) ? bytes : std::string("no reply\r\n");
  };
  EXPECT_EQ(tried(), std::error_code{});
  world.changed = nullptr;
}

INSTANTIATE_TEST_SUITE_P(of, retrying_outage,
                         testing::Values("lua", "redisson", "redisson-spin", "redisson-fair",
                                         "redisson-rw", "redisson-permits"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace holdfast::redis
