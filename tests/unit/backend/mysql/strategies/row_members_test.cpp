// Readers, permits and several locks at once: the transactions of strategy `row`.
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

constexpr unsigned may_not_roll_back = 1142;
constexpr const char* no_wait_for_table = "/*M! SET STATEMENT lock_wait_timeout=0 FOR */ ";
const mysql::sql_row free_row{"", "-1", "0"}, row_with_members{"", "-1", "1"};

std::string refused(errc why) { return "refused:" + make_error_code(why).message() + ' '; }

class mysql_row_members : public testing::Test {
 protected:
  mysql_row_members() { t.open(); }
  ~mysql_row_members() override { release(*t.lock); }
  void release(seam::claim& c) {
    c.release(nullptr);
    if (!t.statement(0).empty()) t.reply(0, granted_row(0));
  }
  // The statement that the client sends next has this text.
  void reply_to(std::string_view part, const sql_reply& r) {
    ASSERT_TRUE(t.awaits(0, part)) << part << " is not in " << t.statement(0);
    t.reply(0, r);
  }
  void lock_row(const mysql::sql_row& row) {
    reply_to("START TRANSACTION", {});
    reply_to("FOR UPDATE", rows({row}));
  }
  // One of three, of a lock without other members.
  void acquire_permit() {
    t.acquire_permits(1, 3);
    lock_row(free_row);
    reply_to("has_members=1", granted_row(7));
    reply_to("INSERT INTO `locks_members`", granted_row(0));
    reply_to("COMMIT", {});
  }
  server_fixture t{"row"};
};

TEST_F(mysql_row_members, a_first_reader_draws_a_number) {
  const time_point sent = t.now();
  t.acquire_shared();
  lock_row(free_row);
  t.pass(1s);
  reply_to("has_members=1", granted_row(7));
  reply_to("INSERT INTO `locks_members`", granted_row(0));
  EXPECT_EQ(t.sink.take(), "") << "it is not committed";
  reply_to("COMMIT", {});
  EXPECT_EQ(t.sink.take(), "granted ");
  EXPECT_EQ(t.sink.last.number, 7);
  EXPECT_LT(t.sink.last.deadline, sent + 30s) << "it counts from the first send";
  EXPECT_EQ(t.lock->owner(), "g7") << "readers share one owner";
}

TEST_F(mysql_row_members, a_later_reader_has_the_number_of_the_first) {
  t.acquire_shared();
  lock_row(row_with_members);
  reply_to("FROM `locks_members`", rows({{"another", "5000000", "9", "0", "0"}}));
  reply_to("INSERT INTO `locks_members`", granted_row(0));
  reply_to("COMMIT", {});
  EXPECT_EQ(t.sink.take(), "granted ");
  EXPECT_EQ(t.sink.last.number, 9);
}

TEST_F(mysql_row_members, a_reader_does_not_enter_beside_a_writer) {
  t.acquire_shared();
  lock_row({"another", "5000000", "0"});
  reply_to("ROLLBACK", {});
  EXPECT_EQ(t.sink.take(), refused(errc::timed_out));
}

TEST_F(mysql_row_members, a_writer_checks_the_members) {
  t.acquire();
  reply_to("has_members=0", {});
  reply_to("SELECT owner,", rows({row_with_members}));
  lock_row(row_with_members);
  reply_to("FROM `locks_members`", rows({{"another", "5000000", "9", "0", "0"}}));
  reply_to("ROLLBACK", {});
  EXPECT_EQ(t.sink.take(), refused(errc::timed_out));
}

