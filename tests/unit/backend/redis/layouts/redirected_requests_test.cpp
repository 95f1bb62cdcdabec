// When requests are sent again that a server has refused because their keys are moving.
#include <vector>

#include "backend/redis/layouts/layout_node.hpp"
#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::redis {
namespace {

struct one_claim {
  struct recipe_of_claim {
    std::uint32_t epoch() const { return number; }
    std::uint32_t number = 1;
  };
  claims::claim_handle place() const { return {}; }
  const recipe_of_claim& recipe() const { return now; }
  recipe_of_claim now;
};

struct table_of_one {
  one_claim* at(claims::claim_handle) const { return there; }
  one_claim* there;
};

class redis_redirected_requests : public two_transports {
 protected:
  void add(int what) {
    const std::lock_guard guard(reactor.mutex());
    all.add(claim, what, now);
  }
  // The requests that are sent by now, in their order.
  std::vector<int> sent() {
    std::vector<int> out;
    const std::lock_guard guard(reactor.mutex());
    all.tick(table_of_one{&claim}, now, [&](one_claim&, int what) { out.push_back(what); });
    return out;
  }
  // The pause of a request that is added now.
  base::duration pause() {
    const time_point begun = now;
    for (add(1); sent().empty(); now += 1ms)
      if (now - begun > 1s) return base::duration::max();
    return now - begun;
  }
  void expect_pause(base::duration d) {
    const base::duration seen = pause();
    EXPECT_GE(seen, d * 3 / 4);
    EXPECT_LE(seen, d * 5 / 4 + 1ms);
  }

  one_claim claim;
  redirected_requests<one_claim, int> all{one};
  time_point now = net.now();
};

TEST_F(redis_redirected_requests, wait_twice_as_long_each_time_up_to_a_limit) {
  for (const auto d : {20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 640ms}) expect_pause(d);
}

TEST_F(redis_redirected_requests, do_not_wait_long_when_the_last_one_was_long_ago) {
  for (const auto d : {20ms, 40ms, 80ms}) expect_pause(d);
  now += 1900ms;
  expect_pause(160ms);
  now += 2001ms;
  expect_pause(20ms);
}

TEST_F(redis_redirected_requests, are_sent_together_in_their_order) {
  add(1);
  add(2);
  EXPECT_TRUE(sent().empty());
  now += 25ms;
  EXPECT_EQ(sent(), (std::vector{1, 2}));
  EXPECT_TRUE(sent().empty());
}

TEST_F(redis_redirected_requests, are_dropped_if_their_claim_has_given_them_up) {
  add(1);
  ++claim.now.number;
  add(2);
  now += 25ms;
  EXPECT_EQ(sent(), std::vector{2});
}

TEST_F(redis_redirected_requests, are_sent_at_once_when_keys_have_moved) {
  for (const auto d : {20ms, 40ms}) expect_pause(d);
  add(1);
  all.send_now();
  EXPECT_EQ(sent(), std::vector{1});
  expect_pause(20ms);
}

TEST_F(redis_redirected_requests, are_none_until_one_is_added) {
  all.send_now();
  EXPECT_TRUE(sent().empty());
  expect_pause(20ms);
}

}  // namespace
}  // namespace holdfast::redis
