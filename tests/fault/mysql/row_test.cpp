// Strategy `row` on a real MariaDB: what a lock keeps through kills, cuts, restarts and settings of
// the server.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "testkit/eventually.hpp"
#include "testkit/servers/tcp_proxy.hpp"
#include "tests/fault/file/fixture.hpp"
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;
using testkit::direction;
using testkit::tcp_proxy;

class mysql_row : public on_mariadb {
 protected:
  static std::string url_at(int port, const std::string& options = {}) {
    return "mysql://holdfast:secret@127.0.0.1:" + std::to_string(port) +
           "/test?outage-timeout=30s" + (options.empty() ? "" : "&" + options);
  }
  static client open(const std::string& options = {}) {
    return client::open(url_at(server().port(), options));
  }
  static std::string failure_of(const std::string& url, const char* lock = "job") {
    try {
      const client c = client::open(url);
      (void)c.mutex(lock).try_acquire();
      return "nothing was thrown";
    } catch (const lock_error& e) {
      return e.what();
    }
  }
};

// Acquires and releases, each time with a cut after some more bytes.
template <class Acquire>
void expect_nothing_is_left(const client& mine, const client& other, tcp_proxy& proxy, direction d,
                            Acquire acquire) {
  std::int64_t last = 0;
  bool was_cut = true;
  for (std::uint64_t bytes = 0; was_cut && bytes < 4'000; bytes += 173) {
    proxy.cut_after(d, bytes);
    std::error_code ec;
    lease held = acquire(mine, ec);
    EXPECT_TRUE(held || ec == errc::unavailable) << ec.message();
    if (held) {
      EXPECT_GT(held.token(), last);
      last = held.token();
      EXPECT_FALSE(acquire(other, ec)) << "two hold it";
      held.release(ec);
      EXPECT_FALSE(ec) << ec.message();
    }
    was_cut = proxy.was_cut();
    lease after = other.mutex("job").try_acquire_for(60s);
    EXPECT_TRUE(after) << "something is left after " << bytes;
    after.release();
  }
}

TEST_F(mysql_row, a_cut_within_a_statement_leaves_nothing_and_grants_nothing_twice) {
  tcp_proxy proxy(server().port());
  const client mine = client::open(url_at(proxy.port())), other = open();
  for (const direction d : {direction::to_server, direction::to_client}) {
    expect_nothing_is_left(mine, other, proxy, d, [](const client& c, std::error_code& ec) {
      return c.mutex("job").try_acquire({}, ec);
    });
    expect_nothing_is_left(mine, other, proxy, d, [](const client& c, std::error_code& ec) {
      return c.semaphore("job", 2).try_acquire({.permits = 2}, ec);
    });
  }
}

TEST_F(mysql_row, several_locks_are_granted_all_or_none_whatever_is_cut) {
  tcp_proxy proxy(server().port());
  const client mine = client::open(url_at(proxy.port())), other = open();
  bool was_cut = true;
  for (std::uint64_t bytes = 0; was_cut && bytes < 4'000; bytes += 271) {
    proxy.cut_after(direction::to_client, bytes);
    std::error_code ec;
    auto held = mine.try_acquire_all_for({"a", "b"}, 60s, ec);
    EXPECT_TRUE(held || ec == errc::unavailable) << ec.message();
    held.release(ec);
    was_cut = proxy.was_cut();
    auto after = other.try_acquire_all_for({"b", "a"}, 60s);
    EXPECT_TRUE(after) << "something is left after " << bytes;
    after.release();
  }
}

TEST_F(mysql_row, connections_that_are_killed_lose_no_lock) {
  const client mine = open("ttl=60s"), other = open();
  lease held = mine.mutex("held").acquire();
  std::atomic<bool> ends = false;
  std::thread work([&] {
    while (!ends) (void)mine.mutex("job").try_acquire_for(60s);
  });
  for (int kills = 0; kills < 20;) {
    const sql_result all =
        query("SELECT id FROM information_schema.PROCESSLIST WHERE USER='holdfast' ORDER BY RAND() "
              "LIMIT 1");
    if (all.rows.empty()) continue;
    kills += server().root().error_of("KILL " + all.text()) == 0;
  }
  ends = true;
  work.join();
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(other.mutex("held").try_acquire());
  EXPECT_TRUE(testkit::eventually([&] {  // the client connects again after a pause
    std::error_code ec;
    held.extend(60s, ec);
    return !ec;
  }));
  EXPECT_NO_THROW(held.release());
}

