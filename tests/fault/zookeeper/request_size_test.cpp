// Requests that a server would not take: they are larger than its jute.maxbuffer.
#include "lock_fixture.hpp"

namespace holdfast::zookeeper_test {
namespace {

class zookeeper_request_size : public locks_at_zookeeper {};

// The server would end the connection for it, again and again.
TEST_F(zookeeper_request_size, permits_that_do_not_fit_into_a_request_are_refused) {
  client mine = client::open(url("layout=curator-semaphore"));
  semaphore s(mine, std::string(512, '/'), 2000);
  std::error_code why;
  EXPECT_FALSE(s.acquire({.permits = 1000}, why));
  EXPECT_EQ(why, errc::unsupported);
  lease held = s.acquire({.permits = 500});
  EXPECT_TRUE(held.held());
  held.release();
}

}  // namespace
}  // namespace holdfast::zookeeper_test