TEST_F(mysql_row_members, a_writer_deletes_expired_members_first) {
  t.acquire();
  reply_to("has_members=0", {});
  reply_to("SELECT owner,", rows({row_with_members}));
  lock_row(row_with_members);
  reply_to("FROM `locks_members`", rows({{"another", "-5", "9", "0", "0"}}));
  reply_to("DELETE FROM `locks_members`", granted_row(0));
  reply_to("has_members=0 WHERE", granted_row(12));
  reply_to("COMMIT", {});
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_row_members, a_writer_deletes_each_member_that_has_expired) {
  t.acquire();
  reply_to("has_members=0", {});
  reply_to("SELECT owner,", rows({row_with_members}));
  lock_row(row_with_members);
  reply_to("FROM `locks_members`",
           rows({{"first", "-5", "9", "0", "0"}, {"second", "-5", "9", "0", "0"}}));
  reply_to("owner=x'7365636f6e64'", granted_row(0));
  reply_to("owner=x'6669727374'", granted_row(0));
  reply_to("has_members=0 WHERE", granted_row(12));
  reply_to("COMMIT", {});
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_row_members, a_waiter_looks_again_when_the_first_lease_of_a_member_ends) {
  t.acquire(false);
  reply_to("has_members=0", {});
  reply_to("SELECT owner,", rows({row_with_members}));
  const auto find_members = [&](const char* first, const char* second) {
    lock_row(row_with_members);
    reply_to("FROM `locks_members`",
             rows({{"first", first, "9", "0", "0"}, {"second", second, "9", "0", "0"}}));
    reply_to("ROLLBACK", {});
  };
  find_members("7000000", "5000000");
  t.greet(1);
  ASSERT_TRUE(t.awaits(1, "GET_LOCK"));
  t.pass(2s);
  find_members("7000000", "5000000");
  t.pass(900ms);
  EXPECT_EQ(t.statement(0), "") << "none of the leases has ended";
  t.pass(1100ms);
  find_members("300000", "200000");
  t.pass(200ms);
  EXPECT_EQ(t.statement(0), "");
  t.pass(10ms);
  EXPECT_EQ(t.statement(0), "START TRANSACTION");
  t.lock->cancel();
}

TEST_F(mysql_row_members, a_member_that_was_renewed_meanwhile_is_not_expired) {
  t.acquire();
  reply_to("has_members=0", {});
  reply_to("SELECT owner,", rows({row_with_members}));
  lock_row(row_with_members);
  reply_to("FROM `locks_members`", rows({{"another", "-5", "9", "0", "0"}}));
  reply_to("DELETE FROM `locks_members`", {});
  reply_to("ROLLBACK", {});
  EXPECT_EQ(t.sink.take(), refused(errc::timed_out));
}

TEST_F(mysql_row_members, no_more_permits_are_granted_than_there_are) {
  t.acquire_permits(2, 3);
  lock_row(row_with_members);
  reply_to("FROM `locks_members`", rows({{"another", "5000000", "9", "2", "3"}}));
  reply_to("ROLLBACK", {});
  EXPECT_EQ(t.sink.take(), refused(errc::timed_out));
}

TEST_F(mysql_row_members, the_last_permit_is_granted) {
  t.acquire_permits(1, 3);
  lock_row(row_with_members);
  reply_to("FROM `locks_members`", rows({{"another", "5000000", "9", "1", "3"},
                                         {"a third", "7000000", "8", "1", "3"},
                                         {"expired", "0", "7", "3", "3"}}));
  reply_to("DELETE FROM `locks_members`", granted_row(0));
  reply_to("has_members=1", granted_row(10));
  reply_to("INSERT INTO `locks_members`", granted_row(0));
  reply_to("COMMIT", {});
  EXPECT_EQ(t.sink.take(), "granted ");
  EXPECT_EQ(t.sink.last.number, 10);
}

// The reply to an earlier transaction was lost.
TEST_F(mysql_row_members, a_permit_that_is_granted_already_keeps_its_number) {
  t.acquire_permits(1, 3);
  lock_row(row_with_members);
  reply_to("FROM `locks_members`", rows({{t.lock->owner(), "5000000", "9", "1", "3"}}));
  reply_to("INSERT INTO `locks_members`", granted_row(0));
  reply_to("COMMIT", {});
  EXPECT_EQ(t.sink.take(), "granted ");
  EXPECT_EQ(t.sink.last.number, 9);
}

