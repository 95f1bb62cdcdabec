// Which requests are releases and nothing else: they count whatever the replicas have; and which
// replies prove nothing.
#include "backend/redis/layouts/batch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "claim/recipes/retrying.hpp"
#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis {
namespace {

template <class Operation>
struct requester {
  using request = batch<requester, Operation>;
  void on_reply(request&, const value&, const reply_context&) { log += "reply "; }
  void on_script_missing(request&, const reply_context&) {}
  void on_cut(request&, const reply_context&) { log += "cut "; }
  bool keys_move() const noexcept { return false; }
  void on_redirected(request&, const redirection&, const reply_context&) {}

  bool counts_at_once(Operation to, std::size_t members) {
    request r(*this);
    r.to = to;
    r.members.resize(members);
    return r.counts_at_once();
  }
  std::string answered(Operation to, bool is_doubted, bool lanes_agree) {
    request r(*this);
    r.to = to;
    base::event_queue nobody;
    const base::time_point now{};
    with_replies("+OK\r\n", [&](const value& v) {
      r.on_reply(v, {now, now, nobody, {}, is_doubted, lanes_agree});
    });
    return std::exchange(log, {});
  }
  std::string log;
};

TEST(redis_batch, releases_count_at_once) {
  requester<operation> r;
  EXPECT_TRUE(r.counts_at_once(operation::release, 1));
  EXPECT_TRUE(r.counts_at_once(operation::release_uncontended, 1));
  EXPECT_TRUE(r.counts_at_once(operation::release_uncontended, 3));
  using claims::retrying_operation;
  EXPECT_TRUE(requester<retrying_operation>().counts_at_once(retrying_operation::release, 1));
}

TEST(redis_batch, a_release_that_may_grant_the_lock_to_the_next_claim_does_not_count_at_once) {
  EXPECT_FALSE(requester<operation>().counts_at_once(operation::release, 2));
}

// Another server may have the name by now.
TEST(redis_batch, a_reply_that_is_doubted_is_none) {
  requester<operation> r;
  for (const operation o : {operation::try_lock, operation::release, operation::renew}) {
    EXPECT_EQ(r.answered(o, false, true), "reply ") << static_cast<int>(o);
    EXPECT_EQ(r.answered(o, true, true), "cut ") << static_cast<int>(o);
  }
}

TEST(redis_batch, a_reply_to_a_renewal_is_none_until_a_later_connection_has_reached_the_server) {
  requester<operation> r;
  EXPECT_EQ(r.answered(operation::renew, false, false), "cut ");
  EXPECT_EQ(r.answered(operation::release, false, false), "reply ");
}

TEST(redis_batch, nothing_else_counts_at_once) {
  requester<operation> r;
  for (const operation o : {operation::try_lock, operation::lock_all, operation::lock_or_queue,
                            operation::resolve, operation::downgrade, operation::renew})
    EXPECT_FALSE(r.counts_at_once(o, 1)) << static_cast<int>(o);
}

}  // namespace
}  // namespace holdfast::redis
