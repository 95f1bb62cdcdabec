#include "tests/interop/redisson/table.hpp"

#include <cstdio>
#include <thread>

#include "tests/fault/file/fixture.hpp"

namespace holdfast::redisson_test {
namespace {

using namespace std::chrono_literals;
using file_test::eventually;

constexpr milliseconds long_lease{60s}, long_before_its_end{30s}, short_lease{400};

std::string ms_text(clock::duration d) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", std::chrono::duration<double, std::milli>(d).count());
  return text;
}

}  // namespace

void direction::add(const std::string& what, const std::string& result) const {
  into.add(types, holder.name(), waiter.name(), what, result);
}

void direction::add(const std::string& what, clock::duration d) const { add(what, ms_text(d)); }

std::shared_future<clock::time_point> direction::asleep() const {
  auto waiting = waiter.wait();
  const auto subscribed = [this] {
    const auto channels = server.command({"PUBSUB", "CHANNELS", channel + '*'});
    return !channels.items.empty();
  };
  EXPECT_TRUE(channel.empty() || eventually([&] { return subscribed() && waiter.is_asleep(); }));
  return waiting;
}

void direction::exclusion() const {
  holder.hold(long_lease);
  EXPECT_FALSE(waiter.try_once());
  EXPECT_TRUE(holder.release().was_held);
  EXPECT_TRUE(waiter.try_once());
  add("exclusion", "yes");
}

void direction::wake_up() const {
  holder.hold(long_lease);
  const auto waiting = asleep();
  EXPECT_TRUE(is_pending(waiting));
  const auto r = holder.release();
  EXPECT_TRUE(r.was_held);
  const auto late = waiting.get() - r.begun;
  EXPECT_LT(late, long_before_its_end);
  EXPECT_TRUE(waiter.release().was_held);
  add("wake-up after", late);
}

void direction::expiry() const {
  const auto before = clock::now();
  holder.hold(short_lease);
  const auto waiting = waiter.wait();
  const auto entered = waiting.get();
  EXPECT_GE(entered, before + short_lease - 2ms);  // the server's times are whole milliseconds
  EXPECT_FALSE(holder.release().was_held);
  EXPECT_TRUE(waiter.release().was_held);
  add("expiry, late by", entered - before - short_lease);
}

void direction::watchdog() const {
  holder.hold(renewed);
  const auto waiting = asleep();
  for (int i = 0; i < 3; ++i) {
    long long last = ttl_of(server, "x");
    EXPECT_TRUE(eventually([&] {
      const long long before = std::exchange(last, ttl_of(server, "x"));
      return last > before;
    }));
  }
  EXPECT_TRUE(is_pending(waiting));
  EXPECT_TRUE(holder.release().was_held);
  waiting.get();
  EXPECT_TRUE(waiter.release().was_held);
  add("watchdog", "3 renewals, then free");
}

void direction::forced() const {
  holder.hold(long_lease);
  const auto waiting = asleep();
  const auto begun = clock::now();
  EXPECT_TRUE(waiter.force(holder.type()));
  const auto late = waiting.get() - begun;
  EXPECT_LT(late, long_before_its_end);
  EXPECT_FALSE(holder.release().was_held);
  EXPECT_TRUE(waiter.release().was_held);
  add("forced, after", late);
}

void direction::all() const {
  exclusion();
  wake_up();
  expiry();
  watchdog();
  forced();
}

void count_together(redis_server& server, table& into, const kind& k) {
  constexpr int times = 25, threads = 2;
  server.command({"DEL", "n"});
  const auto theirs = contender_of_redisson(server, k), mine = contender_of_ours(server, k);
  const redisson_client c(server);
  std::vector<call> counting;
  for (int i = 0; i < threads; ++i)
    counting.push_back(
        c.send('t' + std::to_string(i), "count " + k.type + " x n " + std::to_string(times)));
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        const auto one = contender_of_ours(server, k);
        auto link = server.link();
        for (int n = 0; n < times; ++n) {
          one->wait().get();
          const auto before = link.command({"GET", "n"}).text;
          link.command({"SET", "n", std::to_string(before.empty() ? 1 : std::stoi(before) + 1)});
          EXPECT_TRUE(one->release().was_held);
        }
      });
    }
  }
  for (const call& one : counting) EXPECT_EQ(redisson_test::text_of(one.wait()), "");
  const std::string sum = server.command({"GET", "n"}).text;
  EXPECT_EQ(sum, std::to_string(2 * threads * times));
  into.add(k.type, mine->name(), theirs->name(), "counted together", sum);
}

}  // namespace holdfast::redisson_test
