// The reply to each changing step is cut off after each of its bytes: the step was done, and the
// client does not know it.
#include "every_byte.hpp"
#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_reply_lost : public on_redis {};

// A client behind a proxy and one beside it.
struct two_ways {
  redis_server server;
  tcp_proxy proxy{server.port()};
  client mine = client::open(proxy.url() + quick_with("ttl=10m"));
  client other = client::open(server.url() + quick_with("ttl=10m"));

  std::string owner() { return to_text(server.command({"GET", "x"})); }
  bool is_free() { return owner() == "(nil)"; }
};

void acquires_whatever_is_cut(direction d) {
  two_ways on;
  const auto m = on.mine.mutex("x");
  std::int64_t last = 0;
  at_every_byte(on.proxy, d, [&](auto cut) {
    cut();
    std::error_code ec;
    auto held = m.acquire({}, {}, ec);
    if (held) {
      EXPECT_TRUE(held.held());
      EXPECT_GT(held.token(), last);
      last = held.token();
      expect_safe(held, on.server, "x");
      held.release(ec);
      EXPECT_FALSE(ec) << ec.message();
      EXPECT_TRUE(on.is_free()) << on.owner();
    } else {
      EXPECT_EQ(ec, outcome::unavailable) << ec.message();
    }
    EXPECT_TRUE(eventually([&] { return on.is_free(); })) << on.owner();
  });
}

TEST_F(redis_reply_lost, of_an_acquire) { acquires_whatever_is_cut(direction::to_client); }
TEST_F(redis_reply_lost, or_the_request_of_an_acquire) {
  acquires_whatever_is_cut(direction::to_server);
}

void waits_whatever_is_cut(direction d) {
  two_ways on;
  at_every_byte(on.proxy, d, [&](auto cut) {
    auto first = on.other.mutex("x").acquire();
    const auto token = first.token();
    cut();
    waiting_thread waiter(on.mine);
    EXPECT_TRUE(eventually_queued(on.server, 1));
    EXPECT_TRUE(first.held());
    first.release();
    auto& second = waiter.served();
    EXPECT_GT(second.token(), token);
    second.release();
    EXPECT_TRUE(on.is_free()) << on.owner();
  });
}

TEST_F(redis_reply_lost, of_queueing) { waits_whatever_is_cut(direction::to_client); }
TEST_F(redis_reply_lost, or_the_request_of_queueing) {
  waits_whatever_is_cut(direction::to_server);
}

void releases_whatever_is_cut(direction d) {
  two_ways on;
  at_every_byte(on.proxy, d, [&](auto cut) {
    auto held = on.mine.mutex("x").acquire();
    cut();
    std::error_code ec;
    held.release(ec);
    EXPECT_TRUE(!ec || ec == errc::outcome_unknown) << ec.message();
    EXPECT_TRUE(eventually([&] { return on.is_free(); })) << on.owner();
    // What is repeated afterwards takes nothing away from the next one.
    const auto next = on.other.mutex("x").acquire();
    on.mine.mutex("y").acquire().release();
    EXPECT_TRUE(next.held());
    expect_safe(next, on.server, "x");
  });
}

TEST_F(redis_reply_lost, of_a_release) { releases_whatever_is_cut(direction::to_client); }
TEST_F(redis_reply_lost, or_the_request_of_a_release) {
  releases_whatever_is_cut(direction::to_server);
}

// The holder's client, and that of the one who waits.
void passes_on_whatever_is_cut(two_ways& on, const client& from, const client& to) {
  at_every_byte(on.proxy, direction::to_client, [&](auto cut) {
    auto held = from.mutex("x").acquire();
    waiting_thread waiter(to);
    EXPECT_TRUE(eventually_queued(on.server, 1));
    cut();
    std::error_code ec;
    held.release(ec);
    EXPECT_TRUE(!ec || ec == errc::outcome_unknown) << ec.message();
    waiter.served().release();
    EXPECT_TRUE(eventually([&] { return on.is_free(); })) << on.owner();
  });
}

TEST_F(redis_reply_lost, of_a_release_that_hands_over) {
  two_ways on;
  passes_on_whatever_is_cut(on, on.mine, on.other);
}
TEST_F(redis_reply_lost, or_the_message_that_grants) {
  two_ways on;
  passes_on_whatever_is_cut(on, on.other, on.mine);
}

void renews_whatever_is_cut(direction d) {
  two_ways on;
  // Whoever extends a lease waits for the answer to the end of the op-timeout.
  const auto c = open_eventually(on.proxy.url() + "?op-timeout=40ms&retry-base=1ms&ttl=10m");
  at_every_byte(on.proxy, d, [&](auto cut) {
    auto held = c.mutex("x").acquire({.ttl = 1min, .renew = renewal::manual});
    const auto before = held.expires();
    cut();
    std::error_code ec;
    held.extend(10min, ec);
    EXPECT_TRUE(held.held());
    EXPECT_GE(held.expires(), before);
    expect_safe(held, on.server, "x");
    held.release(ec);  // a busy machine may not answer within the op-timeout
    EXPECT_TRUE(eventually([&] { return on.is_free(); })) << on.owner();
  });
}

TEST_F(redis_reply_lost, of_a_renewal) { renews_whatever_is_cut(direction::to_client); }
TEST_F(redis_reply_lost, or_the_request_of_a_renewal) {
  renews_whatever_is_cut(direction::to_server);
}

}  // namespace
}  // namespace holdfast::redis_test
