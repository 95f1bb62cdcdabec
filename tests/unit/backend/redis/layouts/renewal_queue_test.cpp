// The leases of a server that are due for renewal, and how many go out in one request.
#include <numeric>
#include <vector>

#include "backend/redis/layouts/layout_node.hpp"
#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::redis {
namespace {

struct due_claim {
  std::uint32_t number = 0;
  bool renewing = false;
  claims::claim_handle place() const { return {number, 0}; }
};

struct due_claims {
  due_claim* at(claims::claim_handle h) const { return all[h.index]; }
  std::vector<due_claim*> all;
};

class redis_renewal_queue : public two_transports {
 protected:
  redis_renewal_queue() {
    for (due_claim& c : claims) {
      c.number = static_cast<std::uint32_t>(table.all.size());
      table.all.push_back(&c);
    }
  }
  void add_all() {
    const std::lock_guard guard(reactor.mutex());
    for (due_claim& c : claims) due.add(c);
  }
  // The claims of one request; those before `first_held` are not held any more.
  std::vector<std::uint32_t> taken(std::uint32_t first_held = 0) {
    std::vector<std::uint32_t> out;
    due.take_batch(table, [&](const due_claim& c) {
      const bool is_held = c.number >= first_held;
      if (is_held) out.push_back(c.number);
      return is_held;
    });
    return out;
  }
  static std::vector<std::uint32_t> from_to(std::uint32_t first, std::uint32_t end) {
    std::vector<std::uint32_t> out(end - first);
    std::iota(out.begin(), out.end(), first);
    return out;
  }

  std::vector<due_claim> claims{300};
  due_claims table;
  renewal_queue due{one};
};

TEST_F(redis_renewal_queue, is_taken_in_requests_of_a_limited_number_of_claims) {
  add_all();
  EXPECT_EQ(taken(), from_to(0, 256));
  EXPECT_EQ(taken(), from_to(256, 300));
  EXPECT_EQ(taken(), from_to(0, 0));
}

TEST_F(redis_renewal_queue, fills_a_request_with_the_claims_that_are_still_held) {
  add_all();
  EXPECT_EQ(taken(20), from_to(20, 276));
}

TEST_F(redis_renewal_queue, has_a_limited_number_of_requests_in_flight) {
  add_all();
  for (int i = 0; i < 16; ++i) {
    EXPECT_TRUE(due.may_write());
    due.on_sent();
  }
  EXPECT_FALSE(due.may_write());
  const std::lock_guard guard(reactor.mutex());
  due.on_end();
  EXPECT_TRUE(due.may_write());
}

TEST_F(redis_renewal_queue, has_a_claim_once) {
  add_all();
  add_all();
  EXPECT_EQ(taken().size() + taken().size() + taken().size(), 300u);
  add_all();
  EXPECT_EQ(taken(), from_to(0, 256));
}

TEST_F(redis_renewal_queue, drops_claims_that_have_ended_or_moved) {
  add_all();
  for (std::uint32_t i = 0; i < 10; ++i) table.all[i] = nullptr;
  for (std::uint32_t i = 10; i < 20; ++i) due.forget(claims[i]);
  EXPECT_EQ(taken(), from_to(20, 276));
}

TEST_F(redis_renewal_queue, goes_on_with_the_commands_when_a_request_has_been_answered) {
  open(one);
  greet(0);
  open(one, lane::renewals);
  net.close(1);
  add_all();
  due.on_sent();
  net.time.advance(0s);
  a.tick_at = net.now();
  a.log.clear();
  net.time.advance(0s);
  EXPECT_EQ(a.take_log(), "");
  {
    const std::lock_guard guard(reactor.mutex());
    due.on_end();
  }
  net.time.advance(0s);
  EXPECT_EQ(a.take_log(), "tick ");
}

TEST_F(redis_renewal_queue, has_no_claim_whose_lock_has_moved_to_another_server) {
  renewal_queue elsewhere{two};
  add_all();
  {
    const std::lock_guard guard(reactor.mutex());
    due.forget(claims[0]);
    elsewhere.add(claims[0]);
  }
  EXPECT_EQ(taken().front(), 1u);
  EXPECT_TRUE(claims[0].renewing);
}

}  // namespace
}  // namespace holdfast::redis
