// Statements that waited for a connection are executed in one transaction.
#include "backend/mysql/transport/shared_commit.hpp"

#include <algorithm>

#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

constexpr unsigned wait_is_over = 1205, command_denied = 1142, out_of_room = 1114;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++out;
  return out;
}

std::string hex(std::string_view name) { return mysql::bound("?", {name}); }

class mysql_shared_commit : public testing::Test {
 protected:
  mysql_shared_commit() { t.open(); }

  // Each has one attempt on a lock of that name. The connection executes the first one.
  void acquire(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      sinks.push_back(std::make_unique<told>());
      claims.push_back(t.s->open(name, *sinks.back()));
      claims.back()->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
    }
  }
  // The reply to the first of them: the others are executed then.
  void free_connection() { t.reply(0, granted_row(1)); }
  void hold_three() {
    acquire({"a", "b", "c"});
    free_connection();
    t.reply(0, committed({granted_row(2), granted_row(3)}));
    for (const auto& sink : sinks) ASSERT_EQ(sink->take(), "granted ");
  }
  void release_all() {
    for (const auto& c : claims) c->release(nullptr);
  }
  bool is_shared() const { return t.statement(0).starts_with("SET TRANSACTION"); }
  std::string told_to(std::size_t i) { return sinks.at(i)->take(); }

  server_fixture t{server_fixture::with_one_connection("row")};
  std::vector<std::unique_ptr<told>> sinks;
  std::vector<std::unique_ptr<seam::claim>> claims;
};

TEST_F(mysql_shared_commit, is_for_the_statements_that_wait_for_a_connection) {
  acquire({"a", "b", "c", "d"});
  EXPECT_FALSE(is_shared()) << "the first one finds the connection free";
  free_connection();
  ASSERT_TRUE(is_shared());
  EXPECT_TRUE(t.statement(0).ends_with(";COMMIT"));
  EXPECT_EQ(count(t.statement(0), "grant_number=LAST_INSERT_ID"), 3u);
}

TEST_F(mysql_shared_commit, gives_each_statement_its_own_reply) {
  acquire({"a", "b", "c", "d"});
  free_connection();
  t.reply(0, committed({granted_row(7), {}, granted_row(9)}));
  EXPECT_EQ(sinks[1]->last.number, 7);
  EXPECT_EQ(told_to(2), "");
  EXPECT_EQ(sinks[3]->last.number, 9);
  EXPECT_TRUE(t.awaits(0, "SELECT owner")) << "the attempt on \"c\" reads its owner";
}

TEST_F(mysql_shared_commit, is_for_releases_too) {
  hold_three();
  release_all();
  free_connection();
  ASSERT_TRUE(is_shared());
  t.reply(0, committed({granted_row(1), granted_row(1)}));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(told_to(i), "ended ");
}

TEST_F(mysql_shared_commit, locks_its_rows_in_the_order_of_their_names) {
  acquire({"a", "d", "b", "c"});
  free_connection();
  const std::string& text = t.statement(0);
  const auto b = text.find(hex("b")), c = text.find(hex("c")), d = text.find(hex("d"));
  EXPECT_TRUE(b < c && c < d && d != text.npos) << text;
  t.reply(0, committed({granted_row(11), granted_row(12), granted_row(13)}));
  EXPECT_EQ(sinks[1]->last.number, 13) << "each has the reply for its own row";
}

TEST_F(mysql_shared_commit, waits_for_nothing_but_a_row_once_it_has_one) {
  acquire({"first", "a", "b", "c"});
  free_connection();
  const std::string& text = t.statement(0);
  EXPECT_EQ(count(text, "innodb_lock_wait_timeout=1"), 3u);
  EXPECT_EQ(count(text, ",lock_wait_timeout=0"), 2u);
  EXPECT_LT(text.find(hex("a")), text.find(",lock_wait_timeout=0")) << "not for the first one";
}

TEST_F(mysql_shared_commit, has_no_two_statements_of_one_row) {
  acquire({"a", "b", "b", "c"});
  free_connection();
  EXPECT_EQ(count(t.statement(0), "grant_number="), 2u);
  t.reply(0, committed({granted_row(2), granted_row(3)}));
  EXPECT_TRUE(t.awaits(0, "grant_number=")) << "the second attempt on \"b\" follows";
  EXPECT_FALSE(is_shared());
}

TEST_F(mysql_shared_commit, has_no_statement_of_the_row_that_it_may_not_overtake) {
  acquire({"a"});
  t.lock->acquire({.one_attempt = true, .ttl = 30s, .mode = lock_mode::shared, .at = t.now()});
  acquire({"job", "b"});
  free_connection();
  EXPECT_EQ(t.statement(0), "START TRANSACTION") << "the readers' own";
  t.reply(0, error(command_denied));
  t.reply(0, {});
  EXPECT_EQ(count(t.statement(0), "grant_number="), 2u);
}

TEST_F(mysql_shared_commit, has_no_statement_that_nobody_awaits) {
  acquire({"a", "b", "c", "d"});
  claims[2].reset();
  free_connection();
  EXPECT_EQ(count(t.statement(0), "grant_number="), 2u);
  EXPECT_EQ(t.statement(0).find(hex("c")), std::string::npos);
}

