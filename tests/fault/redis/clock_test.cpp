// The server's clock is stepped while locks are held.
#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_clock : public on_redis {};

struct stepped {
  redis_server server{redis_options{.clock_shim = true}};
  client mine = client::open(server.url() + quick_with("ttl=6s"));
  client other = client::open(server.url() + quick);
};

TEST_F(redis_clock, an_hour_ahead_ends_every_lease_and_the_holder_is_notified) {
  stepped on;
  auto held = on.mine.mutex("x").acquire();
  on.server.set_clock(1h);
  auto next = on.other.mutex("x").acquire();
  EXPECT_GT(next.token(), held.token());
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  EXPECT_FALSE(held.held());
  std::error_code ec;
  held.release(ec);
  EXPECT_EQ(ec, outcome::lost);
  EXPECT_TRUE(next.held());
}

TEST_F(redis_clock, an_hour_back_lets_nobody_else_in) {
  stepped on;
  auto held = on.mine.mutex("x").acquire();
  on.server.set_clock(-1h);
  const auto t = told_by([&] { EXPECT_FALSE(on.other.mutex("x").try_acquire_for(7s)); });
  EXPECT_TRUE(!t.code || t.text.find("clock") != std::string::npos) << t.text;
  EXPECT_TRUE(held.held());
  expect_safe(held, on.server, "x");
  held.release();
  EXPECT_EQ(on.server.command({"EXISTS", "x"}).number, 0);
}

TEST_F(redis_clock, after_a_step_back_tokens_grow_or_nothing_is_granted) {
  stepped on;
  std::int64_t last = 0;
  const auto grows = [&](const client& c) {
    std::error_code ec;
    if (const auto held = c.mutex("x").acquire({}, {}, ec)) {
      EXPECT_GT(held.token(), last);
      last = held.token();
    }
    return ec;
  };
  EXPECT_FALSE(grows(on.mine));
  on.server.set_clock(-1h);
  grows(on.mine);
  grows(on.other);
  const auto t = told_by([&] { (void)client::open(on.server.url() + quick).mutex("x").acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable);
  EXPECT_NE(t.text.find("clock"), std::string::npos) << t.text;
  on.server.set_clock(0ms);
  EXPECT_FALSE(grows(on.mine));
  EXPECT_FALSE(grows(on.other));
}

TEST_F(redis_clock, a_holder_s_deadline_moves_with_its_own_clock_alone) {
  stepped on;
  auto held = on.mine.mutex("x").acquire({.renew = renewal::manual});
  const auto deadline = held.expires();
  on.server.set_clock(-1h);
  EXPECT_EQ(held.expires(), deadline);
  EXPECT_TRUE(eventually([&] { return lease_clock::now() >= deadline; }));
  EXPECT_FALSE(held.held());
}

}  // namespace
}  // namespace holdfast::redis_test
