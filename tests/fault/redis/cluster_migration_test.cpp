// Slots of a Redis Cluster move to another master while their locks are held and waited for.
#include <gmock/gmock.h>

#include "cluster_fixture.hpp"
#include "tests/stress/participant.hpp"

namespace holdfast::redis_test {
namespace {

class redis_cluster_migration : public on_cluster {
 protected:
  void SetUp() override {
    on_cluster::SetUp();
    if (IsSkipped()) return;
    c_.emplace(masters_only);
    slot_ = c_->slot_of("x");
    from_ = c_->master_of_slot(slot_);
    to_ = (from_ + 1) % c_->server_count();
  }
  client open(const std::string& more = "ttl=10m") { return on_cluster::open(*c_, more); }
  redis_server& source() { return c_->server(from_); }
  redis_server& target() { return c_->server(to_); }

  // The steps of a move of x's slot.
  void mark() { c_->mark_migrating(slot_, from_, to_); }
  void move_keys() { c_->move_keys(c_->keys_of_slot(slot_, from_), from_, to_); }
  void finish() {
    move_keys();
    c_->finish_move(slot_, from_, to_);
    c_->wait_until_moved(slot_, to_);
  }
  void move() {
    mark();
    finish();
  }
  // As far as a test of its own wants it: only the mark, one of the keys, all of them.
  enum class extent : unsigned char { mark, lock, all };
  static constexpr extent extents[] = {extent::mark, extent::lock, extent::all};
  void begin(extent e) {
    mark();
    if (e == extent::lock) c_->move_keys({"x"}, from_, to_);
    if (e == extent::all) move_keys();
  }
  // The slot moves on: the next move begins where this one has ended.
  void turn() {
    from_ = to_;
    to_ = (to_ + 1) % c_->server_count();
  }

