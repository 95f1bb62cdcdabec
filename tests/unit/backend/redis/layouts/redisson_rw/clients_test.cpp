// Whole clients of layout `redisson-rw`, on the model of Redis.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/parker.hpp"
#include "testkit/thrown_by.hpp"
#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis::redisson_rw {
namespace {

using namespace std::chrono_literals;
using testkit::thrown_by;

constexpr std::string_view thread_of_redisson = "5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:97";
constexpr std::string_view channel = "redisson_rwlock:{job}";

struct redisson_rw_clients : testing::Test {
  on_model world;
  client c = world.open("layout=redisson-rw"), d = world.open("layout=redisson-rw");
  shared_mutex m{c, "job"}, n{d, "job"};

  ~redisson_rw_clients() override { world.changed = nullptr; }

  void at(base::duration t, std::function<void()> what) { world.at(t, std::move(what)); }
  void pass(base::duration t) { world.pass(t); }
  template <class Call>
  base::duration time_of(Call call) {
    const base::time_point before = world.now();
    call();
    return world.now() - before;
  }
  base::duration until_writer(const shared_mutex& lock) {
    return time_of([&] { EXPECT_TRUE(lock.acquire().held()); });
  }
  base::duration until_reader(const shared_mutex& lock) {
    return time_of([&] { EXPECT_TRUE(lock.acquire_shared().held()); });
  }
  std::string hold_of(std::string_view owner) {
    return "{job}:" + std::string(owner) + ":rwlock_timeout:1";
  }
  // One of Redisson's.
  void read_by_another(std::string_view ms) {
    world.command({"HSET", "job", "mode", "read", thread_of_redisson, "1"});
    world.command({"SET", hold_of(thread_of_redisson), "1", "PX", ms});
    world.command({"PEXPIRE", "job", "600000"});
  }
  void written_by_another(std::string_view ms) {
    world.command(
        {"HSET", "job", "mode", "write", std::string(thread_of_redisson) + ":write", "1"});
    world.command({"PEXPIRE", "job", ms});
  }
  bool is_free() { return world.command({"EXISTS", "job"}) == ":0\r\n"; }
  std::string mode() { return world.command({"HGET", "job", "mode"}); }
};

TEST_F(redisson_rw_clients, readers_share_a_lock_one_token_and_one_owner) {
  lease one = m.acquire_shared(), beside = m.acquire_shared(), other = n.acquire_shared();
  EXPECT_GT(one.token(), 0);
  EXPECT_EQ(one.token(), beside.token());
  EXPECT_EQ(one.token(), other.token());
  EXPECT_EQ(one.owner(), other.owner());
  EXPECT_EQ(world.command({"HLEN", "job"}), ":3\r\n") << "readers of one client are one hold";
  EXPECT_FALSE(n.try_acquire());
  one.release(), beside.release(), other.release();
  EXPECT_TRUE(is_free());
  EXPECT_TRUE(c.close() && d.close());
  EXPECT_EQ(world.command({"DBSIZE"}), ":1\r\n") << "the counter; no hold and no latch";
}

TEST_F(redisson_rw_clients, a_writer_keeps_readers_and_writers_out_and_its_token_grows) {
  std::int64_t last = 0;
  for (const shared_mutex* const lock : {&m, &n, &m}) {
    lease held = lock->acquire();
    EXPECT_GT(held.token(), last);
    last = held.token();
    const shared_mutex& other = lock == &m ? n : m;
    EXPECT_FALSE(other.try_acquire());
    EXPECT_FALSE(other.try_acquire_shared());
    held.release();
    lease share = other.acquire_shared();
    EXPECT_GT(share.token(), last);
    last = share.token();
    share.release();
  }
}

TEST_F(redisson_rw_clients, readers_that_wait_enter_at_once_when_the_writer_downgrades) {
  lease writer = m.acquire();
  const std::int64_t token = writer.token();
  at(1s, [&] { writer = m.downgrade(std::move(writer)); });
  lease reader;
  EXPECT_LT(time_of([&] { reader = n.acquire_shared(); }), 1100ms);
  EXPECT_EQ(reader.token(), token);
  EXPECT_EQ(reader.owner(), writer.owner());
  EXPECT_TRUE(writer.held());
  EXPECT_FALSE(n.try_acquire());
}

TEST_F(redisson_rw_clients,
       a_downgrade_by_redisson_which_tells_nobody_keeps_a_reader_five_seconds) {
  written_by_another("60000");
  at(1s, [&] {
    world.command({"HDEL", "job", std::string(thread_of_redisson) + ":write"});
    read_by_another("60000");
  });
  EXPECT_LT(until_reader(m), 7s);
}

TEST_F(redisson_rw_clients, a_downgraded_hold_is_renewed_and_released_as_a_readers) {
  lease held = m.acquire();
  held = m.downgrade(std::move(held));
  pass(5min);
  EXPECT_TRUE(held.held());
  EXPECT_EQ(mode(), "$4\r\nread\r\n");
  at(1s, [&] { held.unlock(); });
  EXPECT_LT(until_writer(n), 1100ms);
  EXPECT_TRUE(c.close() && d.close());
  EXPECT_EQ(world.command({"DBSIZE"}), ":1\r\n");
}

TEST_F(redisson_rw_clients, a_downgrade_that_the_server_puts_off_is_sent_again) {
  lease held = m.acquire();
  world.model.set_readonly(true);
  held = m.downgrade(std::move(held));
  at(500ms, [&] { world.model.set_readonly(false); });
  EXPECT_LT(until_reader(n), 5s);
  EXPECT_TRUE(held.held());
}

TEST_F(redisson_rw_clients, a_downgrade_whose_answer_is_lost_is_sent_again) {
  lease held = m.acquire();
  bool cut = false;
  world.changed = [&](std::string bytes) {
    if (cut || bytes != ":1\r\n") return bytes;
    cut = true;
    return std::string("no reply\r\n");
  };
  held = m.downgrade(std::move(held));
  pass(1s);
  EXPECT_TRUE(cut);
  EXPECT_LT(until_reader(n), 100ms);
  EXPECT_TRUE(held.held());
  held.release();
  EXPECT_LT(until_writer(n), 100ms);
}

TEST_F(redisson_rw_clients, a_downgrade_that_is_refused_leaves_a_writer) {
  lease held = m.acquire();
  world.model.forbid("publish");
  held = m.downgrade(std::move(held));
  pass(1min);
  EXPECT_TRUE(held.held());
  EXPECT_EQ(mode(), "$5\r\nwrite\r\n");
  world.model.allow("publish");
  held.release();
  EXPECT_TRUE(is_free());
}

TEST_F(redisson_rw_clients, the_last_reader_wakes_a_writer_and_a_writer_all_readers) {
  lease share = m.acquire_shared();
  at(1s, [&] { share.unlock(); });
  EXPECT_LT(until_writer(n), 1100ms);
  lease writer = m.acquire();
  at(1s, [&] { writer.unlock(); });
  EXPECT_LT(until_reader(n), 1100ms);
}

TEST_F(redisson_rw_clients, a_release_by_redisson_wakes_whatever_its_message_is) {
  for (const std::string_view payload : {"0", "1", "wake up", ""}) {
    written_by_another("60000");
    at(1s, [&] {
      world.command({"DEL", "job"});
      world.command({"PUBLISH", channel, payload});
    });
    EXPECT_LT(until_reader(m), 1100ms) << payload;
  }
}

TEST_F(redisson_rw_clients, readers_pass_a_writer_that_waits_but_not_one_of_their_own_client) {
  lease share = m.acquire_shared();
  at(1s, [&] {
    EXPECT_TRUE(shared_mutex(c, "job").try_acquire_shared()) << "as Redisson's do";
    share.unlock();
  });
  EXPECT_LT(until_writer(n), 1100ms);
  share = m.acquire_shared();
  at(1s, [&] {
    EXPECT_FALSE(m.try_acquire_shared());
    share.unlock();
  });
  EXPECT_LT(until_writer(m), 1100ms);
}

TEST_F(redisson_rw_clients, a_dead_writer_or_reader_keeps_a_waiter_no_longer_than_its_own_lease) {
  written_by_another("3000");
  EXPECT_LT(until_reader(m), 3100ms);
  read_by_another("3000");  // its hash has ten minutes left
  const base::duration waited = until_writer(m);
  EXPECT_GE(waited, 3s);
  EXPECT_LT(waited, 3100ms);
}

TEST_F(redisson_rw_clients, a_dead_reader_with_the_shorter_lease_is_all_that_a_writer_waits_for) {
  read_by_another("2000");
  lease share = m.acquire_shared();
  at(1s, [&] { share.unlock(); });
  const base::duration waited = until_writer(n);
  EXPECT_GE(waited, 2s);
  EXPECT_LT(waited, 2100ms);
}

TEST_F(redisson_rw_clients, renewals_of_the_living_keep_no_dead_reader) {
  read_by_another("5000");
  std::vector<client> clients;
  std::vector<lease> shares;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(world.open("layout=redisson-rw"));
    shares.push_back(shared_mutex(clients.back(), "job").acquire_shared());
  }
  pass(5min);
  for (const lease& share : shares) EXPECT_TRUE(share.held());
  EXPECT_EQ(world.command({"EXISTS", hold_of(thread_of_redisson)}), ":0\r\n");
  at(1s, [&] { shares.clear(); });
  EXPECT_LT(until_writer(m), 1100ms);
}

