// Several locks that are acquired at once, as holdfast/asio.hpp does it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <holdfast/detail/async.hpp>
#include <holdfast/holdfast.hpp>

#include <memory>

#include "api/client_access.hpp"

namespace holdfast {
namespace {

TEST(async_multi_acquire, names_each_client_once_whose_requests_have_to_be_sent) {
  const client one = client::open("memory:"), other = client::open("memory:");
  auto a = one.mutex("a"), b = other.mutex("b"), c = one.mutex("c");
  const multi_mutex all(a, b, c);
  const auto taking = detail::taking_of(all, {{}, nullptr});
  EXPECT_THAT(detail::clients_of(*taking),
              testing::UnorderedElementsAre(detail::client_access::shared(one),
                                            detail::client_access::shared(other)));
}

TEST(async_multi_acquire, keeps_its_clients_as_long_as_it_lives_itself) {
  auto one = std::make_unique<client>(client::open("memory:"));
  const std::weak_ptr<detail::client_impl> kept = detail::client_access::shared(*one);
  std::shared_ptr<detail::async_multi_acquire> taking;
  {
    auto a = one->mutex("a"), b = one->mutex("b");
    taking = detail::taking_of(multi_mutex(a, b), {{}, nullptr});
  }
  one.reset();
  EXPECT_FALSE(kept.expired());
  taking.reset();
  EXPECT_TRUE(kept.expired());
}

}  // namespace
}  // namespace holdfast
