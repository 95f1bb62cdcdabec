// Locks at three servers, whose leaders die and stop while locks are held, wanted and released.
#include <atomic>
#include <thread>
#include <vector>

#include "lock_stage.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"

namespace holdfast::zookeeper_test {
namespace {

class zookeeper_locks_on_ensemble : public on_zookeeper {};

TEST_F(zookeeper_locks_on_ensemble, have_one_holder_while_leaders_die_and_stop) {
  testkit::zookeeper_ensemble all;
  constexpr int clients = 4;
  std::vector<client> each;
  for (int i = 0; i < clients; ++i)
    each.push_back(client::open(all.url() + "?session-timeout=4s&op-timeout=30s"));
  std::atomic<bool> ends{false};
  std::atomic<int> believers{0}, overlaps{0}, grants{0};
  std::atomic<std::int64_t> last{0};
  const auto work = [&](client& c, bool waits_shortly) {
    mutex m(c, "x");
    while (!ends) {
      std::error_code why;
      lease l = waits_shortly ? m.try_acquire_for(50ms, {}, why) : m.acquire({}, why);
      if (!l) continue;
      const bool is_second = ++believers > 1;
      const std::int64_t before = last.exchange(l.token());
      // Both looks, and what they look at, lie within the lease.
      if (l.held() && (is_second || before >= l.token())) ++overlaps;
      ++grants;
      --believers;
      l.release(why);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i)
    threads.emplace_back([&, i] { work(each[static_cast<std::size_t>(i)], i % 2 == 1); });
  const auto goes_on = [&] {
    const int before = grants;
    return eventually([&] { return grants > before + 20; });
  };
  EXPECT_TRUE(goes_on());
  const int killed = all.leader();
  all.at(killed).kill_hard();
  EXPECT_TRUE(goes_on()) << "two servers are left";
  all.at(killed).start();
  EXPECT_TRUE(goes_on());
  const int stopped = all.leader();
  all.at(stopped).stop();
  EXPECT_TRUE(goes_on());
  all.at(stopped).go_on();
  EXPECT_TRUE(goes_on());
  ends = true;
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(overlaps, 0);
}

// Without a quorum no lock is believed in for longer than the session, and none is granted.
TEST_F(zookeeper_locks_on_ensemble, are_not_held_at_a_minority) {
  testkit::zookeeper_ensemble all;
  client mine = client::open(all.url() + "?session-timeout=2s&op-timeout=2s");
  mutex a(mine, "x");
  lease held = a.acquire();
  const int first = all.follower();
  all.at(first).kill_hard();
  const int second = all.follower();
  all.at(second).kill_hard();
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  std::error_code why;
  EXPECT_FALSE(bool(mutex(mine, "y").try_acquire_for(1s, {}, why)));
  EXPECT_EQ(why, errc::unavailable);
  all.at(first).start();
  EXPECT_TRUE(bool(mutex(mine, "y").acquire()));
  held.release(why);
  EXPECT_EQ(why, errc::lost);
  EXPECT_TRUE(bool(a.acquire()));
}

}  // namespace
}  // namespace holdfast::zookeeper_test
