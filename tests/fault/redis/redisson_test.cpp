// Layouts `redisson` and `redisson-spin` with replies lost, connections cut, messages that do not
// arrive and rights that are missing.
#include <algorithm>
#include <barrier>

#include "every_byte.hpp"
#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_redisson : public on_redis {};

const std::string of_redisson = quick_with("ttl=10m&layout=redisson");
const std::string of_spin = quick_with("ttl=10m&layout=redisson-spin");

// A client behind a proxy and one beside it.
struct rlock_two_ways {
  redis_server server;
  tcp_proxy proxy{server.port()};
  client mine = client::open(proxy.url() + of_redisson);
  client other = client::open(server.url() + of_redisson);

  bool is_free() { return server.command({"EXISTS", "x"}).number == 0; }
  std::string holds(const lease& held) {
    return to_text(server.command({"HGET", "x", held.owner()}));
  }
  bool is_listened_to() {
    const auto reply = server.command({"PUBSUB", "NUMSUB", "redisson_lock__channel:{x}"});
    return reply.items.size() == 2 && reply.items[1].number > 0;
  }
};

void acquires_once_whatever_is_cut(direction d) {
  rlock_two_ways on;
  const auto m = on.mine.mutex("x");
  std::int64_t last = 0;
  at_every_byte(on.proxy, d, [&](auto cut) {
    cut();
    std::error_code ec;
    auto held = m.acquire({}, {}, ec);
    if (held) {
      EXPECT_EQ(on.holds(held), "1");
      EXPECT_GT(held.token(), last);
      last = held.token();
      expect_safe(held, on.server, "x");
      held.release(ec);
      EXPECT_FALSE(ec) << ec.message();
      EXPECT_TRUE(on.is_free());
    } else {
      EXPECT_EQ(ec, outcome::unavailable) << ec.message();
    }
    EXPECT_TRUE(eventually([&] { return on.is_free(); }));
  });
}

TEST_F(redis_redisson, an_acquire_whose_reply_is_lost_is_one_hold) {
  acquires_once_whatever_is_cut(direction::to_client);
}
TEST_F(redis_redisson, or_whose_request_is_lost) {
  acquires_once_whatever_is_cut(direction::to_server);
}

TEST_F(redis_redisson, a_waiter_gets_the_lock_whatever_is_cut) {
  rlock_two_ways on;
  at_every_byte(on.proxy, direction::to_client, [&](auto cut) {
    auto first = on.other.mutex("x").acquire();
    cut();
    waiting_thread waiter(on.mine);
    EXPECT_TRUE(eventually([&] { return on.is_listened_to(); }));
    first.release();
    auto& second = waiter.served();
    EXPECT_EQ(on.holds(second), "1");
    second.release();
    EXPECT_TRUE(on.is_free());
  });
}

TEST_F(redis_redisson, a_connection_that_brings_no_messages_is_found_dead) {
  rlock_two_ways on;
  auto first = on.other.mutex("x").acquire();
  waiting_thread waiter(on.mine);
  EXPECT_TRUE(eventually([&] { return on.is_listened_to(); }));
  const auto before = on.proxy.counts().accepted;
  on.proxy.set(direction::to_client, {.mutate = [](std::string& bytes) {
                 const bool is_of_messages = bytes.starts_with("*3\r\n$7\r\nmessage") ||
                                             bytes.starts_with("*2\r\n$4\r\npong");
                 if (is_of_messages) bytes.clear();
               }});
  EXPECT_TRUE(eventually([&] { return on.proxy.counts().accepted > before; }));
  EXPECT_FALSE(waiter.is_served());
  first.release();
  EXPECT_TRUE(waiter.served().held());
}

// docs/backends/redisson.md, for locks whose names begin with jobs/.
constexpr const char* least_of_redisson =
    "lock on >secret resetkeys resetchannels ~jobs/* ~redisson_lock_token:{jobs/* ~{jobs/* "
    "~redisson_lock_queue:{jobs/* "
    "&redisson_lock__channel:{jobs/* -@all +evalsha +eval +script|load +ping +time +select "
    "+client|setname +client|id +client|info +client|kill +info +type +exists +pttl +pexpire "
    "+hexists +hset "
    "+hdel +get +incr +decr +publish +subscribe +hgetall +scan +hget +zrange +zscore "
    "+lindex";