TEST_F(mysql_row_members, a_permit_of_a_lock_that_a_writer_has_is_a_mismatch) {
  t.acquire_permits(1, 3);
  lock_row({"another", "5000000", "0"});
  reply_to("ROLLBACK", {});
  EXPECT_EQ(t.sink.take(), refused(errc::mismatch));
  EXPECT_NE(t.sink.reason.find(
                "use it as a lock, and it was requested as a semaphore of 3 permits"),
            std::string::npos)
      << t.sink.reason;
}

TEST_F(mysql_row_members, a_permit_of_a_lock_whose_writer_has_expired_is_granted) {
  t.acquire_permits(1, 3);
  lock_row({"another", "0", "0"});
  reply_to("has_members=1", granted_row(7));
  reply_to("INSERT INTO `locks_members`", granted_row(0));
  reply_to("COMMIT", {});
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_row_members, a_commit_that_failed_may_have_granted) {
  t.acquire_shared();
  lock_row(free_row);
  reply_to("has_members=1", granted_row(7));
  reply_to("INSERT INTO `locks_members`", granted_row(0));
  reply_to("COMMIT", error(1213));
  reply_to("ROLLBACK", {});
  EXPECT_NE(t.sink.take(), "");
  EXPECT_TRUE(t.awaits(0, "DELETE FROM `locks_members`")) << "it is withdrawn";
}

TEST_F(mysql_row_members, a_semaphore_of_another_size_is_a_mismatch) {
  t.acquire_permits(1, 4);
  lock_row(row_with_members);
  reply_to("FROM `locks_members`", rows({{"another", "5000000", "9", "2", "3"}}));
  reply_to("ROLLBACK", {});
  EXPECT_EQ(t.sink.take(), refused(errc::mismatch));
}

TEST_F(mysql_row_members, a_row_that_does_not_exist_is_created_outside_the_transaction) {
  t.acquire_shared();
  reply_to("START TRANSACTION", {});
  reply_to("FOR UPDATE", {});
  reply_to("ROLLBACK", {});
  reply_to("INSERT INTO `locks`", {});
  lock_row(free_row);
  reply_to("has_members=1", granted_row(7));
  reply_to("INSERT INTO `locks_members`", granted_row(0));
  reply_to("COMMIT", {});
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_row_members, a_deadlock_is_repeated_from_the_beginning) {
  t.acquire_shared();
  lock_row(free_row);
  reply_to("has_members=1", error(1213));
  reply_to("ROLLBACK", {});
  t.pass(1s);
  lock_row(free_row);
  reply_to("has_members=1", granted_row(8));
  reply_to("INSERT INTO `locks_members`", granted_row(0));
  reply_to("COMMIT", {});
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_row_members, several_locks_are_written_once_all_are_free) {
  told other_sink;
  const auto other = t.s->open("another", other_sink);
  const seam::lock_group group = seam::lock_group::of(2);
  const auto request = [&] {
    return seam::acquire_request{.one_attempt = true, .ttl = 30s, .group = group, .at = t.now()};
  };
  t.lock->acquire(request());
  EXPECT_EQ(t.statement(0), "") << "it awaits the other member";
  other->acquire(request());
  reply_to("START TRANSACTION", {});
  EXPECT_FALSE(t.awaits(0, no_wait_for_table)) << "it has no row yet";
  reply_to("name=x'616e6f74686572' FOR UPDATE", rows({free_row}));
  EXPECT_TRUE(t.awaits(0, no_wait_for_table));
  reply_to("name=x'6a6f62' FOR UPDATE", rows({free_row}));
  reply_to("name=x'616e6f74686572'", granted_row(4));
  EXPECT_TRUE(t.awaits(0, no_wait_for_table));
  reply_to("name=x'6a6f62'", granted_row(5));
  EXPECT_EQ(t.sink.words + other_sink.words, "");
  EXPECT_EQ(t.statement(0), "COMMIT");
  reply_to("COMMIT", {});
  EXPECT_EQ(t.sink.take() + other_sink.take(), "granted granted ");
  EXPECT_EQ(t.sink.last.number, 5);
  EXPECT_EQ(other_sink.last.number, 4);
  other->release(nullptr);
  t.reply(0, granted_row(0));
}

