// A client ends with the last object that is made from it: nothing else may keep it.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>

#include "api/client_access.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

struct client_lifetime : ::testing::Test {
  static constexpr const char* url = "memory:client_lifetime";
  const client other = client::open(url);
  std::optional<client> one = client::open(url);
  const std::weak_ptr<detail::client_impl> kept = detail::client_access::shared(*one);
};

TEST_F(client_lifetime, ends_with_its_last_lease) {
  lease held = one->mutex("job").acquire();
  one.reset();
  EXPECT_FALSE(kept.expired());
  held.release();
  EXPECT_TRUE(kept.expired());
}

TEST_F(client_lifetime, is_not_extended_by_waits_that_ended_without_a_lock) {
  const lease held = other.mutex("job").acquire();
  std::error_code ec;
  EXPECT_FALSE(one->mutex("job").try_acquire());
  EXPECT_FALSE(one->mutex("job").try_acquire_for(1ms));
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_FALSE(one->mutex("job").acquire({}, stopped.get_token(), ec));
  one.reset();
  EXPECT_TRUE(kept.expired());
}

TEST_F(client_lifetime, is_not_extended_by_attempts_of_several_locks) {
  const lease held = other.mutex("job").acquire();
  const std::string_view names[] = {"another", "job"};
  EXPECT_FALSE(one->try_acquire_all_for(names, 1ms));
  one.reset();
  EXPECT_TRUE(kept.expired());
}

}  // namespace
}  // namespace holdfast