std::string url_of_least(const redis_server& server) {
  return "redis://lock:secret@127.0.0.1:" + std::to_string(server.port()) +
         quick_with("ttl=6s&prefix=jobs/&layout=redisson");
}

TEST_F(redis_redisson, the_least_rights_are_enough) {
  redis_server server({.acl = least_of_redisson, .default_user = false});
  const client c = client::open(url_of_least(server)), d = client::open(url_of_least(server));
  auto held = c.mutex("x").acquire();
  const auto before = held.expires();
  EXPECT_TRUE(eventually([&] { return held.expires() > before; })) << "is not renewed";
  waiting_thread waiter(d);
  EXPECT_EQ(c.list().size(), 1u);
  held.release();
  EXPECT_TRUE(c.break_lock("x", waiter.served().owner()));
  const auto denied = server.command({"ACL", "LOG"});
  EXPECT_TRUE(denied.items.empty()) << to_text(denied);
}

TEST_F(redis_redisson, a_lock_is_broken_without_the_right_to_the_queue_of_a_fair_lock) {
  redis_server server({.acl = std::string(least_of_redisson) + " -lindex", .default_user = false});
  const client c = client::open(url_of_least(server));
  const lease held = c.mutex("x").acquire();
  EXPECT_TRUE(c.break_lock("x", held.owner()));
}

TEST_F(redis_redisson, an_examination_names_the_right_that_is_missing) {
  redis_server server({.acl = std::string(least_of_redisson) + " +multi +exec +config|get -incr",
                       .default_user = false});
  const auto found = client::open(url_of_least(server)).diagnose();
  const auto remedy_is = [&](std::string_view text) {
    return std::ranges::any_of(found, [&](const finding& f) { return f.remedy == text; });
  };
  const auto begins_with = [&](std::string_view text) {
    return std::ranges::any_of(found, [&](const finding& f) { return f.remedy.starts_with(text); });
  };
  EXPECT_TRUE(begins_with("ACL SETUSER lock +incr "))
      << "the commands of the other kinds of locks follow";
  EXPECT_TRUE(remedy_is("ACL SETUSER lock &redisson_lock__channel:* &redisson_rwlock:* "
                        "&redisson_sc:*"));
}

TEST_F(redis_redisson, a_user_that_may_not_listen_polls) {
  redis_server server({.acl = "quiet on >secret ~* resetchannels +@all"});
  auto first = client::open(server.url() + of_redisson).mutex("x").acquire();
  const auto url = "redis://quiet:secret@127.0.0.1:" + std::to_string(server.port()) + of_redisson;
  const client c = client::open(url);
  waiting_thread waiter(c);
  EXPECT_TRUE(eventually([&] { return !server.command({"ACL", "LOG"}).items.empty(); }));
  server.command({"DEL", "x"});
  EXPECT_TRUE(waiter.served().held());
}

// A lock of each layout here and there, and clients that come and go: nobody enters twice, and
// tokens grow.
TEST_F(redis_redisson, crowds_of_both_layouts_share_a_lock_through_resets) {
  redis_server server;
  tcp_proxy proxy(server.port());
  {
    const auto url = quick_with("ttl=1s&layout=redisson");
    const auto spin = quick_with("ttl=1s&layout=redisson-spin");
    contenders all({proxy.url() + url, proxy.url() + spin, server.url() + url},
                   {.check = {.wake_bound = in_bounds, .lapse = 2s}});
    for (int i = 0; i < 40; ++i) {
      proxy.reset_all();
      all.wait_for_plays(10);
    }
  }
  expect_counters_alone_left(server);
}

TEST_F(redis_redisson, thirty_two_threads_and_five_locks_leave_no_channel) {
  redis_server server;
  {
    const client c = client::open(server.url() + of_redisson);
    const client d = client::open(server.url() + of_redisson);
    std::vector<std::jthread> threads;
    std::atomic<int> total{0};
    for (int t = 0; t < 32; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          auto held = (t % 2 ? c : d).mutex("lock" + std::to_string((t + i) % 5)).acquire();
          ++total;
          held.release();
        }
      });
    threads.clear();
    EXPECT_EQ(total, 32 * 20);
    EXPECT_TRUE(eventually([&] { return server.command({"PUBSUB", "CHANNELS"}).items.empty(); }));
  }
}