// FLUSH TABLES WITH READ LOCK may wait for a statement that waits for the row it has locked.
TEST_F(mysql_row_members, a_transaction_that_drops_a_member_does_not_wait_for_a_table) {
  t.acquire_permits(1, 3);
  lock_row(row_with_members);
  EXPECT_TRUE(t.awaits(0, no_wait_for_table));
  reply_to("FROM `locks_members`", rows({{"expired", "0", "7", "3", "3"}}));
  for (const char* part : {"DELETE FROM `locks_members`", "UPDATE `locks`", "INSERT INTO"}) {
    EXPECT_TRUE(t.awaits(0, no_wait_for_table)) << t.statement(0);
    reply_to(part, granted_row(10));
  }
  EXPECT_EQ(t.statement(0), "COMMIT");
  reply_to("COMMIT", {});
}

// The next statements on this connection would belong to the open transaction and not be committed.
TEST_F(mysql_row_members, a_transaction_that_cannot_be_rolled_back_ends_its_connection) {
  t.acquire_permits(1, 3);
  lock_row({"another", "5000000", "0"});
  reply_to("ROLLBACK", error(may_not_roll_back));
  EXPECT_TRUE(t.connections[0]->closes);
  EXPECT_EQ(t.sink.take(), "");
  t.close_requested();
}

TEST_F(mysql_row_members, several_locks_are_not_written_once_one_of_them_is_not_wanted_any_more) {
  told other_sink;
  const auto other = t.s->open("another", other_sink);
  const seam::lock_group group = seam::lock_group::of(2);
  for (seam::claim* const c : {t.lock.get(), other.get()})
    c->acquire({.one_attempt = true, .ttl = 30s, .group = group, .at = t.now()});
  reply_to("START TRANSACTION", {});
  reply_to("FOR UPDATE", rows({free_row}));
  other->cancel();
  reply_to("FOR UPDATE", rows({free_row}));
  reply_to("ROLLBACK", {});
  EXPECT_EQ(t.sink.take() + other_sink.take(), "");
}

TEST_F(mysql_row_members, a_transaction_that_cannot_begin_again_fails_for_the_first_of_its_locks) {
  told first_sink;
  const auto first = t.s->open("another", first_sink);
  const seam::lock_group group = seam::lock_group::of(2);
  const auto request = [&] {
    return seam::acquire_request{.one_attempt = true, .ttl = 30s, .group = group, .at = t.now()};
  };
  t.lock->acquire(request());
  first->acquire(request());
  reply_to("START TRANSACTION", {});
  reply_to("name=x'616e6f74686572' FOR UPDATE", rows({free_row}));
  reply_to("name=x'6a6f62' FOR UPDATE", {});
  reply_to("ROLLBACK", {});
  reply_to("INSERT INTO `locks`", {});
  reply_to("START TRANSACTION", error(1142));
  reply_to("ROLLBACK", {});
  EXPECT_NE(first_sink.reason, "") << "the failure is that of the first lock";
  EXPECT_EQ(first_sink.take(), refused(errc::refused));
  EXPECT_NE(t.sink.take(), refused(errc::refused));
}

