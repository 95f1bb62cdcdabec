// Layout `redisson-fair` with waiters that die, replies lost and rights that are missing.
#include <memory>
#include <mutex>

#include "every_byte.hpp"
#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_redisson_fair : public on_redis {};

const std::string of_fair = quick_with("ttl=10m&layout=redisson-fair");
const std::string fair_queue = "redisson_lock_queue:{x}";

bool eventually_in_fair_queue(redis_server& server, long long n) {
  return eventually([&] { return server.command({"LLEN", fair_queue}).number == n; });
}

long long asked_of(redis_server& server) {
  const std::string all = server.command({"INFO", "commandstats"}).text;
  const std::string evalsha = "cmdstat_evalsha:calls=";
  const auto at = all.find(evalsha);
  return at == all.npos ? 0 : std::stoll(all.substr(at + evalsha.size()));
}

// A process that waits for "x" until it is killed.
class mortal_waiter {
 public:
  explicit mortal_waiter(const std::string& url)
      : process_([url](const other_process::line& l) {
          const auto c = client::open(url);
          l.say("open");
          l.hear();
          const lease held = c.mutex("x").acquire();
          l.say("holds");
          l.hear();
        }) {
    EXPECT_EQ(process_.hear(), "open");
    process_.say("ask");
  }
  void die() { process_.kill(); }

 private:
  other_process process_;
};

TEST_F(redis_redisson_fair, eight_waiters_get_the_lock_in_the_order_of_their_arrival) {
  redis_server server;
  std::vector<client> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(client::open(server.url() + of_fair));
  lease first = client::open(server.url() + of_fair).mutex("x").acquire();
  std::mutex guard;
  std::vector<int> order;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      lease held = clients[static_cast<std::size_t>(i)].mutex("x").acquire();
      {
        const std::lock_guard lock(guard);
        order.push_back(i);
      }
      held.release();
    });
    ASSERT_TRUE(eventually_in_fair_queue(server, i + 1));
  }
  first.release();
  threads.clear();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(server.command({"KEYS", "*"}).items.size(), 1u) << "the counter";
}

TEST_F(redis_redisson_fair, a_dead_head_delays_the_others_by_a_window_and_nobody_spins) {
  redis_server server;
  lease first = client::open(server.url() + of_fair).mutex("x").acquire();
  mortal_waiter dead(server.url() + of_fair);
  ASSERT_TRUE(eventually_in_fair_queue(server, 1));
  const client b = client::open(server.url() + of_fair), d = client::open(server.url() + of_fair);
  waiting_thread second(b);
  ASSERT_TRUE(eventually_in_fair_queue(server, 2));
  waiting_thread third(d);
  ASSERT_TRUE(eventually_in_fair_queue(server, 3));
  dead.die();
  server.command({"CONFIG", "RESETSTAT"});
  const auto t = told_by([&] {
    first.release();
    second.served().release();
    third.served().release();
  });
  RecordProperty("milliseconds", static_cast<int>(t.took.count()));
  EXPECT_LT(asked_of(server), 60) << "two waiters ask every few seconds";
  EXPECT_EQ(server.command({"EXISTS", fair_queue}).number, 0);
}

TEST_F(redis_redisson_fair, waiters_and_a_holder_that_die_together_are_followed) {
  redis_server server;
  const std::string url = server.url() + quick_with("ttl=4s&layout=redisson-fair");
  mortal_waiter holder(url);
  ASSERT_TRUE(eventually([&] { return server.command({"EXISTS", "x"}).number == 1; }));
  std::vector<std::unique_ptr<mortal_waiter>> dead;
  for (int i = 0; i < 4; ++i) {
    dead.push_back(std::make_unique<mortal_waiter>(url));
    ASSERT_TRUE(eventually_in_fair_queue(server, i + 1));
  }
  const client c = client::open(url);
  waiting_thread living(c);
  ASSERT_TRUE(eventually_in_fair_queue(server, 5));
  for (const auto& each : dead) each->die();
  holder.die();
  living.served().release();
}

TEST_F(redis_redisson_fair, a_break_through_a_client_of_plain_mutexes_notifies_the_next_waiter) {
  redis_server server;
  const client holding = client::open(server.url() + of_fair);
  const client waits = client::open(server.url() + of_fair);
  const lease held = holding.mutex("x").acquire();
  waiting_thread waiter(waits);
  ASSERT_TRUE(eventually_in_fair_queue(server, 1));
  const std::string next = server.command({"LINDEX", fair_queue, "0"}).text;
  testkit::redis_link messages = server.link();
  messages.send({"SUBSCRIBE", "redisson_lock__channel:{x}:" + next});
  (void)messages.receive();
  const client plain = client::open(server.url() + quick_with("layout=redisson"));
  EXPECT_TRUE(plain.break_lock("x", held.owner()));
  EXPECT_EQ(messages.receive().items.at(2).text, "0");
  EXPECT_TRUE(waiter.served().held());
}