TEST_F(redisson_rw_clients, a_short_lease_of_a_reader_ends_without_the_others) {
  const acquire_options brief{.ttl = 3s, .renew = renewal::manual};
  lease long_one = m.acquire_shared({.ttl = 10s, .renew = renewal::manual});
  const lease short_one = n.acquire_shared(brief);
  pass(4s);
  EXPECT_FALSE(short_one.held());
  EXPECT_TRUE(long_one.held());
  const client third = world.open("layout=redisson-rw");
  const base::duration waited = until_writer(shared_mutex(third, "job"));
  EXPECT_GT(waited, 5s);
  EXPECT_LT(waited, 6100ms);
}

TEST_F(redisson_rw_clients, a_hold_that_was_taken_is_lost_and_its_release_harms_nobody) {
  lease share = m.acquire_shared();
  world.command({"DEL", "job"});
  written_by_another("60000");
  pass(15s);
  EXPECT_EQ(share.status(), errc::lost);
  share.unlock();
  pass(0s);
  EXPECT_EQ(mode(), "$5\r\nwrite\r\n");
}

TEST_F(redisson_rw_clients, an_attempt_whose_answer_is_lost_leaves_one_hold) {
  int cuts = 3;
  world.changed = [&](std::string bytes) {
    const bool is_grant = bytes.find("*2\r\n:1\r\n") != bytes.npos;
    return is_grant && cuts-- > 0 ? std::string("no reply\r\n") : bytes;
  };
  lease share = m.acquire_shared();
  EXPECT_LT(cuts, 1);
  EXPECT_EQ(world.command({"HLEN", "job"}), ":2\r\n");
  share.release();
  EXPECT_TRUE(is_free());
  cuts = 2;
  lease writer = m.acquire();
  writer.release();
  EXPECT_TRUE(is_free());
  EXPECT_TRUE(c.close());
}

