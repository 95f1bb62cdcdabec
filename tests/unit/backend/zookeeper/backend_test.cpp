// A client of an ensemble on a thread that must not block.
#include "backend/zookeeper/backend.hpp"

#include <gtest/gtest.h>

#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"
#include "tests/unit/in_a_child.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace std::chrono_literals;

class zookeeper_backend : public testing::Test {
 protected:
  zookeeper_backend() {
    b.connect({});
    net.events->on_open();
    net.user->flush();
    net.events->on_bytes(bytes_of(connected(30'000, layout_fixture::session)));
    net.written.clear();
  }
  void lose() { net.events->on_closed({errc::unavailable, "reset"}); }

  played_network net;
  zookeeper::backend b{net, settings_of(net, "zookeeper://h")};
};

TEST_F(zookeeper_backend, that_is_told_to_retry_connects_without_a_pause) {
  lose();
  lose();
  EXPECT_FALSE(net.events) << "the only server has failed again";
  net.time.advance(0ms);
  EXPECT_FALSE(net.events);
  b.retry_now();
  net.time.advance(0ms);
  EXPECT_TRUE(net.events);
}

TEST_F(zookeeper_backend, is_not_closed_in_the_child_of_a_fork) {
  EXPECT_TRUE(unit_tests::is_true_in_a_child([&] {
    b.forked();
    return !b.close(net.now() + 1s) && net.written.empty();
  }));
}

TEST_F(zookeeper_backend, sends_the_end_of_its_session_before_close_returns) {
  EXPECT_TRUE(b.close(net.now() + 1s));
  EXPECT_TRUE(hex_of(net.written).ends_with("fffffff5"));
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