void has_one_place_whatever_is_cut(direction d) {
  redis_server server;
  tcp_proxy proxy{server.port()};
  const client mine = client::open(proxy.url() + of_fair);
  const client other = client::open(server.url() + of_fair);
  at_every_byte(proxy, d, [&](auto cut) {
    auto first = other.mutex("x").acquire();
    cut();
    waiting_thread waiter(mine);
    EXPECT_TRUE(eventually_in_fair_queue(server, 1));
    first.release();
    auto& second = waiter.served();
    EXPECT_EQ(to_text(server.command({"HGET", "x", second.owner()})), "1");
    EXPECT_EQ(server.command({"EXISTS", fair_queue}).number, 0);
    expect_safe(second, server, "x");
    second.release();
    EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", "x"}).number == 0; }));
  });
}

TEST_F(redis_redisson_fair, a_waiter_whose_replies_are_lost_has_one_place) {
  has_one_place_whatever_is_cut(direction::to_client);
}
TEST_F(redis_redisson_fair, or_whose_requests_are_lost) {
  has_one_place_whatever_is_cut(direction::to_server);
}

TEST_F(redis_redisson_fair, a_waiter_that_gives_up_with_its_connection_cut_leaves_no_place) {
  redis_server server;
  tcp_proxy proxy{server.port()};
  const client mine = client::open(proxy.url() + of_fair);
  auto first = client::open(server.url() + of_fair).mutex("x").acquire();
  for (int i = 0; i < 20; ++i) {
    proxy.cut_after(direction::to_client, static_cast<std::size_t>(i) * 7);
    std::error_code ec;
    EXPECT_FALSE(mine.mutex("x").try_acquire_for(20ms, {}, ec));
    EXPECT_TRUE(eventually_in_fair_queue(server, 0));
  }
}

// docs/backends/redisson.md, for locks whose names begin with jobs/.
constexpr const char* least_of_fair =
    "lock on >secret resetkeys resetchannels ~jobs/* ~redisson_lock_token:{jobs/* "
    "~redisson_lock_queue:{jobs/* ~redisson_lock_timeout:{jobs/* "
    "&redisson_lock__channel:{jobs/* -@all +evalsha +eval +script|load +ping +time +select "
    "+client|setname +client|id +client|info +client|kill +info +type +exists +pttl +pexpire "
    "+hexists +hset "
    "+hdel +get +incr +decr +lindex +lrange +lpop +rpush +linsert +lrem +zscore +zadd +zrem "
    "+publish "
    "+subscribe +hgetall +llen +scan";

TEST_F(redis_redisson_fair, the_least_rights_are_enough) {
  redis_server server({.acl = least_of_fair, .default_user = false});
  const std::string url = "redis://lock:secret@127.0.0.1:" + std::to_string(server.port()) +
                          quick_with("ttl=6s&prefix=jobs/&layout=redisson-fair");
  const client c = client::open(url), d = client::open(url);
  auto held = c.mutex("x").acquire();
  waiting_thread waiter(d);
  EXPECT_TRUE(eventually([&] { return c.holders("x").at(0).waiting == 1; }));
  server.command({"DEL", "redisson_lock_queue:{jobs/x}"});  // it takes its place back
  EXPECT_TRUE(eventually([&] { return c.holders("x").at(0).waiting == 1; }));
  EXPECT_FALSE(client::open(url).mutex("x").try_acquire_for(50ms));
  held.release();
  EXPECT_TRUE(c.break_lock("x", waiter.served().owner()));
  EXPECT_EQ(c.list().size(), 0u);
  const auto denied = server.command({"ACL", "LOG"});
  EXPECT_TRUE(denied.items.empty()) << to_text(denied);
}

TEST_F(redis_redisson_fair, a_crowd_shares_a_lock_through_resets) {
  redis_server server;
  tcp_proxy proxy(server.port());
  {
    const auto url = quick_with("ttl=1s&layout=redisson-fair");
    contenders all({proxy.url() + url, proxy.url() + url, server.url() + url},
                   {.check = {.wake_bound = 25s, .lapse = 2s}});
    for (int i = 0; i < 40; ++i) {
      proxy.reset_all();
      all.wait_for_plays(10);
    }
  }
  expect_counters_alone_left(server);
}

}  // namespace
}  // namespace holdfast::redis_test
