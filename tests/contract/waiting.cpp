#include <vector>

#include "behaviour.hpp"

namespace contract {
namespace {

using acquiring = caller<std::int64_t>;  // the token that was granted, 0 for none

void a_waiter_gets_the_lock_when_it_is_released(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lease = on.lock(client).acquire();
  ASSERT_EQ(other->ask("acquire job"), "calling");
  ASSERT_TRUE(falls_asleep(other->process(), other->thread()));
  EXPECT_TRUE(other->answers_nothing_yet());
  lease.unlock();
  EXPECT_NE(token_of(other->receive(generous)), 0);
}

void a_timed_waiter_gets_the_lock_in_time(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lease = on.lock(client).acquire();
  ASSERT_EQ(other->ask("acquire job 600000"), "calling");
  ASSERT_TRUE(falls_asleep(other->process(), other->thread()));
  lease.unlock();
  EXPECT_NE(token_of(other->receive(generous)), 0);
}

void waiters_of_one_client_are_served_in_order(fixture& on) {
  constexpr int count = 8;
  const auto client = on.client();
  auto lock = on.lock(client);
  auto lease = lock.acquire();
  std::mutex order_mutex;
  std::vector<int> order;
  std::vector<std::unique_ptr<acquiring>> waiters;
  for (int i = 0; i < count; ++i) {
    waiters.push_back(std::make_unique<acquiring>([&, i] {
      const auto mine = lock.acquire();
      const std::lock_guard guard(order_mutex);
      order.push_back(i);
      return mine.token();
    }));
    ASSERT_TRUE(waiters.back()->waits());
  }
  lease.unlock();
  for (auto& waiter : waiters) ASSERT_TRUE(waiter->comes_back());
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
}

void a_thousand_waiters_are_all_served(fixture& on) {
  constexpr int clients = 4;
  constexpr int waiters = 250;
  std::vector<holdfast::client> all;
  std::vector<any_lock> locks;
  for (int i = 0; i < clients; ++i) {
    all.push_back(on.client());
    locks.push_back(on.lock(all.back()));
  }
  auto lease = locks[0].acquire();
  // Two clients share no memory that would tell a checker of races of the order of their turns.
  std::atomic<std::int64_t> served = 0, last = lease.token();
  std::atomic<bool> grown = true;
  std::vector<std::jthread> contenders;
  for (int i = 0; i < clients * waiters; ++i) {
    contenders.emplace_back([&, &lock = locks[i % clients]] {
      const auto mine = lock.acquire();
      served.store(served.load() + 1);
      if (!on.is_later(mine.token(), last.load())) grown = false;
      last.store(mine.token());
    });
  }
  lease.unlock();
  contenders.clear();
  EXPECT_EQ(served, clients * waiters);
  EXPECT_TRUE(grown);
}

// A sanitizer sees in the first turns what it sees in all.
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
constexpr int turns_of_each_worker = 25;
#else
constexpr int turns_of_each_worker = 100;
#endif

// The worker's answer; "" when nobody has counted for as long as a wait may take.
std::string answer_of_counter(contender& worker, int file) {
  std::int64_t before = -1, now[2] = {};
  for (;; before = now[1]) {
    if (std::string answer = worker.receive(generous); !answer.empty()) return answer;
    if (::pread(file, now, sizeof now, 0) != ssize_t{sizeof now} || now[1] == before) return "";
  }
}

void sixteen_workers_count_without_a_fault(fixture& on) {
  constexpr int workers = 16;
  constexpr int times = turns_of_each_worker;
  char path[] = "/tmp/holdfast-count-XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_GE(file, 0);
  std::int64_t words[2] = {};
  EXPECT_EQ(::pwrite(file, words, sizeof words, 0), ssize_t{sizeof words});
  std::vector<std::unique_ptr<contender>> all;
  for (int i = 0; i < workers; ++i) all.push_back(on.peer());
  for (auto& one : all) one->send("count job " + std::to_string(times) + " " + path);
  for (auto& one : all) EXPECT_EQ(answer_of_counter(*one, file), "ok");
  EXPECT_EQ(::pread(file, words, sizeof words, 0), ssize_t{sizeof words});
  EXPECT_EQ(words[1], workers * times);
  ::close(file);
  ::unlink(path);
}

}  // namespace

behaviours waiting() {
  return {
      CONTRACT_BEHAVIOUR(11, a_waiter_gets_the_lock_when_it_is_released, in_both, on_both_sides,
                         nothing),
      CONTRACT_BEHAVIOUR(12, a_timed_waiter_gets_the_lock_in_time, in_both, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(13, waiters_of_one_client_are_served_in_order, in_threads, one_at_a_time,
                         nothing),
      CONTRACT_BEHAVIOUR(14, a_thousand_waiters_are_all_served, in_threads, one_at_a_time, time),
      CONTRACT_BEHAVIOUR(15, sixteen_workers_count_without_a_fault, in_both, one_at_a_time, time),
  };
}

}  // namespace contract
