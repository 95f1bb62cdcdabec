// Notes of holders that were killed or lost the lock do not accumulate at the server.
#include <string>

#include "claims.hpp"

namespace holdfast::redis_test {
namespace {

class redis_notes : public on_redis {
 protected:
  static constexpr const char* notes = "holdfast:{x}:x:m";
  static std::string lost_id(int n) {
    const std::string digits = std::to_string(n);
    return "hf1:00000000000000aa:" + std::string(32 - digits.size(), '0') + digits;
  }
  static long long kept(redis_server& server) { return server.command({"HLEN", notes}).number; }
  // It is granted, its note is at the server, and the lock goes as at the end of its lease.
  static void hold_and_lose(test_claim& w, redis_server& server) {
    ASSERT_TRUE(w.get(alone()));
    ASSERT_TRUE(w.renew(usual_ttl));
    server.command({"DEL", "x"});
  }
};

// As 25 holders leave them that noted who they are, and were killed.
TEST_F(redis_notes, on_lost_holders_go_when_later_ones_note_who_they_are) {
  redis_server server;
  for (int i = 0; i < 25; ++i) server.command({"HSET", notes, lost_id(i), "host|1|1|"});
  peer p(server.url());
  for (long long before = 25; before > 0;) {
    test_claim w(p, "x");
    ASSERT_TRUE(w.get(alone()));
    ASSERT_TRUE(w.renew(usual_ttl));
    const long long left = kept(server) - 1;  // its own is there
    EXPECT_GE(left, before - 4) << "one grant is not to do it all";
    ASSERT_LT(left, before);
    before = left;
    server.command({"DEL", "x"});
  }
  test_claim last(p, "x");  // a release with nobody in line leaves nothing
  ASSERT_TRUE(last.get(alone()));
  ASSERT_TRUE(last.renew(usual_ttl));
  ASSERT_TRUE(last.release());
  EXPECT_EQ(kept(server), 0);
}

TEST_F(redis_notes, on_waiters_and_holders_stay) {
  redis_server server;
  peer p(server.url());
  test_claim first(p, "x"), next(p, "x");
  ASSERT_TRUE(first.get(alone()));
  next.ask(alone());
  ASSERT_TRUE(eventually_queued(server, 1));
  const std::string waits = server.command({"ZRANGE", "holdfast:{x}:x:q", "0", "0"}).items[0].text;
  server.command({"HSET", notes, waits, "1000"});
  server.command({"HSET", notes, lost_id(1), "host|1|1|"});
  ASSERT_TRUE(first.renew(usual_ttl));
  EXPECT_EQ(server.command({"HEXISTS", notes, waits}).number, 1);
  EXPECT_EQ(server.command({"HEXISTS", notes, first.owner()}).number, 1);
  EXPECT_EQ(server.command({"HEXISTS", notes, lost_id(1)}).number, 0);
  ASSERT_TRUE(first.release());
  ASSERT_TRUE(next.heard.hears('g'));
  ASSERT_TRUE(next.is_granted());
}

// A look at a free lock, whose holder was killed, grants it and tidies.
TEST_F(redis_notes, on_lost_holders_go_with_the_grant_to_a_waiter) {
  redis_server server;
  peer p(server.url());
  test_claim first(p, "x"), next(p, "x");
  ASSERT_TRUE(first.get(alone(5s)));
  next.ask(alone());
  ASSERT_TRUE(eventually_queued(server, 1));
  for (int i = 0; i < 3; ++i) server.command({"HSET", notes, lost_id(i), "host|1|1|"});
  ASSERT_TRUE(next.heard.hears('g')) << "the first lease has ended";
  ASSERT_TRUE(next.is_granted());
  EXPECT_EQ(kept(server), 0);
}

TEST_F(redis_notes, of_a_holder_are_removed_by_a_release_that_arrives_after_the_lease_has_ended) {
  redis_server server;
  peer p(server.url());
  test_claim late(p, "x");
  hold_and_lose(late, server);
  EXPECT_FALSE(late.release());
  EXPECT_EQ(kept(server), 0);
}

TEST_F(redis_notes, of_a_holder_that_noticed_its_loss_are_removed_with_its_release) {
  redis_server server;
  peer p(server.url());
  test_claim lost(p, "x");
  hold_and_lose(lost, server);
  lost.heard.forget();
  ASSERT_FALSE(lost.renew(usual_ttl));
  EXPECT_EQ(kept(server), 1);
  EXPECT_FALSE(lost.release());
  EXPECT_TRUE(eventually([&] { return kept(server) == 0; }));
}

}  // namespace
}  // namespace holdfast::redis_test
