// A heartbeat reports new deadlines and doubts while other threads acquire and release: for the
// thread sanitizer, with the real clock.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <string_view>
#include <thread>

#include "testkit/fake_store.hpp"

namespace holdfast {
namespace {

TEST(heartbeat, moves_deadlines_while_locks_are_granted_shared_and_released) {
  const client c = testkit::fake_store::open(seam::lifetime::session, base::system_environment());
  auto& store = testkit::fake_store::of(c);
  std::atomic<int> working = 3;
  const auto works_on = [&](std::string_view name) {
    shared_mutex m(c, name);
    for (int i = 0; i < 500; ++i) {
      const lease held = i % 2 == 0 ? m.acquire() : m.acquire_shared();
      EXPECT_TRUE(held.held());
      const auto expires = held.expires();  // first: the session may be confirmed meanwhile
      EXPECT_LE(expires, store.deadline());
      EXPECT_GT(expires, lease_clock::now());
    }
    --working;
  };
  std::thread one(works_on, "x"), two(works_on, "x"), three(works_on, "y");
  for (unsigned beats = 0; working > 0; ++beats) {
    if (beats % 8 == 7) store.doubt();
    store.confirm();
  }
  one.join();
  two.join();
  three.join();
  EXPECT_EQ(store.renewals(), 0);
}

}  // namespace
}  // namespace holdfast
