// What each strategy keeps, loses and reports when the server, its disk, its clock or the holder's
// process fails.
#include <ctime>
#include <thread>

#include "testkit/eventually.hpp"
#include "testkit/servers/small_disk.hpp"
#include "tests/fault/file/fixture.hpp"
#include "tests/fault/mysql/kinds.hpp"

namespace holdfast::mysql_test {
namespace {

using file_test::other_process;
using testkit::direction;
using testkit::eventually;
using testkit::tcp_proxy;

class mysql_server_faults : public on_kind {
 protected:
  static std::string message_of(const std::function<void()>& f) {
    try {
      f();
      return {};
    } catch (const lock_error& e) {
      return e.what();
    }
  }
};

TEST_P(mysql_server_faults, a_killed_server_keeps_rows_and_frees_what_connections_held) {
  const client mine = client::open(url("ttl=10m")), other = client::open(url());
  std::error_code ec;
  lease held = mine.mutex("job").acquire();
  lease next;
  std::thread waiter([&] { next = other.mutex("job").try_acquire_for(60s); });
  server().restart();
  if (is_pinned()) {
    EXPECT_TRUE(eventually([&] { return !held.held(); })) << "the server freed the lock";
    held.release(ec);
    EXPECT_EQ(ec, errc::lost);
  } else {
    EXPECT_TRUE(eventually([&] {
      held.extend(10min, ec);
      return !ec;
    }));
    EXPECT_FALSE(client::open(url()).mutex("job").try_acquire());
    EXPECT_TRUE(held.held());
    held.release();
  }
  waiter.join();
  ASSERT_TRUE(next);
  EXPECT_GT(next.token(), held.token());
}

// Each connection that was lost is known to be dead, however young it was.
TEST_P(mysql_server_faults, after_a_restart_of_the_server_nothing_has_to_be_withdrawn) {
  client mine = client::open(url("ttl=10m&close-timeout=20s"));
  const lease held = mine.mutex("job").acquire();
  server().restart();
  EXPECT_TRUE(eventually([&] {
    std::error_code ec;
    const lease next = mine.mutex("next").try_acquire({}, ec);
    return next.held();
  }));
  EXPECT_TRUE(mine.close());
}

// A holder in another process is stopped. Before the server frees the lock, its lease has ended:
// held() is false from the first instruction on.
TEST_P(mysql_server_faults, a_holder_that_is_stopped_beyond_the_lifetime_has_lost_the_lock) {
  const std::string short_lived = url(is_pinned() ? "idle-timeout=1s" : "ttl=1s");
  other_process holder([short_lived](const other_process::line& l) {
    const client c = client::open(short_lived);
    const lease held = c.mutex("job").acquire();
    l.say("held");
    l.hear();
    const bool holds = held.held();  // the first thing after the stop
    l.say(holds ? "holds" : "lost");
    l.say(std::to_string(held.expires().time_since_epoch().count()));
  });
  ASSERT_EQ(holder.hear(), "held");
  holder.stop();
  const lease next = client::open(url()).mutex("job").try_acquire_for(60s);
  const auto freed = lease_clock::now();
  ASSERT_TRUE(next);
  holder.say("on");
  holder.go_on();
  EXPECT_EQ(holder.hear(), "lost");
  EXPECT_LT(std::stoll(holder.hear()), freed.time_since_epoch().count());
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_TRUE(next.held());
}

// The same for a holder that no packet reaches any more, and that is not stopped.
TEST_P(mysql_server_faults, a_holder_behind_a_dead_network_has_lost_the_lock_when_it_is_free) {
  tcp_proxy network(server().port());
  const client cut_off =
      client::open(url_at(network.port(), is_pinned() ? "idle-timeout=1s" : "ttl=1s"));
  const client other = client::open(url());
  const lease held = cut_off.mutex("job").acquire();
  network.set_both({.hold = true});
  const lease next = other.mutex("job").try_acquire_for(60s);
  ASSERT_TRUE(next);
  EXPECT_FALSE(held.held());
  EXPECT_GT(next.token(), held.token());
  network.set_both({});
}

// Connections of the pool are closed by the server when they are idle; those that hold a lock
// send heartbeats.
TEST_P(mysql_server_faults, a_wait_timeout_of_the_server_costs_neither_locks_nor_errors) {
  query("SET GLOBAL wait_timeout=1");
  {
    const client mine = client::open(url("ttl=10m&idle-timeout=4s")), other = client::open(url());
    lease held = mine.mutex("job").acquire();
    const auto begun = held.expires();
    if (is_pinned())
      EXPECT_TRUE(eventually([&] { return held.expires() > begun + 4s || !held.held(); }));
    else
      server().wait_until("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE "
                          "USER='holdfast'",
                          "0");
    EXPECT_TRUE(held.held());
    EXPECT_FALSE(other.mutex("job").try_acquire());
    EXPECT_NO_THROW(held.release());
    EXPECT_TRUE(mine.mutex("job").try_acquire());
  }
  query("SET GLOBAL wait_timeout=DEFAULT");
}

class mysql_machine_faults : public mysql_server_faults {};

// The night in which clocks go back from 3:00 to 2:00, on a server of that time zone.
TEST_P(mysql_machine_faults, the_end_of_daylight_saving_time_ends_and_keeps_no_lock) {
  mariadb_server berlin({.time_zone = "Europe/Berlin", .clock_shim = true});
  const auto set_clock_to = [&](std::time_t utc) {
    berlin.set_clock(std::chrono::seconds{utc - std::time(nullptr)});
  };
  constexpr std::time_t end_of_summer = 1792890000, end_of_winter = 1774746000;  // 2026, 1:00 UTC
  for (const std::time_t change : {end_of_winter, end_of_summer}) {
    set_clock_to(change - 100);
    const std::string place = "mysql://holdfast:secret@127.0.0.1:" + std::to_string(berlin.port()) +
                              "/test?ttl=5m&strategy=" + GetParam().strategy;
    const client mine = client::open(place), other = client::open(place);
    const std::string zone = "SELECT TIMEDIFF(NOW(), UTC_TIMESTAMP())";
    const std::string before = berlin.query(zone).text();
    lease held = mine.mutex("job").acquire();
    set_clock_to(change + 100);
    EXPECT_NE(berlin.query(zone).text(), before);
    EXPECT_FALSE(other.mutex("job").try_acquire());
    if (!is_pinned()) {
      EXPECT_NO_THROW(held.extend(5min));
      const auto left = other.holders("job").at(0).expires_in;
      EXPECT_GT(left, 4min);
      EXPECT_LT(left, 6min);
    }
    EXPECT_TRUE(held.held());
    const auto token = held.token();
    held.release();
    EXPECT_GT(other.mutex("job").acquire().token(), token);
  }
}

// Nothing is granted twice, and a lock that needs a page is refused. With room everything goes on.
TEST_P(mysql_machine_faults, a_full_disk_is_reported_and_forgotten) {
  const testkit::small_disk disk(64 * 1024);
  if (!disk.is_mounted()) GTEST_SKIP() << "skipped: this machine may mount no file system";
  mariadb_server small({.data_folder = disk.path()});
  const std::string place = "mysql://holdfast:secret@127.0.0.1:" + std::to_string(small.port()) +
                            "/test?ttl=5m&op-timeout=2s&strategy=" + GetParam().strategy;
  const client mine = client::open(place), other = client::open(place);
  lease held = mine.mutex("held").acquire();
  disk.fill();
  const bool writes = std::string(GetParam().strategy) != "named";  // which needs no disk
  bool is_refused = false;
  for (int i = 0; i < 2'000 && !is_refused; ++i) {
    const std::string why =
        message_of([&] { (void)mine.mutex("new" + std::to_string(i)).try_acquire(); });
    is_refused = why.find("make room on the server") != why.npos;
    // The server tries for seconds to extend a file before it refuses.
    const bool is_silent = why.find("no answer within the op-timeout") != why.npos;
    EXPECT_TRUE(why.empty() || (writes && (is_refused || is_silent))) << why;
  }
  EXPECT_EQ(is_refused, writes);
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(other.mutex("held").try_acquire());
  disk.make_room();
  EXPECT_TRUE(mine.mutex("another").try_acquire_for(60s));
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(other.mutex("held").try_acquire_for(60s));
}

INSTANTIATE_TEST_SUITE_P(all, mysql_server_faults, testing::ValuesIn(exclusive_kinds),
                         name_of_kind());
INSTANTIATE_TEST_SUITE_P(all, mysql_machine_faults, testing::ValuesIn(exclusive_kinds),
                         name_of_kind());

}  // namespace
}  // namespace holdfast::mysql_test