TEST_F(mysql_row, a_user_without_the_right_to_create_needs_the_printed_tables_alone) {
  query("CREATE USER poor@'%' IDENTIFIED BY 'x'");
  query("GRANT SELECT, INSERT, UPDATE, DELETE ON test.* TO poor@'%'");
  for (const std::string strategy : {"row", "insert", "for-update", "named"}) {
    const bool has_tables = strategy != "named";
    const std::string url = "mysql://poor:x@127.0.0.1:" + std::to_string(server().port()) +
                            "/test?strategy=" + strategy + (has_tables ? "&table=own" : "");
    const auto statements = client::schema(url);
    EXPECT_EQ(!statements.empty(), has_tables);
    for (const std::string& statement : statements) query(statement);
    EXPECT_TRUE(client::open(url).mutex("x").try_acquire());
    for (const std::string& statement : statements) query(statement);  // they change nothing
    for (const char* end : {"", "_members", "_numbers"})
      query(std::string("DROP TABLE IF EXISTS own") + end);
  }
  query("DROP USER poor@'%'");
}

TEST_F(mysql_row, a_clean_up_deletes_expired_members_and_keeps_numbers_and_living_ones) {
  const client mine = open();
  const lease living = mine.shared_mutex("book").acquire_shared();
  const auto last = mine.mutex("job").acquire().token();
  query("INSERT INTO holdfast_locks_members SELECT name, CONCAT('dead', seq), grant_number, "
        "'2001-01-01', granted_at, 0, note, host, pid, permits, total_permits "
        "FROM holdfast_locks_members, seq_1_to_1500");
  EXPECT_EQ(mine.prune(), 1500u);
  EXPECT_EQ(mine.prune(), 0u);
  EXPECT_FALSE(open().shared_mutex("book").try_acquire()) << "the living reader was deleted";
  EXPECT_GT(mine.mutex("job").acquire().token(), last);
}

TEST_F(mysql_row, a_renewal_shortens_no_lease) {
  const client mine = open("ttl=10m");
  lease writer = mine.mutex("job").acquire();
  lease reader = mine.shared_mutex("book").acquire_shared();
  writer.extend(1s);
  reader.extend(1s);
  const auto all = mine.list();
  ASSERT_EQ(all.size(), 2u);
  for (const holder& h : all) EXPECT_GT(h.expires_in, 5min) << h.name;
}

TEST_F(mysql_row, a_restart_of_the_server_keeps_locks_and_numbers) {
  const client mine = open("ttl=10m"), other = open();
  std::int64_t before = 0;
  {
    lease writer = mine.mutex("job").acquire();
    lease reader = mine.shared_mutex("book").acquire_shared();
    before = writer.token();
    server().restart();
    EXPECT_TRUE(writer.held() && reader.held());
    EXPECT_FALSE(other.mutex("job").try_acquire());
    EXPECT_FALSE(other.shared_mutex("book").try_acquire());
    EXPECT_NO_THROW(writer.extend(10min));
    EXPECT_NO_THROW(reader.extend(10min));
  }
  EXPECT_GT(other.mutex("job").try_acquire_for(60s).token(), before);
  EXPECT_TRUE(other.shared_mutex("book").try_acquire_for(60s));
}

