// A fault before and after each statement of each strategy, on a real MariaDB: the connection is
// cut, killed, or its statement is.
#include <thread>

#include "testkit/eventually.hpp"
#include "tests/fault/mysql/kinds.hpp"

namespace holdfast::mysql_test {
namespace {

using testkit::fault_time;
using testkit::mariadb_proxy;
using testkit::statement_fault;

// More statements than a cycle has, reconnecting included: one that never ends is a failure.
constexpr std::uint64_t statements_max = 60;
// A waiter that polls sends statements for as long as it waits.
constexpr std::uint64_t statements_of_poller = 6;

std::string when(std::uint64_t statement, fault_time t, const mariadb_proxy& proxy) {
  return std::string(t == fault_time::before ? "before" : "after") + " statement " +
         std::to_string(statement) + ": " + proxy.struck();
}

class mysql_statements : public on_kind {
 protected:
  void SetUp() override {
    on_kind::SetUp();
    if (IsSkipped()) return;
    proxy.emplace(server());
    mine.emplace(client::open(url_at(proxy->port(), "ttl=5m")));
    other.emplace(client::open(url("ttl=5m")));
  }
  void TearDown() override {
    mine.reset();
    proxy.reset();
    other.reset();
  }

  // Plays `cycle` with the fault before, and after, each of its statements in turn, until it ends
  // without the fault.
  template <class Cycle>
  void for_each_statement(statement_fault f, Cycle cycle, std::uint64_t most = statements_max) {
    for (const fault_time t : {fault_time::before, fault_time::after}) {
      bool has_struck = true;
      std::uint64_t n = 0;
      for (; has_struck && n < most; ++n) {
        proxy->strike(n, t, f);
        cycle(n, t);
        has_struck = !proxy->struck().empty();
        if (HasFailure()) return;
      }
      EXPECT_GT(n, 1u) << "no statement was struck";
      EXPECT_TRUE(!has_struck || most < statements_max) << "a cycle has no end";
    }
  }
  void expect_nothing_is_left(const std::string& at) {
    lease after = wait_of_writer(*other);
    ASSERT_TRUE(after) << "something is left, " << at;
    EXPECT_GT(after.token(), last_token) << at;
    last_token = after.token();
    after.release();
  }
  void release(lease& held, const std::string& at) {
    std::error_code ec;
    held.release(ec);
    const bool is_lost = is_pinned() && ec == errc::lost;  // with its connection, before
    EXPECT_TRUE(!ec || is_lost) << ec.message() << ' ' << at;
  }

  void acquires_and_releases(statement_fault f) {
    for_each_statement(f, [&](std::uint64_t n, fault_time t) {
      std::error_code ec;
      lease held = attempt(*mine, ec);
      EXPECT_TRUE(held || ec == errc::unavailable) << ec.message() << ' ' << when(n, t, *proxy);
      if (held) expect_excludes(held, *other, when(n, t, *proxy));
      if (held) release(held, when(n, t, *proxy));
      expect_nothing_is_left(when(n, t, *proxy));
    });
  }

  // The waiter gets the lock whatever happens to its connections meanwhile.
  void waits(statement_fault f) {
    const auto wait = [&](std::uint64_t n, fault_time t) {
      std::error_code ec;
      lease theirs = attempt_of_writer(*other, ec), second;
      std::thread waiter([&] { second = wait_for(*mine, ec); });
      EXPECT_TRUE(testkit::eventually([&] { return !proxy->struck().empty() || is_waiting(); }));
      EXPECT_FALSE(second);
      theirs.release();
      waiter.join();
      EXPECT_TRUE(second) << ec.message() << ' ' << when(n, t, *proxy);
      if (!second) return;
      expect_excludes(second, *other, when(n, t, *proxy));
      release(second, when(n, t, *proxy));
      expect_nothing_is_left(when(n, t, *proxy));
    };
    for_each_statement(f, wait, is_pinned() ? statements_max : statements_of_poller);
  }

