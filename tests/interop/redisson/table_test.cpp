// holdfast and the real Redisson on one lock: each type of lock, in both directions.
#include <algorithm>

#include "testkit/eventually.hpp"
#include "tests/interop/redisson/table.hpp"

namespace holdfast::redisson_test {
namespace {

using namespace std::chrono_literals;
using testkit::eventually;

class redisson_table : public with_redisson {
 protected:
  template <class Check>
  void both_ways(table& into, const kind& held, const kind& wanted, const std::string& channel,
                 Check check) {
    redisson_test::both_ways(server_, into, held, wanted, channel, check);
  }

  redis_server server_;
};

const std::string lock_channel = "redisson_lock__channel:{x}";
const auto everything = [](const direction& d) { d.all(); };

TEST_F(redisson_table, lock) {
  table into("redisson");
  for (const kind& k : {kind{"lock", "redisson"}, kind{"fenced", "redisson"}}) {
    both_ways(into, k, k, lock_channel, everything);
    count_together(server_, into, k);
  }
  const kind recursive{"lock", "redisson", 0, true};
  both_ways(into, recursive, recursive, lock_channel, [](const direction& d) {
    d.exclusion();
    d.wake_up();
  });
}

// The next attempt of the same client directly after its release would leave Redisson no moment.
TEST_F(redisson_table, locks_of_busy_threads_of_ours_are_left_to_redisson_now_and_then) {
  const redisson_client theirs(server_);
  for (const kind& k :
       {kind{"lock", "redisson"}, kind{"spin", "redisson-spin"}, kind{"write", "redisson-rw"}}) {
    const auto mine = client::open(server_.url() + "?turns=8&layout=" + k.layout);
    std::vector<std::jthread> busy;
    for (int i = 0; i < 4; ++i) {
      busy.emplace_back([&](const std::stop_token& s) {
        auto m = mine.mutex("x");
        while (!s.stop_requested()) const std::lock_guard guard(m);
      });
    }
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(theirs.ask("t", "try " + k.type + " x 30000 60000"), "true") << k.layout;
      EXPECT_EQ(theirs.ask("t", "unlock " + k.type + " x"), "") << k.layout;
    }
  }
}

TEST_F(redisson_table, fenced_locks_of_both_grow_one_counter) {
  const auto mine = client::open(server_.url() + "?layout=redisson");
  const redisson_client theirs(server_);
  const auto counter = [this] { return server_.command({"GET", "redisson_lock_token:{x}"}).text; };
  std::int64_t last = 0, last_of_ours = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(theirs.ask("t", "lock fenced x 60000"), "");
    EXPECT_EQ(theirs.ask("t", "token fenced x"), counter());
    EXPECT_GT(std::stoll(counter()), std::exchange(last, std::stoll(counter())));
    EXPECT_EQ(theirs.ask("t", "unlock fenced x"), "");
    const auto held = mine.mutex("x").acquire();
    EXPECT_GT(std::stoll(counter()), std::exchange(last, std::stoll(counter())));
    EXPECT_GT(held.token(), std::exchange(last_of_ours, held.token()));
  }
}

TEST_F(redisson_table, spin) {
  table into("redisson-spin");
  const kind k{"spin", "redisson-spin"};
  both_ways(into, k, k, "", everything);
  count_together(server_, into, k);
}

TEST_F(redisson_table, fair) {
  table into("redisson-fair");
  const kind k{"fair", "redisson-fair"};
  both_ways(into, k, k, lock_channel, everything);
  count_together(server_, into, k);
}