TEST_F(mysql_row_members, renewals_that_come_together_are_sent_together) {
  const auto [sinks, claims] = acquire_several(t, 3, [&] { t.reply(0, granted_row(1)); });
  for (auto& c : claims) c->renew(30s, 1);
  t.greet(1);
  ASSERT_TRUE(t.awaits(1, "renewals=renewals+1"));
  t.reply(1, granted_row(0));
  EXPECT_TRUE(t.awaits(1, "name IN (x'6c6f636b31',x'6c6f636b32')")) << t.statement(1);
  claims[2]->renew(30s, 2);
  t.reply(1, granted_row(0));  // one row of the two
  ASSERT_TRUE(t.awaits(1, "SELECT name,owner,"));
  t.reply(1, rows({{"lock1", claims[1]->owner(), "5000"}, {"lock2", "another", "5000"}}));
  EXPECT_EQ(sinks[0]->take(), "granted extended ");
  EXPECT_EQ(sinks[1]->take(), "granted extended ");
  EXPECT_EQ(sinks[2]->take(), "granted lost ");
  EXPECT_EQ(t.statement(1), "") << "a lease that is lost is not renewed";
  for (auto& c : claims) release(*c);
}

TEST_F(mysql_row_members, renewals_for_another_time_are_sent_by_themselves) {
  const auto [sinks, claims] = acquire_several(t, 3, [&] { t.reply(0, granted_row(1)); });
  claims[0]->renew(30s, 1);
  claims[1]->renew(20s, 1);
  claims[2]->renew(30s, 1);
  t.greet(1);
  t.reply(1, granted_row(0));
  EXPECT_TRUE(t.awaits(1, "name IN (x'6c6f636b31')")) << t.statement(1);
  t.reply(1, granted_row(0));
  EXPECT_TRUE(t.awaits(1, "name IN (x'6c6f636b32')")) << t.statement(1);
  t.reply(1, granted_row(0));
  EXPECT_EQ(t.statement(1), "");
  for (auto& c : claims) release(*c);
}

TEST_F(mysql_row_members, renewals_of_256_locks_at_most_are_sent_together) {
  const auto [sinks, claims] = acquire_several(t, 258, [&] { t.reply(0, granted_row(1)); });
  for (auto& c : claims) c->renew(30s, 1);
  t.greet(1);
  for (const std::uint64_t together : {1u, 256u, 1u}) {
    std::uint64_t values = 0;
    const std::string& text = t.statement(1);
    for (auto at = text.find("x'"); at != text.npos; at = text.find("x'", at + 1)) ++values;
    EXPECT_EQ(values, 2 * together) << "names and owners";
    sql_reply renewed;
    renewed.affected = together;
    t.reply(1, renewed);
  }
  EXPECT_EQ(t.statement(1), "");
  for (const auto& sink : sinks) EXPECT_EQ(sink->take(), "granted extended ");
  for (auto& c : claims) release(*c);
}

TEST_F(mysql_row_members, a_renewal_of_a_lease_that_has_ended_is_not_sent) {
  const auto [sinks, claims] = acquire_several(t, 2, [&] { t.reply(0, granted_row(1)); });
  for (auto& c : claims) c->renew(30s, 1);
  t.greet(1);
  claims[1]->release(nullptr);
  t.reply(0, granted_row(0));
  claims[1]->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  t.reply(0, granted_row(2));
  EXPECT_EQ(sinks[1]->take(), "granted ended granted ");
  t.reply(1, granted_row(0));
  EXPECT_EQ(t.statement(1), "") << "the lease that the claim has now was not to be renewed";
  for (auto& c : claims) release(*c);
}

TEST_F(mysql_row_members, renewals_of_members_are_sent_by_themselves) {
  const auto [sinks, claims] = acquire_several(t, 2, [&] { t.reply(0, granted_row(1)); });
  acquire_permit();
  claims[0]->renew(30s, 1);
  t.greet(1);
  claims[1]->renew(30s, 1);
  t.lock->renew(30s, 1);
  t.reply(1, granted_row(0));
  EXPECT_TRUE(t.awaits(1, "name IN (x'6c6f636b31')")) << t.statement(1);
  t.reply(1, granted_row(0));
  EXPECT_TRUE(t.awaits(1, "UPDATE `locks_members`")) << t.statement(1);
  EXPECT_TRUE(t.awaits(1, "x'6a6f62'")) << t.statement(1);
  t.reply(1, granted_row(0));
  EXPECT_EQ(t.sink.take(), "granted extended ");
  for (auto& c : claims) release(*c);
}

