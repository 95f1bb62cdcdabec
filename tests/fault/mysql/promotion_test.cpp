// A replica is promoted by hand (docs/backends/mysql.md): locks that are rows are kept as far as
// they were replicated.
#include <chrono>
#include <ctime>
#include <functional>
#include <thread>

#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;

class mysql_promotion : public testing::Test {
 protected:
  void SetUp() override {
    if (!mariadb_server::installed()) GTEST_SKIP() << mariadb_server::not_installed;
    primary.emplace(testkit::mariadb_options{.server_id = 1, .replication = true});
    replica.emplace(testkit::mariadb_options{.server_id = 2, .replication = true});
    replica->replicate(*primary);
  }

  static client open(const mariadb_server& server, const std::string& options) {
    return client::open(server.url() + "?op-timeout=20s&" + options);
  }
  // By a URL that names both.
  client open_both(const std::string& options) const {
    return client::open("mysql://holdfast:secret@127.0.0.1:" + std::to_string(replica->port()) +
                        ",127.0.0.1:" + std::to_string(primary->port()) + "/test?op-timeout=20s&" +
                        options);
  }
  // Numbers of for-update and named begin with the second of the server's start.
  void start_replica_later() {
    const auto second = std::time(nullptr);
    while (std::time(nullptr) == second) std::this_thread::sleep_for(10ms);
    replica.emplace(testkit::mariadb_options{.server_id = 2, .replication = true});
    replica->replicate(*primary);
  }
  void promote() {
    primary->kill_hard();
    replica->promote();
  }

  // Held on the primary, and known to the replica. After the promotion the lock is still held
  // there, its lease ends by the clock of the promoted server, and tokens go on growing.
  void keeps(const std::string& strategy) {
    const std::string terms = "strategy=" + strategy + "&ttl=6s";
    const client before = open(*primary, terms);
    const lease held = before.mutex("x").acquire();
    replica->catch_up_with(*primary);
    promote();
    const client after = open(*replica, terms);
    const auto seen = after.holders("x");
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].owner, held.owner());
    EXPECT_EQ(seen[0].token / 1024, held.token() / 1024);
    EXPECT_FALSE(after.mutex("x").try_acquire());
    const lease next = after.mutex("x").acquire();
    EXPECT_FALSE(held.held()) << "its own deadline has passed before";
    EXPECT_GT(next.token(), held.token());
  }

  // The replica has not received the grant: it is lost, and only the fence refuses its holder.
  void loses_the_last(const std::string& strategy) {
    const std::string terms = "strategy=" + strategy + "&ttl=2m";
    const client before = open(*primary, terms);
    before.mutex("x").acquire().release();
    replica->catch_up_with(*primary);
    replica->query("STOP SLAVE");
    const lease held = before.mutex("x").acquire();
    promote();
    const client after = open(*replica, terms);
    const lease second = after.mutex("x").try_acquire();
    ASSERT_TRUE(second);
    EXPECT_TRUE(held.held()) << "two holders until the deadline of the first";
    EXPECT_GT(second.token(), held.token());
  }

  std::optional<mariadb_server> primary, replica;
};

TEST_F(mysql_promotion, a_replica_is_refused_until_it_is_promoted) {
  for (const char* strategy : {"row", "insert"}) {
    const std::string terms = std::string("strategy=") + strategy;
    EXPECT_EQ(code_of([&] { open(*replica, terms); }), errc::unavailable) << strategy;
  }
  promote();
  EXPECT_TRUE(open(*replica, "strategy=row").mutex("x").try_acquire());
}

TEST_F(mysql_promotion, a_row_that_was_replicated_is_kept) { keeps("row"); }
TEST_F(mysql_promotion, a_record_that_was_replicated_is_kept) { keeps("insert"); }
TEST_F(mysql_promotion, a_row_that_was_not_replicated_is_lost) { loses_the_last("row"); }
TEST_F(mysql_promotion, a_record_that_was_not_replicated_is_lost) { loses_the_last("insert"); }

TEST_F(mysql_promotion, of_two_servers_the_primary_is_used) {
  const client mine = open_both("strategy=row");
  EXPECT_TRUE(mine.mutex("x").try_acquire());
  EXPECT_EQ(primary->query("SELECT COUNT(*) FROM test.holdfast_locks").text(), "1");
}

TEST_F(mysql_promotion, a_client_of_two_servers_goes_on_at_the_promoted_one) {
  for (const bool is_killed : {true, false}) {
    SetUp();
    const client mine = open_both("strategy=row&ttl=6s");
    const lease held = mine.mutex("x").acquire();
    replica->catch_up_with(*primary);
    if (!is_killed) primary->query("SET GLOBAL read_only=1");
    is_killed ? promote() : replica->promote();
    const auto before = held.expires();
    const lease other = mine.mutex("y").acquire();
    while (held.held() && held.expires() < before + 6s) std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(held.held()) << "it is renewed at the promoted server";
    EXPECT_GT(other.token(), held.token());
    EXPECT_FALSE(open(*replica, "strategy=row").mutex("y").try_acquire());
  }
}

TEST_F(mysql_promotion, a_named_lock_is_lost_when_its_server_is_demoted) {
  for (const char* strategy : {"named", "for-update"}) {
    SetUp();
    start_replica_later();
    const client mine = open_both(std::string("idle-timeout=2s&strategy=") + strategy);
    {
      const lease held = mine.mutex("x").acquire();
      replica->catch_up_with(*primary);
      primary->query("SET GLOBAL read_only=1");
      replica->promote();
      while (held.held()) std::this_thread::sleep_for(20ms);
    }
    const lease next = mine.mutex("x").acquire();
    EXPECT_FALSE(open(*replica, std::string("strategy=") + strategy).mutex("x").try_acquire())
        << strategy;
  }
}

TEST_F(mysql_promotion, no_server_is_used_where_both_take_writes) {
  replica->promote();
  try {
    open_both("strategy=row");
    ADD_FAILURE() << "it was opened";
  } catch (const lock_error& refused) {
    EXPECT_EQ(refused.code(), errc::unavailable);
    for (const auto& server : {std::ref(*primary), std::ref(*replica)})
      EXPECT_NE(std::string(refused.what()).find(std::to_string(server.get().port())),
                std::string::npos)
          << refused.what();
    EXPECT_EQ(std::string(refused.what()).find("secret"), std::string::npos);
  }
  primary->query("SET GLOBAL read_only=1");
  EXPECT_TRUE(open_both("strategy=row").mutex("x").try_acquire());
}

// A primary that returns is writable unless its configuration says otherwise: then one row has two
// owners. With read_only in my.cnf it is refused.
TEST_F(mysql_promotion, a_former_primary_that_returns_writable_grants_the_lock_again) {
  const client before = open(*primary, "strategy=row");
  before.mutex("x").acquire().release();
  replica->catch_up_with(*primary);
  promote();
  const client after = open(*replica, "strategy=row");
  const lease held = after.mutex("x").acquire();
  primary->start();
  const client astray = open(*primary, "strategy=row");
  EXPECT_TRUE(astray.mutex("x").try_acquire());
  EXPECT_TRUE(held.held());
  primary->query("SET GLOBAL read_only=1");
  EXPECT_EQ(code_of([&] { open(*primary, "strategy=row"); }), errc::unavailable);
}

}  // namespace
}  // namespace holdfast::mysql_test