TEST_F(mysql_row, a_client_that_is_stopped_beyond_its_lease_knows_when_it_continues) {
  using file_test::other_process;
  const std::string url = server().url() + "?ttl=1s";
  other_process holder([url](const other_process::line& l) {
    const client c = client::open(url);
    lease held = c.mutex("job").acquire();
    l.say("held");
    l.hear();
    l.say(held.held() ? "holds" : "lost");  // the first thing after the stop
    std::error_code ec;
    held.release(ec);
    l.say(ec == errc::lost ? "lost" : "released");
  });
  ASSERT_EQ(holder.hear(), "held");
  holder.stop();
  const client c = open();
  const lease next = c.mutex("job").try_acquire_for(60s);
  ASSERT_TRUE(next);
  holder.say("on");
  holder.go_on();
  EXPECT_EQ(holder.hear(), "lost");
  EXPECT_EQ(holder.hear(), "lost");
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_TRUE(next.held());
}

TEST_F(mysql_row, clients_that_lock_several_in_any_order_do_not_wait_for_each_other) {
  const client one = open(), two = open();
  const auto locks_all = [](const client& c, const lock_names& names) {
    for (int i = 0; i < 25; ++i) EXPECT_TRUE(c.try_acquire_all_for(names, 60s));
  };
  std::thread other([&] { locks_all(two, {"c", "b", "a"}); });
  locks_all(one, {"a", "b", "c"});
  other.join();
}

TEST_F(mysql_row, a_row_that_a_stranger_keeps_locked_holds_up_no_other_lock) {
  const client c = open("ttl=8s");
  lease stuck = c.mutex("stuck").acquire(), other = c.mutex("other").acquire();
  mariadb_link stranger = link();
  stranger.query("BEGIN");
  stranger.query("SELECT * FROM holdfast_locks WHERE name='stuck' FOR UPDATE");
  EXPECT_NO_THROW(other.extend(8s));
  EXPECT_TRUE(c.mutex("third").try_acquire());
  EXPECT_EQ(code_of([&] { (void)c.mutex("stuck2").try_acquire(); }), std::error_code());
  stranger.query("COMMIT");
}

// Waiters for which no connection is left poll.
TEST_F(mysql_row, waiters_have_no_more_connections_than_the_pool) {
  const client holder = open();
  const client waiting = open("connections=2");
  const lock_names names{"a", "b", "c", "d", "e"};
  auto held = holder.acquire_all(names);
  std::vector<std::thread> threads;
  std::atomic<int> served = 0;
  for (const char* name : {"a", "b", "c", "d", "e"})
    threads.emplace_back([&, name] { served += waiting.mutex(name).try_acquire_for(60s) ? 1 : 0; });
  const std::string waiters =
      "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER='holdfast' AND INFO LIKE "
      "'SELECT %GET_LOCK%'";
  // A bell is had at once, for its holder did not wait; those who have none poll.
  const client second = open();
  std::thread other([&] { (void)second.mutex("a").try_acquire_for(60s); });
  server().wait_until("SELECT COUNT(*) >= 3 FROM information_schema.PROCESSLIST WHERE "
                      "USER='holdfast'",
                      "1");
  EXPECT_LE(query(waiters).number(), 3);
  held.release();
  for (std::thread& t : threads) t.join();
  other.join();
  EXPECT_EQ(served, 5);
}

// The statements compare UTC only, and times of this machine are never sent.
TEST_F(mysql_row, the_time_zone_of_the_server_has_no_effect) {
  const client before = open("ttl=60s");
  const lease held = before.mutex("job").acquire();
  for (const std::string zone : {"-11:00", "+13:00"}) {
    query("SET GLOBAL time_zone='" + zone + "'");
    const client after = open();
    EXPECT_FALSE(after.mutex("job").try_acquire());
    const holder h = after.holders("job").at(0);
    EXPECT_GT(h.expires_in, 1s);
    EXPECT_LE(h.expires_in, 60s);
    EXPECT_TRUE(after.mutex("free" + zone).try_acquire());
  }
  query("SET GLOBAL time_zone='SYSTEM'");
}

