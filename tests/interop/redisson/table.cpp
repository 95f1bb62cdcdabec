#include "tests/interop/redisson/table.hpp"

#include <cstdio>
#include <thread>

#include "testkit/eventually.hpp"

namespace holdfast::redisson_test {
namespace {

using namespace std::chrono_literals;
using testkit::eventually;

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
    const std::string listing = on.is_sharded ? "SHARDCHANNELS" : "CHANNELS";
    const auto channels = on.server.command({"PUBSUB", listing, channel + '*'});
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
    long long last = ttl_of(on.server, "x");
    EXPECT_TRUE(eventually([&] {
      const long long before = std::exchange(last, ttl_of(on.server, "x"));
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

void count_together(const deployment& on, table& into, const kind& k) {
  constexpr int times = 25, threads = 2;
  const std::string number = "{x}n";  // in a cluster at the server of the lock
  on.server.command({"DEL", number});
  const auto theirs = contender_of_redisson(on, k), mine = contender_of_ours(on, k);
  const redisson_client c(on);
  std::vector<call> counting;
  for (int i = 0; i < threads; ++i)
    counting.push_back(c.send('t' + std::to_string(i),
                              "count " + k.type + " x " + number + ' ' + std::to_string(times)));
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        const auto one = contender_of_ours(on, k);
        auto link = on.server.link();
        for (int n = 0; n < times; ++n) {
          one->wait().get();
          const auto before = link.command({"GET", number}).text;
          link.command({"SET", number, std::to_string(before.empty() ? 1 : std::stoi(before) + 1)});
          EXPECT_TRUE(one->release().was_held);
        }
      });
    }
  }
  for (const call& one : counting) EXPECT_EQ(redisson_test::text_of(one.wait()), "");
  const std::string sum = on.server.command({"GET", number}).text;
  EXPECT_EQ(sum, std::to_string(2 * threads * times));
  into.add(k.type, mine->name(), theirs->name(), "counted together", sum);
}

}  // namespace holdfast::redisson_test
