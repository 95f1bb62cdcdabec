// The accessors of a lease that is empty, or whose client was closed.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

namespace {

using namespace std::chrono_literals;
using holdfast::client;
using holdfast::errc;
using holdfast::lease;

TEST(an_empty_lease, has_no_lock_no_owner_and_no_time) {
  const lease none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.status(), errc::not_held);
  EXPECT_TRUE(none.in_doubt());
  EXPECT_EQ(none.name(), "");
  EXPECT_EQ(none.owner(), "");
  EXPECT_EQ(none.token(), 0);
  EXPECT_EQ(none.mode(), holdfast::lock_mode::exclusive);
  EXPECT_EQ(none.permits(), 0u);
  EXPECT_EQ(none.native_handle(), -1);
  EXPECT_EQ(none.expires(), holdfast::lease_clock::time_point::min());
  EXPECT_EQ(none.remaining(), 0s);
}

TEST(a_lease_of_a_closed_client, has_no_owner_no_descriptor_and_no_revocation_any_more) {
  client c = client::open("memory:");
  const lease held = c.mutex("job").acquire();
  EXPECT_NE(held.owner(), "");
  EXPECT_TRUE(c.close());
  EXPECT_EQ(held.owner(), "");
  EXPECT_EQ(held.native_handle(), -1);
  EXPECT_EQ(held.name(), "job");
  EXPECT_FALSE(held.revocation_token().stop_requested());
}

}  // namespace
