// Thousands of claims in line.
#include <sys/mman.h>

#include <array>
#include <memory>
#include <new>

#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_many_waiters : public on_redis {};

constexpr int processes = 8, clients_each = 63, most_locks = 10;
constexpr int waiters_of_a_lock = processes * clients_each;

// In memory that all processes share.
struct lane {
  std::atomic<int> inside{0}, served{0}, wrong{0};
  std::atomic<std::int64_t> last_token{0};

  void visit(const lease& held) {
    if (inside.fetch_add(1) != 0 || !held.held()) ++wrong;
    if (held.token() <= last_token.exchange(held.token())) ++wrong;
    inside.fetch_sub(1);
    ++served;
  }
};
using lanes = std::array<lane, most_locks>;

struct unmap {
  void operator()(lanes* all) const { ::munmap(all, sizeof *all); }
};

std::string name_of(int lock) { return "line/" + std::to_string(lock); }

// Every client of it waits for every lock, each wait on a thread of its own.
void wait_for_all(const std::string& url, int locks, lanes& all) {
  std::vector<client> clients;
  for (int i = 0; i < clients_each; ++i) clients.push_back(client::open(url));
  std::vector<std::jthread> threads;
  for (const client& c : clients) {
    for (int i = 0; i < locks; ++i) {
      threads.emplace_back([&c, &mine = all[static_cast<std::size_t>(i)], i] {
        auto held = c.mutex(name_of(i)).acquire();
        mine.visit(held);
        held.unlock();
      });
    }
  }
}

bool eventually_in_list(redis_server& server, long long n, const std::string& name) {
  return eventually([&] {
    return server.command({"LLEN", "redisson_lock_queue:{" + name + "}"}).number == n;
  });
}

template <class InLine>
void are_served_one_by_one(redis_server& server, const std::string& options, int locks,
                           InLine in_line) {
  void* const memory =
      ::mmap(nullptr, sizeof(lanes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::unique_ptr<lanes, unmap> all(new (memory) lanes);
  std::vector<std::unique_ptr<other_process>> contenders;
  const auto url = server.url() + "?op-timeout=30s&connect-timeout=30s&close-timeout=10s" + options;
  for (int i = 0; i < processes; ++i) {
    contenders.push_back(std::make_unique<other_process>([&](const other_process::line& l) {
      l.hear();
      wait_for_all(url, locks, *all);
    }));
  }
  const client c = client::open(url);
  std::vector<lease> held;
  for (int i = 0; i < locks; ++i) held.push_back(c.mutex(name_of(i)).acquire());
  for (const auto& one : contenders) one->say("go");
  for (int i = 0; i < locks; ++i) ASSERT_TRUE(in_line(name_of(i)));
  for (const lane& one : *all) EXPECT_EQ(one.served, 0);

  const auto t = told_by([&] {
    for (lease& one : held) one.release();
    for (const auto& one : contenders) EXPECT_EQ(one->wait(), 0);
  });
  testing::Test::RecordProperty("milliseconds", static_cast<int>(t.took.count()));
  for (int i = 0; i < locks; ++i) {
    EXPECT_EQ((*all)[static_cast<std::size_t>(i)].served, waiters_of_a_lock);
    EXPECT_EQ((*all)[static_cast<std::size_t>(i)].wrong, 0);
  }
  EXPECT_LT(t.took, 150s) << "a waiter that hears of no release looks again after 30 s";
}

TEST_F(redis_many_waiters, five_thousand_of_five_hundred_clients_are_served_one_by_one) {
  redis_server server;
  are_served_one_by_one(server, "", most_locks, [&](const std::string& name) {
    return eventually_queued(server, waiters_of_a_lock, name);
  });
  expect_nothing_left(server);
}

TEST_F(redis_many_waiters, five_hundred_of_a_fair_lock_are_served_one_by_one) {
  redis_server server;
  are_served_one_by_one(server, "&layout=redisson-fair", 1, [&](const std::string& name) {
    return eventually_in_list(server, waiters_of_a_lock, name);
  });
  EXPECT_EQ(server.command({"KEYS", "*"}).items.size(), 1u) << "the counter";
}

}  // namespace
}  // namespace holdfast::redis_test