TEST_F(redisson_rw_clients, another_type_of_lock_under_the_name_is_refused) {
  const client of_lock = world.open("layout=redisson"), of_string = world.open();
  mutex rlock(of_lock, "job"), text(of_string, "job");
  lease held = rlock.acquire();
  EXPECT_EQ(thrown_by([&] { (void)m.try_acquire(); }), errc::mismatch);
  EXPECT_EQ(thrown_by([&] { (void)m.acquire_shared(); }), errc::mismatch);
  EXPECT_EQ(thrown_by([&] { (void)c.holders("job"); }), errc::mismatch);
  EXPECT_TRUE(c.list().empty());
  held.release();
  held = m.acquire();
  EXPECT_EQ(thrown_by([&] { (void)rlock.try_acquire(); }), errc::mismatch);
  EXPECT_EQ(of_lock.holders("job").size(), 1u) << "its family has readers and writers";
  held.release();
  held = text.acquire();
  EXPECT_EQ(thrown_by([&] { (void)m.acquire(); }), errc::mismatch);
}

TEST_F(redisson_rw_clients, holders_are_shown_and_broken_each_on_its_side) {
  lease writer = m.acquire();
  auto found = c.holders("job");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].owner, writer.owner());
  EXPECT_EQ(found[0].mode, lock_mode::exclusive);
  EXPECT_GT(found[0].expires_in, 20s);
  EXPECT_FALSE(d.break_lock("job", "somebody"));
  at(1s, [&] { EXPECT_TRUE(d.break_lock("job", found[0].owner)); });
  EXPECT_LT(until_reader(n), 1100ms);
  writer.unlock();
  lease share = m.acquire_shared();
  read_by_another("60000");
  EXPECT_EQ(c.holders("job").size(), 2u);
  EXPECT_EQ(c.list("").size(), 2u);
  EXPECT_TRUE(d.break_lock("job", share.owner()));
  found = c.holders("job");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].owner, thread_of_redisson);
  EXPECT_TRUE(d.break_lock("job", found[0].owner));
  EXPECT_TRUE(is_free());
}

TEST_F(redisson_rw_clients, mutexes_are_writers_and_there_are_no_permits) {
  mutex w(c, "job");
  recursive_mutex r(d, "job");
  lease held = w.acquire();
  EXPECT_EQ(mode(), "$5\r\nwrite\r\n");
  EXPECT_FALSE(r.try_acquire());
  held.release();
  EXPECT_TRUE(r.try_acquire());
  EXPECT_EQ(thrown_by([&] { (void)semaphore(c, "permits", 2).acquire(); }), errc::unsupported);
  EXPECT_TRUE(c.features().shared);
  EXPECT_EQ(thrown_by([&] { (void)mutex(c, "a}b").acquire(); }), errc::bad_name);
}

}  // namespace
}  // namespace holdfast::redis::redisson_rw
