// Layout `redisson-fair` on a real server, against the scripts of Redisson's RFairLock sent by
// hand: what it writes is what they read, and what they write is honoured.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <optional>
#include <thread>

#include "testkit/eventually.hpp"
#include "tests/interop/redisson/fixture.hpp"

namespace holdfast::redisson_test {
namespace {

using namespace std::chrono_literals;
using testkit::eventually;

const std::string fair_queue = "redisson_lock_queue:{x}";
const std::string fair_times = "redisson_lock_timeout:{x}";
const std::string fair_channels = "redisson_lock__channel:{x}:";
constexpr long long our_window = 10'000, java_window = 300'000;  // ms

long long wall_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// A thread of Java, by the scripts of RedissonFairLock (tryLockInnerAsync(), unlockInnerAsync(),
// acquireFailedAsync()), without the latch.
class java_thread {
 public:
  java_thread(redis_server& s, int number)
      : server_(s), owner_("5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:" + std::to_string(number)) {}

  const std::string& owner() const { return owner_; }
  bool acquire(const std::string& lease = "60000") { return run(try_script, lease).is_nil(); }
  void unlock() { run(unlock_script, "0"); }
  void give_up() { run(give_up_script, "0"); }

 private:
  static constexpr const char* evict =
      "while true do local head = redis.call('lindex', KEYS[2], 0) "
      "if head == false then break end "
      "local timeout = redis.call('zscore', KEYS[3], head) "
      "if timeout ~= false and tonumber(timeout) <= tonumber(ARGV[4]) then "
      "redis.call('zrem', KEYS[3], head) redis.call('lpop', KEYS[2]) else break end end ";
  static constexpr const char* try_script =
      "if (redis.call('exists', KEYS[1]) == 0) and ((redis.call('exists', KEYS[2]) == 0) or "
      "(redis.call('lindex', KEYS[2], 0) == ARGV[2])) then "
      "redis.call('lpop', KEYS[2]) redis.call('zrem', KEYS[3], ARGV[2]) "
      "local keys = redis.call('zrange', KEYS[3], 0, -1) "
      "for i = 1, #keys do redis.call('zincrby', KEYS[3], -tonumber(ARGV[3]), keys[i]) end "
      "redis.call('hset', KEYS[1], ARGV[2], 1) redis.call('pexpire', KEYS[1], ARGV[1]) "
      "return nil end "
      "if redis.call('zscore', KEYS[3], ARGV[2]) ~= false then "
      "return math.max(0, redis.call('pttl', KEYS[1])) end "
      "local last, ttl = redis.call('lindex', KEYS[2], -1), nil "
      "if last ~= false then "
      "ttl = tonumber(redis.call('zscore', KEYS[3], last)) - tonumber(ARGV[4]) "
      "else ttl = redis.call('pttl', KEYS[1]) end "
      "if redis.call('zadd', KEYS[3], ttl + tonumber(ARGV[3]) + tonumber(ARGV[4]), ARGV[2]) == 1 "
      "then redis.call('rpush', KEYS[2], ARGV[2]) end return ttl";
  static constexpr const char* unlock_script =
      "if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end "
      "redis.call('del', KEYS[1]) local head = redis.call('lindex', KEYS[2], 0) "
      "if head ~= false then "
      "redis.call('publish', 'redisson_lock__channel:{x}:' .. head, '0') end return 1";
  static constexpr const char* give_up_script =
      "local queue, i = redis.call('lrange', KEYS[2], 0, -1), 1 "
      "while i <= #queue and queue[i] ~= ARGV[2] do i = i + 1 end i = i + 1 "
      "while i <= #queue do "
      "redis.call('zincrby', KEYS[3], -tonumber(ARGV[3]), queue[i]) i = i + 1 end "
      "redis.call('zrem', KEYS[3], ARGV[2]) redis.call('lrem', KEYS[2], 0, ARGV[2]) return 1";

