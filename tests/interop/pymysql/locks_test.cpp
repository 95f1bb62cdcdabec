// A program that takes named locks and row locks by hand, with PyMySQL, and holdfast exclude each
// other.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <thread>

#include "testkit/eventually.hpp"
#include "testkit/servers/mariadb_server.hpp"
#include "tests/interop/python_peer.hpp"

namespace holdfast::interop_test {
namespace {

using namespace std::chrono_literals;
using testkit::eventually;
using testkit::mariadb_server;

struct pymysql_peer : python_peer {
  explicit pymysql_peer(const mariadb_server& s) : python_peer("pymysql/peer.py", s.port()) {}
};

// How the peer takes and frees the lock "x" of a strategy.
struct by_hand {
  const char *name, *strategy, *kind, *attempt, *wait, *free;
};
constexpr by_hand all_by_hand[] = {
    {"named_mysql", "named", "named", "named x 0", "named x 60", "free x"},
    {"for_update_mysql", "for-update", "row", "row x nowait", "row x wait", "commit"},
};

class pymysql : public testing::TestWithParam<by_hand> {
 protected:
  void SetUp() override {
    if (!mariadb_server::installed()) GTEST_SKIP() << mariadb_server::not_installed;
    static const bool has_package = has_python_package("pymysql");
    if (!has_package) GTEST_SKIP() << "skipped: python3-pymysql is not installed";
    server.emplace();
    mine.emplace(open());
    lock.emplace(mine->mutex("x"));
    lock->acquire().release();  // which creates the row
    theirs.emplace(*server);
  }
  client open() const {
    return client::open(server->url() + "?idle-timeout=4s&strategy=" + GetParam().strategy);
  }
  // Statements of ours or of theirs that wait for the lock.
  bool somebody_waits() {
    return server
               ->query("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER='holdfast' "
                       "AND COMMAND IN ('Query','Execute') AND (INFO LIKE '%GET_LOCK%' OR INFO "
                       "LIKE '%FOR "
                       "UPDATE%')")
               .number() > 0;
  }

  std::optional<mariadb_server> server;
  std::optional<client> mine;
  std::optional<holdfast::mutex> lock;
  std::optional<pymysql_peer> theirs;
};

TEST_P(pymysql, holds_the_lock_and_is_waited_for) {
  EXPECT_EQ(theirs->ask(GetParam().attempt), "ok");
  EXPECT_FALSE(lock->try_acquire());
  lease held;
  std::jthread waiter([&] { held = lock->acquire(); });
  EXPECT_TRUE(eventually([&] { return somebody_waits(); }));
  EXPECT_FALSE(held);
  EXPECT_EQ(theirs->ask(GetParam().free), "ok");
  waiter.join();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(theirs->ask(GetParam().attempt), "busy");
}

TEST_P(pymysql, waits_for_ours_across_heartbeats) {
  lease held = lock->acquire();
  EXPECT_EQ(theirs->ask(GetParam().attempt), "busy");
  theirs->say(GetParam().wait);
  EXPECT_TRUE(eventually([&] { return somebody_waits(); }));
  const auto first = held.expires();
  EXPECT_TRUE(eventually([&] { return held.expires() > first + 4s; }));  // the idle timeout
  EXPECT_TRUE(held.held());
  held.release();
  EXPECT_EQ(theirs->hear(), "ok");
  EXPECT_FALSE(lock->try_acquire());
  EXPECT_EQ(theirs->ask(GetParam().free), "ok");
  EXPECT_TRUE(lock->try_acquire_for(60s));
}

TEST_P(pymysql, that_is_killed_frees_the_lock) {
  EXPECT_EQ(theirs->ask(GetParam().attempt), "ok");
  lease held;
  std::jthread waiter([&] { held = lock->acquire(); });
  EXPECT_TRUE(eventually([&] { return somebody_waits(); }));
  theirs->kill();
  waiter.join();
  EXPECT_TRUE(held.held());
}

TEST_P(pymysql, and_threads_of_ours_lose_no_update_between_them) {
  constexpr int times = 40;
  server->query("CREATE TABLE counter (n INT)");
  server->query("INSERT INTO counter VALUES (0)");
  pymysql_peer more(*server);
  const std::string line = std::string("count ") + GetParam().kind + " x " + std::to_string(times);
  theirs->say(line);
  more.say(line);
  std::vector<std::jthread> contenders;
  for (int i = 0; i < 4; ++i)
    contenders.emplace_back([&, i] {
      const client c = open();
      const holdfast::mutex m = i % 2 ? c.mutex("x") : mine->mutex("x");
      testkit::mariadb_link link = server->link();
      for (int n = 0; n < times; ++n) {
        const lease held = m.acquire();
        const auto before = link.query("SELECT n FROM counter").number();
        link.query("UPDATE counter SET n=" + std::to_string(before + 1));
      }
    });
  EXPECT_EQ(theirs->hear(), "ok");
  EXPECT_EQ(more.hear(), "ok");
  contenders.clear();
  EXPECT_EQ(server->query("SELECT n FROM counter").number(), 6 * times);
}

INSTANTIATE_TEST_SUITE_P(by_hand, pymysql, testing::ValuesIn(all_by_hand),
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace holdfast::interop_test