TEST_F(mysql_row_members, a_permit_that_expired_before_its_renewal_is_lost_by_that_or_to_another) {
  for (const bool has_rival : {false, true}) {
    acquire_permit();
    t.lock->renew(30s, 1);
    if (t.connections.size() == 2 && !has_rival) t.greet(1);
    t.reply(1, {});
    const mysql::sql_row own{"job", t.lock->owner(), "-5"};
    t.reply(1, has_rival ? rows({{"job", "another", "5000"}, own}) : rows({own}));
    EXPECT_EQ(t.sink.take(), "granted lost ");
    EXPECT_EQ(t.sink.lost_by, has_rival ? errc::lost : errc::timed_out);
    t.lock->release(nullptr);
    EXPECT_NE(t.sink.take(), "");
  }
}

TEST_F(mysql_row_members, a_renewal_whose_rows_cannot_be_read_loses_no_lease) {
  t.acquire();
  t.reply(0, granted_row(1));
  t.lock->renew(30s, 1);
  t.greet(1);
  t.reply(1, {});
  ASSERT_TRUE(t.awaits(1, "SELECT name,owner,"));
  t.reply(1, error(1205));
  EXPECT_EQ(t.sink.take(), "granted ");
  t.lock->renew(30s, 2);
  ASSERT_TRUE(t.awaits(1, "renewals=renewals+1")) << t.statement(1);
  t.reply(1, granted_row(0));
  EXPECT_EQ(t.sink.take(), "extended ");
}

// It is not counted together with marks and releases of writers.
TEST_F(mysql_row_members, a_release_of_a_reader_says_nothing_of_clients_that_poll) {
  t.acquire(false);
  t.reply(0, granted_row(5));
  t.pass(6ms);
  t.lock->release(nullptr);
  t.reply(0, granted_row(3));
  t.acquire_shared();
  lock_row(free_row);
  reply_to("has_members=1", granted_row(7));
  reply_to("INSERT INTO `locks_members`", granted_row(0));
  reply_to("COMMIT", {});
  t.pass(6ms);
  release(*t.lock);
  EXPECT_EQ(t.sink.take(), "granted ended granted ended ");
  t.acquire(false);
  EXPECT_TRUE(t.awaits(0, "UPDATE")) << "it need not leave the row free";
  t.reply(0, granted_row(8));
}

TEST_F(mysql_row_members, a_row_that_is_locked_does_not_hold_up_the_renewals_of_others) {
  const auto [sinks, claims] = acquire_several(t, 4, [&] { t.reply(0, granted_row(1)); });
  claims[0]->renew(30s, 1);
  t.greet(1);
  for (const std::size_t i : {1u, 2u}) claims[i]->renew(30s, 1);
  const auto expect_renewal_of = [&](const char* names, const sql_reply& r) {
    EXPECT_TRUE(t.awaits(1, std::string("name IN (") + names + ")")) << t.statement(1);
    t.reply(1, r);
  };
  expect_renewal_of("x'6c6f636b30'", granted_row(0));
  claims[3]->renew(30s, 1);
  expect_renewal_of("x'6c6f636b31',x'6c6f636b32'", error(1205));
  expect_renewal_of("x'6c6f636b33'", granted_row(0));
  claims[3]->renew(30s, 2);
  expect_renewal_of("x'6c6f636b31'", error(1205));
  expect_renewal_of("x'6c6f636b32'", granted_row(0));
  expect_renewal_of("x'6c6f636b33'", granted_row(0));
  EXPECT_EQ(sinks[1]->take(), "granted ") << "the core repeats it";
  EXPECT_EQ(sinks[2]->take(), "granted extended ");
  EXPECT_EQ(sinks[3]->take(), "granted extended extended ");
  for (auto& c : claims) release(*c);
}

}  // namespace
}  // namespace holdfast::mysql_unit