TEST_F(mysql_shared_commit, is_for_a_limited_number_of_statements) {
  acquire({"first"});
  const several_claims others = acquire_several(t, 40, [] {});
  free_connection();
  EXPECT_EQ(count(t.statement(0), "grant_number=LAST_INSERT_ID"), 16u);
}

TEST_F(mysql_shared_commit, that_failed_is_rolled_back_and_its_statements_are_executed_alone) {
  acquire({"a", "b", "c"});
  free_connection();
  t.reply(0, failed({granted_row(2)}, wait_is_over));
  ASSERT_EQ(t.statement(0), "ROLLBACK");
  EXPECT_EQ(told_to(1), "") << "its grant is rolled back";
  t.reply(0, {});
  for (const char* name : {"b", "c"}) {
    EXPECT_FALSE(is_shared());
    EXPECT_TRUE(t.awaits(0, "grant_number=") && t.awaits(0, hex(name))) << t.statement(0);
    t.reply(0, granted_row(4));
  }
  EXPECT_EQ(told_to(1) + told_to(2), "granted granted ");
}

TEST_F(mysql_shared_commit, an_error_is_reported_for_the_lock_that_has_it) {
  acquire({"a", "b", "c"});
  free_connection();
  t.reply(0, failed({}, command_denied));
  t.reply(0, {});
  t.reply(0, error(command_denied));
  t.reply(0, granted_row(4));
  EXPECT_NE(told_to(1).find("refused:"), std::string::npos);
  EXPECT_EQ(told_to(2), "granted ");
}

TEST_F(mysql_shared_commit, after_a_failure_none_is_shared_for_a_while) {
  acquire({"a", "b", "c"});
  free_connection();
  t.reply(0, failed({}, wait_is_over));
  t.reply(0, {});
  for (int i = 0; i < 2; ++i) t.reply(0, granted_row(4));
  acquire({"d", "e", "f"});
  free_connection();
  EXPECT_FALSE(is_shared());
  for (int i = 0; i < 2; ++i) t.reply(0, granted_row(4));
  t.pass(10s);
  acquire({"g", "h", "i"});
  free_connection();
  EXPECT_TRUE(is_shared());
}

TEST_F(mysql_shared_commit, whose_commit_failed_leaves_the_outcome_unknown) {
  hold_three();
  release_all();
  free_connection();
  t.reply(0, failed({granted_row(1), granted_row(1)}, out_of_room));
  ASSERT_EQ(t.statement(0), "ROLLBACK");
  t.reply(0, {});
  for (int i = 0; i < 2; ++i) t.reply(0, {});  // no row of that owner: it was released after all
  EXPECT_EQ(told_to(1) + told_to(2), "ended ended ");
}

TEST_F(mysql_shared_commit, whose_commit_failed_is_not_repeated_as_one) {
  acquire({"a", "b", "c"});
  free_connection();
  t.reply(0, failed({granted_row(2), granted_row(3)}, command_denied));
  t.reply(0, {});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(count(t.statement(0), "grant_number=LAST_INSERT_ID"), 1u) << "each alone";
    t.reply(0, error(command_denied));
  }
  for (const std::size_t i : {1u, 2u})
    EXPECT_NE(told_to(i).find("refused:"), std::string::npos) << "the reason is reported";
}

TEST_F(mysql_shared_commit, that_cannot_be_rolled_back_ends_its_connection) {
  acquire({"a", "b", "c"});
  free_connection();
  t.reply(0, failed({granted_row(2)}, wait_is_over));
  t.reply(0, error(command_denied));
  EXPECT_TRUE(t.connections[0]->closes);
  EXPECT_EQ(told_to(1) + told_to(2), "");
  t.close_requested();
  t.greet(1);
  for (int i = 0; i < 2; ++i) t.reply(1, granted_row(4));
  EXPECT_EQ(told_to(1) + told_to(2), "granted granted ");
}

TEST_F(mysql_shared_commit, of_a_lost_connection_is_repeated_once_that_is_killed) {
  acquire({"a", "b", "c"});
  free_connection();
  ASSERT_TRUE(is_shared());
  t.cut(0);
  EXPECT_EQ(told_to(1) + told_to(2), "");
  t.greet(1);
  ASSERT_EQ(t.statement(1), "KILL 100");
  t.reply(1, error(1094));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(count(t.statement(1), "grant_number=LAST_INSERT_ID"), 1u) << "each alone";
    t.reply(1, granted_row(4));
  }
  EXPECT_EQ(told_to(1) + told_to(2), "granted granted ");
}

TEST_F(mysql_shared_commit, of_a_read_only_server_grants_nothing) {
  acquire({"a", "b", "c"});
  free_connection();
  t.reply(0, failed({}, 1290));
  EXPECT_EQ(t.statement(0), "ROLLBACK");
  t.reply(0, {});
  EXPECT_TRUE(t.connections[0]->closes) << "as after such a reply to a single statement";
  EXPECT_EQ(told_to(1) + told_to(2), "");
}

}  // namespace
}  // namespace holdfast::mysql_unit