  std::optional<cluster_servers> c_;
  int slot_ = 0;
  std::size_t from_ = 0, to_ = 0;
};

TEST_F(redis_cluster_migration, a_holder_keeps_its_lock_and_renews_it_at_the_new_master) {
  const auto mine = open(), other = open();
  auto held = mine.mutex("x").acquire();
  for (const extent e : extents) {
    begin(e);
    expect_held(held);
    expect_not_granted(other);
    finish();
    EXPECT_TRUE(is_kept(target()));
    expect_renewable_at(target(), held, 20min);
    EXPECT_FALSE(other.mutex("x").try_acquire());
    turn();
  }
}

// Each client knows the former master only.
TEST_F(redis_cluster_migration, tokens_grow_as_the_slot_moves) {
  const auto mine = open(), other = open();
  std::int64_t last = token_of_next(mine);
  for (int i = 0; i < 6; ++i) {
    for (const client& each : {other, mine}) {
      const auto token = token_of_next(each);
      EXPECT_GT(token, last) << i;
      last = token;
    }
    move();
    turn();
  }
  EXPECT_GT(token_of_next(other), last);
}

// The client hears of it by a redirection.
TEST_F(redis_cluster_migration, a_slot_that_has_moved_is_no_trouble) {
  std::string log;
  {
    const auto c = client::open(c_->url(), logging_to(log));
    const std::int64_t before = token_of_next(c);
    move();
    EXPECT_GT(token_of_next(c), before);
  }
  EXPECT_EQ(log, "");
}

TEST_F(redis_cluster_migration, the_locks_of_every_layout_are_kept_and_released) {
  for (const std::string layout : layouts_of_a_cluster) {
    const std::string name = "{x}." + layout;
    const auto mine = open("ttl=10m&layout=" + layout), other = open("ttl=10m&layout=" + layout);
    auto held = mine.mutex(name).acquire();
    move();
    EXPECT_FALSE(other.mutex(name).try_acquire()) << layout;
    expect_renewable_at(target(), held, 20min, name);
    auto next = next_lease(other, name);
    held.release();
    EXPECT_TRUE(next.get()) << layout;
    turn();
  }
}

TEST_F(redis_cluster_migration, readers_and_permits_are_kept) {
  const auto mine = open(), other = open();
  auto reads = mine.shared_mutex("x").acquire_shared();
  auto permit = mine.semaphore("{x}.permits", 1).acquire();
  move();
  for (lease* each : {&reads, &permit}) {
    std::error_code ec;
    each->extend(20min, ec);
    EXPECT_FALSE(ec) << each->name() << ": " << ec.message();
  }
  EXPECT_FALSE(other.shared_mutex("x").try_acquire());
  EXPECT_FALSE(other.semaphore("{x}.permits", 1).try_acquire());
  EXPECT_TRUE(other.shared_mutex("x").try_acquire_shared());
  reads.release();
  permit.release();
  EXPECT_TRUE(other.shared_mutex("x").try_acquire_for(in_bounds));
  EXPECT_TRUE(other.semaphore("{x}.permits", 1).try_acquire_for(in_bounds));
}

TEST_F(redis_cluster_migration, a_waiter_is_served_by_a_release_at_the_new_master) {
  const auto mine = open(), other = open();
  for (int i = 0; i < 3; ++i) {
    auto held = mine.mutex("x").acquire();
    auto next = next_lease(other);
    EXPECT_TRUE(eventually_queued(source(), 1));
    move();
    const auto token = held.token();
    held.unlock();
    EXPECT_GT(next.get().token(), token);
    turn();
  }
}

// A waiter with a subscription tries again 15 s after its last attempt at the earliest: only a
// message wakes it before.
TEST_F(redis_cluster_migration, a_waiter_of_redisson_is_woken_by_a_message_of_the_new_master) {
  if (!testkit::tested_redis().is_at_least(7, 0))
    GTEST_SKIP() << "skipped: this server has no sharded channels";
  const std::string name = "{x}.permits", layout = "ttl=10m&layout=redisson";
  const auto mine = open(layout), other = open(layout);
  const auto eventually_subscribed_at = [&](redis_server& s) {
    return eventually([&] {
      const auto counts = s.command({"PUBSUB", "SHARDNUMSUB", "redisson_sc:" + name});
      return counts.items.size() == 2 && counts.items[1].number == 1;
    });
  };
  auto held = mine.semaphore(name, 1).acquire();
  auto next = std::async(std::launch::async,
                         [s = other.semaphore(name, 1)] { return s.try_acquire_for(2min); });
  EXPECT_TRUE(eventually_subscribed_at(source()));
  move();
  EXPECT_TRUE(eventually_subscribed_at(target()));
  const auto released = std::chrono::steady_clock::now();
  held.release();
  EXPECT_TRUE(next.get());
  EXPECT_LT(std::chrono::steady_clock::now() - released, 10s);
}

TEST_F(redis_cluster_migration, a_release_amid_the_move_takes_effect) {
  const auto mine = open(), other = open();
  for (const bool is_awaited : {false, true})
    for (const extent e : extents) {
      auto held = mine.mutex("x").acquire();
      std::future<lease> next;
      if (is_awaited) {
        next = next_lease(other);
        EXPECT_TRUE(eventually_queued(source(), 1));
      }
      const auto token = held.token();
      begin(e);
      held.unlock();
      finish();
      if (!is_awaited) next = next_lease(other);
      EXPECT_GT(next.get().token(), token);
      turn();
    }
}

// No script can run: some of its keys are absent at either master.
TEST_F(redis_cluster_migration, an_attempt_amid_the_move_is_granted_after_it) {
  const auto mine = open(), other = open();
  for (const bool is_used_before : {false, true}) {
    const auto before = is_used_before ? token_of_next(other) : 0;
    mark();
    move_keys();
    auto next = next_lease(mine);
    expect_not_granted(other);
    EXPECT_EQ(next.wait_for(0s), std::future_status::timeout);
    finish();
    EXPECT_GT(next.get().token(), before);
    turn();
  }
}

TEST_F(redis_cluster_migration, an_extension_amid_the_move_harms_no_lease) {
  const auto mine = open(), other = open();
  auto held = mine.mutex("x").acquire();
  for (const extent e : extents) {
    begin(e);
    auto extension = std::async(std::launch::async, [&] {
      std::error_code ec;
      held.extend(20min, ec);
      return ec;
    });
    finish();
    const std::error_code ec = extension.get();
    EXPECT_TRUE(!ec || ec == errc::outcome_unknown || ec == errc::unavailable) << ec.message();
    expect_renewable_at(target(), held, 30min);
    EXPECT_FALSE(other.mutex("x").try_acquire());
    turn();
  }
}

// No call of its own informs it: the holder's lease ends by its ttl.
TEST_F(redis_cluster_migration, a_client_that_only_waits_is_served_at_the_new_master) {
  const auto mine = open("ttl=5s&renew=0"), other = open();
  const auto held = mine.mutex("x").acquire();
  auto next = next_lease(other);
  EXPECT_TRUE(eventually_queued(source(), 1));
  move();
  const lease got = next.get();
  EXPECT_GT(got.token(), held.token());
  EXPECT_TRUE(is_kept(target()));
}

TEST_F(redis_cluster_migration, renewals_go_on_at_the_new_master) {
  constexpr auto ttl = 6s;
  const auto mine = open("ttl=6s"), other = open();
  const auto held = mine.mutex("x").acquire();
  const auto first = held.expires();
  move();
  EXPECT_TRUE(eventually([&] { return !held.held() || held.expires() > first + ttl; }));
  expect_held(held);
  expect_safe(held, target(), "x");
  EXPECT_FALSE(other.mutex("x").try_acquire());
}

TEST_F(redis_cluster_migration, several_locks_are_released_while_a_slot_of_theirs_moves) {
  const auto mine = open(), other = open();
  auto all = mine.acquire_all({"x", "{x}.2", "y", "z"});
  mark();
  for (const std::string name : {"x", "{x}.2", "y", "z"}) expect_not_granted(other, name);
  move_keys();
  all.unlock();
  finish();
  EXPECT_TRUE(other.try_acquire_all_for({"z", "y", "{x}.2", "x"}, in_bounds));
}

TEST_F(redis_cluster_migration, a_list_and_a_break_follow_the_slot) {
  const auto mine = open("ttl=5s"), other = open();
  const auto held = mine.mutex("x").acquire();
  ASSERT_EQ(other.holders("x").size(), 1U);
  move();
  std::vector<holder> listed;
  ASSERT_TRUE(eventually([&] { return (listed = other.list()).size() == 1; }));
  EXPECT_EQ(listed.front().name, "x");
  EXPECT_EQ(other.holders("x").size(), 1U);
  EXPECT_TRUE(other.break_lock("x", held.owner()));
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
}

TEST_F(redis_cluster_migration, a_guarded_value_follows_its_slot) {
  const auto mine = open();
  redis_guard guard(mine, "{x}.value");
  auto held = mine.mutex("x").acquire();
  EXPECT_TRUE(guard.write(held, "1"));
  move();
  EXPECT_TRUE(guard.write(held, "2"));
  EXPECT_FALSE(guard.write(held.token() - 1, held.owner(), "3"));
  EXPECT_EQ(target().command({"GET", "{x}.value"}).text, "2");
}

TEST_F(redis_cluster_migration, contenders_exclude_each_other_while_their_slots_move) {
  const auto url = c_->url() + quick + "&ttl=20s";
  contenders all({url, url}, {});
  for (int round = 0; round < 2; ++round)
    for (std::size_t lock = 0; lock < 3; ++lock) {
      slot_ = c_->slot_of(stress::lock_name(lock));
      from_ = c_->master_of_slot(slot_);
      to_ = (from_ + 1 + static_cast<std::size_t>(round)) % c_->server_count();
      all.wait_for_plays(20);
      mark();
      move_keys();
      finish();
    }
  all.wait_for_plays(30);
}

// The replica of the new master has the lock as well.
TEST_F(redis_cluster_migration, a_lock_that_has_moved_survives_the_death_of_its_new_master) {
  c_.emplace();
  const auto mine = open(), other = open();
  auto held = mine.mutex("x").acquire();
  move();
  expect_renewable_at(target(), held, 20min);
  const std::size_t next = kill_master(*c_, to_);
  expect_renewable_at(c_->server(next), held, 30min);
  EXPECT_FALSE(other.mutex("x").try_acquire());
}

}  // namespace
}  // namespace holdfast::redis_test
