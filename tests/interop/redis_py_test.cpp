// redis-py's Lock and holdfast exclude each other: the same key, and nobody's grant is touched.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <thread>

#include "testkit/eventually.hpp"
#include "testkit/servers/redis_server.hpp"
#include "tests/interop/python_peer.hpp"

namespace holdfast::interop_test {
namespace {

using namespace std::chrono_literals;
using testkit::eventually;
using testkit::redis_server;

class redis_py : public testing::Test {
 protected:
  void SetUp() override {
    if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
    static const bool has_package = has_python_package("redis");
    if (!has_package) GTEST_SKIP() << "skipped: python3-redis is not installed";
  }
};

struct peer : python_peer {
  explicit peer(const redis_server& s) : python_peer("redis_py_peer.py", s.port()) {}
};

struct both {
  redis_server server;
  peer theirs{server};
  client mine = client::open(server.url() + "?ttl=6s");
  holdfast::mutex lock = mine.mutex("x");

  long long left() { return server.command({"PTTL", "x"}).number; }
};

void waits_for_theirs(both& on, const std::string& ttl) {
  EXPECT_EQ(on.theirs.ask("acquire x " + ttl), "ok");
  const auto value = on.server.command({"GET", "x"}).text;
  EXPECT_FALSE(on.lock.try_acquire());
  EXPECT_FALSE(on.lock.try_acquire_for(300ms));
  EXPECT_EQ(on.server.command({"GET", "x"}).text, value);
  EXPECT_EQ(on.left() == -1, ttl == "-");
  lease held;
  std::jthread waiter([&] { held = on.lock.acquire(); });
  EXPECT_TRUE(eventually([&] {
    return on.server.command({"ZCARD", "holdfast:{x}:x:q"}).number == 1;
  }));
  EXPECT_EQ(on.theirs.ask("held x"), "yes");
  EXPECT_EQ(on.theirs.ask("release x"), "ok");
  waiter.join();  // redis-py tells nobody: it is asked for
  EXPECT_TRUE(held.held());
  EXPECT_EQ(on.theirs.ask("try x 5"), "busy");
  held.release();
  EXPECT_EQ(on.theirs.ask("try x 5"), "ok");
}

TEST_F(redis_py, with_its_ttl_is_waited_for) {
  both on;
  waits_for_theirs(on, "30");
}

TEST_F(redis_py, without_a_ttl_is_waited_for) {
  both on;
  waits_for_theirs(on, "-");
}

void they_wait_for_ours(both& on, const std::string& ttl) {
  auto held = on.lock.acquire();
  EXPECT_EQ(on.theirs.ask("try x " + ttl), "busy");
  on.theirs.say("acquire x " + ttl);
  const auto first = held.expires();
  EXPECT_TRUE(eventually([&] { return held.expires() > first; }));  // renewed under their eyes
  EXPECT_TRUE(held.held());
  held.release();
  EXPECT_EQ(on.theirs.hear(), "ok");
  EXPECT_FALSE(on.lock.try_acquire());
  EXPECT_EQ(on.left() == -1, ttl == "-");
  EXPECT_EQ(on.theirs.ask("release x"), "ok");
  EXPECT_TRUE(on.lock.try_acquire_for(30s));
}

TEST_F(redis_py, with_its_ttl_waits_for_ours) {
  both on;
  they_wait_for_ours(on, "30");
}

TEST_F(redis_py, without_a_ttl_waits_for_ours) {
  both on;
  they_wait_for_ours(on, "-");
}

TEST_F(redis_py, that_was_killed_is_followed_when_its_ttl_is_over) {
  both on;
  EXPECT_EQ(on.theirs.ask("acquire x 5"), "ok");
  on.theirs.kill();
  EXPECT_FALSE(on.lock.try_acquire());
  const auto held = on.lock.acquire();
  EXPECT_TRUE(held.held());
}

TEST_F(redis_py, that_is_late_does_not_release_or_extend_ours) {
  both on;
  EXPECT_EQ(on.theirs.ask("acquire x 0.05"), "ok");
  auto held = on.lock.acquire();
  EXPECT_EQ(on.theirs.ask("release x"), "not ours");
  EXPECT_EQ(on.theirs.ask("try x 5"), "busy");
  EXPECT_TRUE(held.held());
  EXPECT_GT(on.left(), 0);
  held.release();
}

TEST_F(redis_py, takes_over_when_ours_is_lost_and_ours_leaves_it_alone) {
  both on;
  auto held = on.lock.acquire({.ttl = 100ms, .renew = renewal::manual});
  on.theirs.say("acquire x 30");
  EXPECT_EQ(on.theirs.hear(), "ok");
  EXPECT_FALSE(held.held());
  std::error_code ec;
  held.release(ec);
  EXPECT_EQ(ec, outcome::lost);
  EXPECT_EQ(on.theirs.ask("held x"), "yes");
  EXPECT_EQ(on.theirs.ask("extend x 20"), "ok");
}

TEST_F(redis_py, and_threads_of_ours_lose_no_update_between_them) {
  constexpr int times = 60;
  both on;
  peer more(on.server);
  on.theirs.say("count x n " + std::to_string(times));
  more.say("count x n " + std::to_string(times));
  std::vector<std::jthread> contenders;
  for (int i = 0; i < 4; ++i) {
    contenders.emplace_back([&, i] {
      const auto c = client::open(on.server.url());
      const auto m = i % 2 ? c.mutex("x") : on.mine.mutex("x");
      auto link = on.server.link();
      for (int n = 0; n < times; ++n) {
        auto held = m.acquire();
        const auto before = link.command({"GET", "n"}).text;
        link.command({"SET", "n", std::to_string(before.empty() ? 1 : std::stoi(before) + 1)});
        held.release();
      }
    });
  }
  EXPECT_EQ(on.theirs.hear(), "ok");
  EXPECT_EQ(more.hear(), "ok");
  contenders.clear();
  EXPECT_EQ(on.server.command({"GET", "n"}).text, std::to_string(6 * times));
}

}  // namespace
}  // namespace holdfast::interop_test