TEST_F(mysql_row, names_are_bytes_whatever_the_modes_of_the_server) {
  query("SET GLOBAL sql_mode='NO_BACKSLASH_ESCAPES,ANSI_QUOTES'");
  query("SET GLOBAL character_set_server=latin1");
  query("ALTER DATABASE test CHARACTER SET latin1");
  const std::string name = "a'\\\"`é/%_";
  const client c = open();
  const lease held = c.mutex(name).acquire({.note = name});
  EXPECT_EQ(c.holders(name).at(0).name, name);
  EXPECT_EQ(c.list("a'").at(0).note, name);
  EXPECT_TRUE(c.mutex("A'\\\"`É/%_").try_acquire()) << "case and accents count";
  query("SET GLOBAL sql_mode=DEFAULT");
  query("SET GLOBAL character_set_server=DEFAULT");
}

TEST_F(mysql_row, a_table_with_other_columns_is_refused_and_left_alone) {
  query("CREATE TABLE holdfast_locks (name INT)");
  const std::string why = failure_of(server().url());
  EXPECT_NE(why.find("other columns"), why.npos) << why;
  EXPECT_EQ(query("SHOW TABLES").rows.size(), 1u);
}

TEST_F(mysql_row, a_missing_right_is_named) {
  query("CREATE USER reader IDENTIFIED BY 'x'");
  query("GRANT SELECT ON test.* TO reader");
  const std::string url = "mysql://reader:x@127.0.0.1:" + std::to_string(server().port()) + "/test";
  std::string why = failure_of(url);
  EXPECT_NE(why.find("CREATE TABLE"), why.npos) << "the statement to be run by another user";
  EXPECT_TRUE(query("SHOW TABLES").rows.empty());
  (void)open();
  why = failure_of(url);
  EXPECT_NE(why.find("UPDATE command denied"), why.npos) << why;
  EXPECT_NE(why.find("grant"), why.npos) << why;
  query("DROP USER reader");
}

TEST_F(mysql_row, an_unknown_database_or_strategy_and_a_long_name_are_refused) {
  const std::string place = "mysql://holdfast:secret@127.0.0.1:" + std::to_string(server().port());
  std::string why = failure_of(place + "/testx");
  EXPECT_NE(why.find("testx"), why.npos) << why;
  why = failure_of(place + "/test?strategy=rows");
  EXPECT_NE(why.find("\"rows\""), why.npos) << why;
  const std::string prefix(700, 'p');
  EXPECT_EQ(code_of(
                [&] { (void)open("prefix=" + prefix).mutex(std::string(100, 'n')).try_acquire(); }),
            errc::bad_name);
}

TEST_F(mysql_row, a_server_of_another_kind_is_refused) {
  tcp_proxy proxy(server().port());
  proxy.set(direction::to_client,
            {.mutate = [](std::string& bytes) { bytes = "HTTP/1.1 400 Bad Request\r\n\r\n"; }});
  const std::string why = failure_of(url_at(proxy.port(), "connect-timeout=2s"));
  EXPECT_NE(why.find("names a MariaDB or MySQL server"), why.npos) << why;
}

TEST_F(mysql_row, a_list_reads_the_locks_that_are_held_and_no_others) {
  const client c = open();
  query("INSERT INTO holdfast_locks SELECT CONCAT('unused', seq), '', 1, '1970-01-01', "
        "'1970-01-01', 0, 0, '', '', 0, 0 FROM seq_1_to_20000");
  query("ANALYZE TABLE holdfast_locks");
  const lease held = c.mutex("job").acquire();
  const auto rows_read = [&] {
    return std::stoll(server().status("Handler_read_next")) +
           std::stoll(server().status("Handler_read_rnd_next"));
  };
  const long long before = rows_read();
  EXPECT_EQ(c.list("").size(), 1u);
  EXPECT_EQ(c.holders("job").size(), 1u);
  EXPECT_LT(rows_read() - before, 1'000);
}

TEST_F(mysql_row, a_lock_that_is_renewed_for_hours_stays_in_the_list) {
  const client c = open();
  lease held = c.mutex("job").acquire({.renew = renewal::manual});
  query("UPDATE holdfast_locks SET last_hour = last_hour - 3");  // three hours later
  held.extend(1min);
  EXPECT_EQ(c.list("").size(), 1u);
  held.release();
  EXPECT_EQ(c.list("").size(), 0u);
}

}  // namespace
}  // namespace holdfast::mysql_test
