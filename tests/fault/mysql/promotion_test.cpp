// A replica is promoted by hand (docs/mysql-locks.md): locks that are rows are kept as far as they
// were replicated.
#include <chrono>

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
