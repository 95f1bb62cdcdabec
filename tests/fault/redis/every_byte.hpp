// The connection is cut after each byte of an exchange in turn.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::redis_test {

// Calls `once` with 0, 1, 2 ... until a cut after so many bytes does not happen in it any more.
// `once` is given what cuts the next connection that carries so many.
template <class Once>
void at_every_byte(testkit::tcp_proxy& proxy, testkit::direction d, Once once) {
  constexpr std::uint64_t longest = 2000;
  std::uint64_t n = 0;
  for (; n < longest; ++n) {
    SCOPED_TRACE("cut after " + std::to_string(n) + " bytes");
    once([&] { proxy.cut_after(d, n); });
    if (testing::Test::HasFailure()) return;
    if (!proxy.was_cut()) break;
  }
  EXPECT_GT(n, 3u) << "nothing was cut";
  EXPECT_LT(n, longest);
}

}  // namespace holdfast::redis_test