  // A row keeps its lock, and the renewal is repeated.
  void renews_a_row(statement_fault f) {
    std::error_code ec;
    lease held = attempt(*mine, ec);
    ASSERT_TRUE(held) << ec.message();
    for_each_statement(f, [&](std::uint64_t n, fault_time t) {
      EXPECT_TRUE(testkit::eventually([&] {
        held.extend(5min, ec);
        return !ec;
      })) << ec.message()
          << ' ' << when(n, t, *proxy);
      EXPECT_TRUE(held.held()) << when(n, t, *proxy);
      expect_excludes(held, *other, when(n, t, *proxy));
    });
    release(held, "at the end");
  }
  // A connection that is lost in a heartbeat ends its lock, and the holder is notified.
  void sends_a_heartbeat(statement_fault f) {
    const client beating = client::open(url_at(proxy->port(), "idle-timeout=1s"));
    for (const fault_time t : {fault_time::before, fault_time::after}) {
      std::error_code ec;
      lease held = attempt(beating, ec);
      ASSERT_TRUE(held) << ec.message();
      proxy->strike(0, t, f);
      EXPECT_TRUE(testkit::eventually([&] { return !proxy->struck().empty(); }));
      EXPECT_NE(proxy->struck().find("read_only"), std::string::npos) << proxy->struck();
      if (f != statement_fault::kill_query) {
        EXPECT_TRUE(testkit::eventually([&] { return !held.held(); })) << when(0, t, *proxy);
      }
      expect_excludes(held, *other, when(0, t, *proxy));
      release(held, when(0, t, *proxy));
      expect_nothing_is_left(when(0, t, *proxy));
    }
  }
  void renews(statement_fault f) { is_pinned() ? sends_a_heartbeat(f) : renews_a_row(f); }

  std::optional<mariadb_proxy> proxy;
  std::optional<client> mine, other;
  std::int64_t last_token = 0;

 private:
  // In a statement that waits. A strategy that polls has none, and reaches every statement.
  static bool is_waiting() {
    return query("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER='holdfast' AND "
                 "COMMAND IN ('Query','Execute') AND (INFO LIKE 'SELECT %GET_LOCK%' OR INFO LIKE "
                 "'%WAIT 31536000%'"
                 ")")
               .number() > 0;
  }
};

// Of a holder that renews its lock, and of a waiter.
class mysql_later_statements : public mysql_statements {};

TEST_P(mysql_statements, a_cut_around_any_of_an_acquire_and_a_release_leaves_nothing) {
  acquires_and_releases(statement_fault::cut);
}

TEST_P(mysql_statements, a_kill_around_any_of_an_acquire_and_a_release_leaves_nothing) {
  acquires_and_releases(statement_fault::kill);
}

TEST_P(mysql_statements, a_killed_query_of_an_acquire_or_a_release_leaves_nothing) {
  acquires_and_releases(statement_fault::kill_query);
}

TEST_P(mysql_later_statements, a_cut_around_a_renewal_costs_a_connections_lock_alone) {
  renews(statement_fault::cut);
}

TEST_P(mysql_later_statements, a_kill_around_a_renewal_costs_a_connections_lock_alone) {
  renews(statement_fault::kill);
}

TEST_P(mysql_later_statements, a_killed_query_of_a_renewal_is_repeated_or_reported) {
  renews(statement_fault::kill_query);
}

TEST_P(mysql_later_statements, a_waiter_whose_connection_is_cut_around_any_of_them_is_granted) {
  waits(statement_fault::cut);
}

TEST_P(mysql_later_statements, a_waiter_whose_connection_is_killed_around_any_of_them_is_granted) {
  waits(statement_fault::kill);
}

TEST_P(mysql_later_statements, a_waiter_whose_query_is_killed_is_granted) {
  waits(statement_fault::kill_query);
}

const auto exclusive_ones = testing::ValuesIn(exclusive_kinds);
const auto shared_ones = testing::ValuesIn(shared_kinds);
INSTANTIATE_TEST_SUITE_P(all, mysql_statements, exclusive_ones, name_of_kind());
INSTANTIATE_TEST_SUITE_P(readers, mysql_statements, shared_ones, name_of_kind());
INSTANTIATE_TEST_SUITE_P(all, mysql_later_statements, exclusive_ones, name_of_kind());
INSTANTIATE_TEST_SUITE_P(readers, mysql_later_statements, shared_ones, name_of_kind());

}  // namespace
}  // namespace holdfast::mysql_test