  testkit::redis_reply run(const char* script, const std::string& lease) {
    return server_.command({"EVAL", std::string(evict) + script, "3", "x", fair_queue, fair_times,
                            lease, owner_, std::to_string(java_window), std::to_string(wall_ms())});
  }

  redis_server& server_;
  const std::string owner_;
};

// A thread of ours that waits for "x".
class our_thread {
 public:
  explicit our_thread(client c)
      : thread_([this, c = std::move(c)](const std::stop_token& s) {
          std::error_code ec;
          held_ = c.mutex("x").acquire({}, s, ec);
          is_done_ = true;
        }) {}
  bool is_done() const { return is_done_; }
  lease& wait() {
    EXPECT_TRUE(eventually([&] { return is_done(); }));
    thread_.request_stop();
    thread_.join();
    EXPECT_TRUE(held_.held());
    return held_;
  }

 private:
  lease held_;
  std::atomic<bool> is_done_{false};
  std::jthread thread_;
};

struct redisson_fair_by_hand : testing::Test {
  void SetUp() override {
    if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
    server.emplace();
    c = open();
  }
  client open(const std::string& options = {}) {
    return client::open(server->url() + "?layout=redisson-fair" + options);
  }
  java_thread java(int number) { return {*server, number}; }
  std::vector<std::string> line() {
    std::vector<std::string> out;
    for (const auto& each : server->command({"LRANGE", fair_queue, "0", "-1"}).items)
      out.push_back(each.text);
    return out;
  }
  bool eventually_queued(std::size_t n) {
    return eventually([&] { return line().size() == n; });
  }
  // Until when a waiter's window lasts, in ms.
  long long time_of(const std::string& owner) {
    return std::stoll(server->command({"ZSCORE", fair_times, owner}).text);
  }
  static void expect_near(long long a, long long b) { EXPECT_LT(std::llabs(a - b), 4'000) << a; }

  std::optional<redis_server> server;
  client c;
};

TEST_F(redisson_fair_by_hand, a_waiter_is_in_the_list_and_in_the_sorted_set_and_listens) {
  java_thread holder = java(1), behind = java(2);
  ASSERT_TRUE(holder.acquire());
  our_thread ours(c);
  ASSERT_TRUE(eventually_queued(1));
  const std::string owner = line()[0];
  EXPECT_EQ(redisson_test::contents(*server, {{owner, "ours"}, {holder.owner(), "java"}}),
            fair_queue + " list ours\n" + fair_times + " zset ours\nx hash java=1 ttl\n");
  EXPECT_EQ(ttl_of(*server, fair_queue), -1);
  EXPECT_TRUE(eventually([&] { return is_subscribed(*server, fair_channels + owner); }));
  EXPECT_TRUE(eventually([&] { return time_of(owner) <= wall_ms() + our_window; }));
  EXPECT_FALSE(behind.acquire());
  EXPECT_EQ(line(), (std::vector{owner, behind.owner()}));
  expect_near(time_of(behind.owner()), time_of(owner) + java_window);
  const long long before = time_of(behind.owner());
  holder.unlock();
  lease& held = ours.wait();
  EXPECT_EQ(line(), std::vector{behind.owner()});
  expect_near(time_of(behind.owner()), before - our_window);
  message_log messages(*server);
  held.release();
  EXPECT_EQ(messages.heard(), fair_channels + behind.owner() + " 0\n");
  EXPECT_TRUE(behind.acquire());
}

TEST_F(redisson_fair_by_hand, a_waiter_of_java_before_ours_gets_the_lock_first) {
  java_thread holder = java(1), first = java(2);
  holder.acquire();
  EXPECT_FALSE(first.acquire());
  our_thread ours(c);
  ASSERT_TRUE(eventually_queued(2));
  const std::string owner = line()[1];
  expect_near(time_of(owner), time_of(first.owner()) + our_window);
  EXPECT_FALSE(c.mutex("x").try_acquire());
  holder.unlock();
  EXPECT_TRUE(first.acquire());
  EXPECT_FALSE(ours.is_done());
  EXPECT_EQ(line(), std::vector{owner});
  first.unlock();
  ours.wait();
}

TEST_F(redisson_fair_by_hand, a_living_waiter_that_redisson_removed_gets_its_place_back) {
  java_thread holder = java(1), first = java(2), last = java(3);
  holder.acquire();
  first.acquire();
  our_thread ours(c);
  ASSERT_TRUE(eventually_queued(2));
  const std::string owner = line()[1];
  server->command({"ZADD", fair_times, std::to_string(wall_ms() + 1'000), owner});
  holder.unlock();
  ASSERT_TRUE(first.acquire());  // it takes 300 s off
  last.acquire();                // it removes ours
  EXPECT_TRUE(eventually([&] { return line() == std::vector{owner, last.owner()}; }));
  first.unlock();
  ours.wait();
}

TEST_F(redisson_fair_by_hand, a_waiter_that_gives_up_leaves_and_takes_its_window_along) {
  java_thread holder = java(1), behind = java(2);
  holder.acquire();
  std::jthread brief([&] { EXPECT_FALSE(c.mutex("x").try_acquire_for(8s)); });
  ASSERT_TRUE(eventually_queued(1));
  behind.acquire();
  const long long before = time_of(behind.owner());
  brief.join();
  EXPECT_TRUE(eventually([&] { return line() == std::vector{behind.owner()}; }));
  expect_near(time_of(behind.owner()), before - our_window);
  EXPECT_EQ(server->command({"ZCARD", fair_times}).number, 1);
}

TEST_F(redisson_fair_by_hand, a_waiter_of_java_that_gives_up_lets_ours_go_first) {
  java_thread holder = java(1), first = java(2);
  holder.acquire();
  first.acquire();
  our_thread ours(c);
  ASSERT_TRUE(eventually_queued(2));
  first.give_up();
  holder.unlock();
  ours.wait();
}

TEST_F(redisson_fair_by_hand, a_broken_foreign_lock_wakes_the_head) {
  java_thread holder = java(1), first = java(2);
  holder.acquire();
  first.acquire();
  message_log messages(*server);
  const auto found = c.holders("x");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].waiting, 1);
  EXPECT_TRUE(c.break_lock("x", holder.owner()));
  EXPECT_EQ(messages.heard(), fair_channels + first.owner() + " 0\n");
  EXPECT_TRUE(first.acquire());
}

TEST_F(redisson_fair_by_hand, a_dead_head_of_java_is_waited_for_until_its_time_and_quietly) {
  java_thread dead = java(2);
  server->command({"RPUSH", fair_queue, dead.owner()});
  const long long until = wall_ms() + 6'000;
  server->command({"ZADD", fair_times, std::to_string(until), dead.owner()});
  server->command({"CONFIG", "RESETSTAT"});
  EXPECT_FALSE(c.mutex("x").try_acquire()) << "nobody passes it";
  const lease held = c.mutex("x").acquire();
  EXPECT_GE(wall_ms(), until);
  EXPECT_LT(calls_of(*server, "evalsha") + calls_of(*server, "eval"), 20);
}

TEST_F(redisson_fair_by_hand, times_do_not_drift) {
  java_thread last = java(9);
  for (int i = 0; i < 20; ++i) {
    lease held = c.mutex("x").acquire();
    const client other = open();
    our_thread next(other);
    ASSERT_TRUE(eventually_queued(1));
    EXPECT_FALSE(open().mutex("x").try_acquire_for(20ms));
    held.release();
    next.wait().release();
  }
  lease held = c.mutex("x").acquire();
  last.acquire();
  const long long lease_time = 30'000;
  EXPECT_LE(time_of(last.owner()), wall_ms() + lease_time + java_window);
  EXPECT_EQ(line(), std::vector{last.owner()});
  EXPECT_EQ(server->command({"ZCARD", fair_times}).number, 1);
}

}  // namespace
}  // namespace holdfast::redisson_test