TEST_F(redisson_table, fair_waiters_of_both_are_served_in_the_order_of_their_arrival) {
  table into("redisson-fair");
  const kind k{"fair", "redisson-fair"};
  std::vector<std::unique_ptr<contender>> all;
  for (int i = 0; i < 6; ++i)
    all.push_back(i % 2 ? contender_of_ours(server_, k) : contender_of_redisson(server_, k));
  all.front()->hold(60s);
  std::vector<std::shared_future<clock::time_point>> waiting(1);
  for (std::size_t i = 1; i < all.size(); ++i) {
    waiting.push_back(all[i]->wait());
    EXPECT_TRUE(eventually([&] {
      const auto queued = server_.command({"LLEN", "redisson_lock_queue:{x}"}).number;
      return queued == static_cast<long long>(i);
    }));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) waiting[i].get();
    for (std::size_t later = i + 1; later < all.size(); ++later)
      EXPECT_TRUE(is_pending(waiting[later])) << later << " entered before " << i;
    EXPECT_TRUE(all[i]->release().was_held);
  }
  into.add("fair", all[0]->name(), all[1]->name(), "in turns", "5 waiters in order");
}

TEST_F(redisson_table, rw) {
  table into("redisson-rw");
  const std::string channel = "redisson_rwlock:{x}";
  const kind write{"write", "redisson-rw"}, read{"read", "redisson-rw"};
  both_ways(into, write, write, channel, everything);
  both_ways(into, write, read, channel, everything);
  both_ways(into, read, write, channel, everything);
  count_together(server_, into, write);
  both_ways(into, read, read, channel, [](const direction& d) {
    d.holder.hold(60s);
    EXPECT_TRUE(d.waiter.try_once());
    d.waiter.hold(60s);
    EXPECT_TRUE(d.holder.release().was_held);
    EXPECT_TRUE(d.waiter.release().was_held);
    d.add("shared", "yes");
  });
}

TEST_F(redisson_table, rw_downgrade_admits_the_readers_of_the_other) {
  table into("redisson-rw");
  const kind write{"write", "redisson-rw"}, read{"read", "redisson-rw"};
  both_ways(into, write, read, "redisson_rwlock:{x}", [](const direction& d) {
    d.holder.hold(renewed);
    const auto waiting = d.asleep();
    const auto begun = clock::now();
    d.holder.downgrade();
    const auto entered = waiting.get();
    EXPECT_TRUE(d.holder.release().was_held);
    EXPECT_TRUE(d.waiter.release().was_held);
    d.add("downgrade, after", entered - begun);
  });
}

TEST_F(redisson_table, permits) {
  table into("redisson-permits");
  const kind k{"permits", "redisson-permits", 1};
  const redisson_client creator(server_);
  const auto each = [&](const direction& d) {
    EXPECT_EQ(creator.ask("t", "create permits x 1"), "true");
    d.exclusion();
    d.wake_up();
    d.expiry();
    EXPECT_EQ(creator.ask("t", "free permits x"), "1");
    server_.command({"DEL", "x", "{x}:timeout"});
  };
  both_ways(into, k, k, "redisson_sc:{x}", each);
}

TEST_F(redisson_table, permits_are_divided_among_the_clients_of_both) {
  table into("redisson-permits");
  const kind k{"permits", "redisson-permits", 2};
  const redisson_client creator(server_);
  EXPECT_EQ(creator.ask("t", "create permits x 2"), "true");
  const auto mine = contender_of_ours(server_, k), more = contender_of_ours(server_, k);
  const auto theirs = contender_of_redisson(server_, k), others = contender_of_redisson(server_, k);
  mine->hold(60s);
  theirs->hold(60s);
  EXPECT_FALSE(more->try_once());
  EXPECT_FALSE(others->try_once());
  const auto waiting = more->wait();
  EXPECT_TRUE(is_pending(waiting));
  EXPECT_TRUE(theirs->release().was_held);
  waiting.get();
  EXPECT_FALSE(others->try_once());
  EXPECT_TRUE(mine->release().was_held);
  EXPECT_TRUE(others->try_once());
  EXPECT_TRUE(more->release().was_held);
  EXPECT_EQ(creator.ask("t", "free permits x"), "2");
  into.add("permits", mine->name(), theirs->name(), "2 among 4", "never 3");
}

}  // namespace
}  // namespace holdfast::redisson_test