TEST_F(redis_redisson, short_waits_for_four_locks_at_once_fail_by_time_alone) {
  redis_server server;
  const client c = client::open(server.url() + of_redisson);
  const client d = client::open(server.url() + of_redisson);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        std::error_code ec;
        const auto m = (t % 2 ? c : d).mutex("lock" + std::to_string(i % 4));
        const lease held = m.try_acquire_for(100ms, {}, ec);
        EXPECT_FALSE(ec) << ec.message();
      }
    });
}

TEST_F(redis_redisson, a_restart_without_data_is_a_loss_and_the_next_lock_is_renewed_again) {
  redis_server server;
  const client c = client::open(server.url() + quick_with("ttl=6s&layout=redisson"));
  const auto m = c.mutex("x");
  lease held = m.acquire();
  server.restart(false);
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  std::error_code ec;
  held.release(ec);
  EXPECT_EQ(ec, outcome::lost) << ec.message();
  lease next = m.acquire();
  for (int i = 0; i < 3; ++i) {
    long long last = 0;
    EXPECT_TRUE(eventually([&] {
      const long long before = std::exchange(last, server.command({"PTTL", "x"}).number);
      return before > 0 && last > before;
    }));
  }
  EXPECT_TRUE(next.held());
}

TEST_F(redis_redisson, a_held_lock_is_renewed_while_many_come_and_go) {
  redis_server server;
  const client c = client::open(server.url() + "?ttl=4s&layout=redisson");
  const lease held = c.mutex("held").acquire();
  const auto end = held.expires() + 2s;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      const auto m = c.mutex("m" + std::to_string(t % 4));
      std::error_code ec;
      while (lease_clock::now() < end) (void)m.try_acquire({}, ec);
    });
  threads.clear();
  EXPECT_TRUE(held.held());
}

// RedissonMultiLock: a composition of locks, of one server or of several.
void excludes_whom_any_member_excludes(const client& here, const client& there) {
  auto a = here.mutex("a"), b = there.mutex("b"), b_alone = there.mutex("b");
  multi_mutex both(a, b);
  lease_set held = both.acquire();
  ASSERT_EQ(held.members().size(), 2u);
  EXPECT_GT(held.members()[0].token(), 0);
  EXPECT_FALSE(b_alone.try_acquire());
  held.release();
  lease alone = b_alone.acquire();
  EXPECT_FALSE(both.try_acquire());
  EXPECT_TRUE(a.try_acquire()) << "all or none";
  alone.release();
  EXPECT_TRUE(both.acquire().held());
}

TEST_F(redis_redisson, several_locks_of_one_server_are_one) {
  redis_server server;
  const client c = client::open(server.url() + of_redisson);
  excludes_whom_any_member_excludes(c, c);
}

TEST_F(redis_redisson, several_locks_of_two_servers_and_layouts_are_one) {
  redis_server one, other;
  const client here = client::open(one.url() + of_redisson);
  const client there = client::open(other.url() + of_spin);
  excludes_whom_any_member_excludes(here, there);
}

TEST_F(redis_redisson, of_ten_that_try_several_locks_at_once_one_wins_and_all_get_them_in_turn) {
  redis_server one, other;
  std::atomic<int> winners{0}, inside{0}, turns{0};
  std::barrier all_tried(10);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 10; ++t)
    threads.emplace_back([&] {
      const client here = client::open(one.url() + of_redisson);
      const client there = client::open(other.url() + of_redisson);
      auto a = here.mutex("a"), b = here.mutex("b"), c = there.mutex("c");
      multi_mutex all(c, a, b);
      lease_set first = all.try_acquire();
      if (first) ++winners;
      all_tried.arrive_and_wait();
      if (first) first.release();
      for (int i = 0; i < 5; ++i) {
        lease_set held = all.acquire();
        EXPECT_EQ(inside.fetch_add(1), 0);
        ++turns;
        inside.fetch_sub(1);
        held.release();
      }
    });
  threads.clear();
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(turns, 50);
}

}  // namespace
}  // namespace holdfast::redis_test
