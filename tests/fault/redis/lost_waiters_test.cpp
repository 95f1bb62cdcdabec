// A holder and the next waiter are lost together, killed or stopped: whoever waits behind them is
// served when their leases have ended. The simulator's judge demands the exact bound.
#include <optional>
#include <string>

#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

enum class wants { lock, share, permit };
enum class lost { killed, stopped };
enum class last { waits_already, comes_after, comes_for_a_while };

struct lost_case {
  const char* name;
  wants holder = wants::lock, next = wants::lock, third = wants::lock;
  lost holder_is = lost::killed, next_is = lost::killed;
  bool next_goes_first = false;
  last third_one = last::waits_already;
};

void PrintTo(const lost_case& c, std::ostream* out) { *out << c.name; }

lease get(const client& c, wants what) {
  if (what == wants::share) return c.shared_mutex("x").acquire_shared();
  if (what == wants::permit) return c.semaphore("x", 1).acquire();
  return c.mutex("x").acquire();
}

// A process that acquires when it hears a line, says that it holds, and keeps it.
class contender {
 public:
  contender(const std::string& url, wants what)
      : process_([url, what](const other_process::line& l) {
          const auto c = client::open(url);
          l.say("open");
          l.hear();
          const lease held = get(c, what);
          l.say("holds");
          l.hear();
        }) {
    EXPECT_EQ(process_.hear(), "open");
  }
  void ask() { process_.say("ask"); }
  void hold() {
    ask();
    EXPECT_EQ(process_.hear(), "holds");
  }
  void is_lost(lost how) { how == lost::killed ? process_.kill() : process_.stop(); }

 private:
  other_process process_;
};

class redis_lost_waiters : public on_redis, public testing::WithParamInterface<lost_case> {};

TEST_P(redis_lost_waiters, are_followed_when_their_leases_have_ended) {
  const lost_case& p = GetParam();
  redis_server server;
  const std::string url = server.url() + "?ttl=4s";
  contender holder(url, p.holder), next(url, p.next);
  holder.hold();
  next.ask();
  ASSERT_TRUE(eventually_queued(server, 1));
  const auto c = client::open(url);
  lease third;
  std::optional<std::jthread> waiter;
  if (p.third_one == last::waits_already) {
    waiter.emplace([&] { third = get(c, p.third); });
    ASSERT_TRUE(eventually_queued(server, 2));
  }
  if (p.next_goes_first) next.is_lost(p.next_is);
  holder.is_lost(p.holder_is);
  if (!p.next_goes_first) next.is_lost(p.next_is);
  const auto t = told_by([&] {
    if (waiter) return waiter->join();
    third = p.third_one == last::comes_after ? get(c, p.third) : c.mutex("x").try_acquire_for(1min);
  });
  EXPECT_TRUE(third.held());
  // At most their two leases of four seconds, and one more. A waiter that does not look for itself
  // takes half a minute.
  EXPECT_LT(t.took, in_bounds);
}

constexpr lost_case lost_cases[] = {
    {.name = "both_killed"},
    {.name = "next_killed_before_the_holder", .next_goes_first = true},
    {.name = "next_only_stopped", .next_is = lost::stopped},
    {.name = "both_stopped", .holder_is = lost::stopped, .next_is = lost::stopped},
    {.name = "semaphore", .holder = wants::permit, .next = wants::permit, .third = wants::permit},
    {.name = "a_reader_holds_and_a_writer_is_next",
     .holder = wants::share,
     .next = wants::lock,
     .third = wants::share},
    {.name = "a_writer_holds_and_a_reader_is_next", .next = wants::share, .third = wants::lock},
    {.name = "a_newcomer_after_the_crash", .third_one = last::comes_after},
    {.name = "a_newcomer_that_waits_for_a_time", .third_one = last::comes_for_a_while},
};

INSTANTIATE_TEST_SUITE_P(all, redis_lost_waiters, testing::ValuesIn(lost_cases),
                         [](const auto& one) { return std::string(one.param.name); });

class redis_forgotten_waiters : public on_redis {};

TEST_F(redis_forgotten_waiters, after_a_flush_are_served_when_the_leases_would_have_ended) {
  redis_server server;
  const auto holder = client::open(server.url() + "?ttl=4s"), second = client::open(server.url());
  const auto third = client::open(server.url() + "?ttl=4s");
  auto held = holder.mutex("x").acquire();
  waiting_thread next(second), behind(third);
  ASSERT_TRUE(eventually_queued(server, 2));
  server.command({"FLUSHALL"});
  const auto t = told_by([&] {  // whoever looks first
    ASSERT_TRUE(eventually([&] { return next.is_served() || behind.is_served(); }));
    waiting_thread& first = next.is_served() ? next : behind;
    first.served().release();
    (&first == &next ? behind : next).served().release();
  });
  EXPECT_LT(t.took, in_bounds);
}

// The next waiter may not look any more when its time has come: its claim is refused, and its
// client lives on.
TEST_F(redis_forgotten_waiters, a_refused_claim_does_not_stay_queued) {
  redis_server server;
  const std::string options = "?ttl=4s&op-timeout=5s";
  server.command({"ACL", "SETUSER", "next", "on", ">pw", "+@all", "~*", "&*"});
  const auto second =
      client::open("redis://next:pw@127.0.0.1:" + std::to_string(server.port()) + options);
  const auto third = client::open(server.url() + options);
  contender holder(server.url() + options, wants::lock);
  holder.hold();
  std::error_code refused;
  std::jthread next([&, m = second.mutex("x")] { lease none = m.acquire({}, {}, refused); });
  ASSERT_TRUE(eventually_queued(server, 1));
  waiting_thread behind(third);
  ASSERT_TRUE(eventually_queued(server, 2));
  server.command({"ACL", "SETUSER", "next", "-evalsha", "-eval"});
  holder.is_lost(lost::killed);
  next.join();
  EXPECT_TRUE(refused);
  const auto t = told_by([&] { behind.served().release(); });
  EXPECT_LT(t.took, in_bounds);
  server.command({"ACL", "SETUSER", "next", "+evalsha", "+eval"});
  EXPECT_TRUE(eventually_queued(server, 0));
}

}  // namespace
}  // namespace holdfast::redis_test
