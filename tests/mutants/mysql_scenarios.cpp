// What a claim with MySQL may do.
#include <algorithm>
#include <vector>

#include "scenario.hpp"

#ifdef HOLDFAST_WITH_MYSQL
#include "backend/mysql/strategies/insert/statements.hpp"
#include "backend/mysql/strategies/row/statements.hpp"
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mutants {
namespace of_mysql {

using base::mutant;
using namespace mysql_unit;
namespace my = holdfast::mysql;

constexpr const char* a_number = "30031216640000005";  // a UUID_SHORT()

static void grant_named(server_fixture& t) {
  t.open();
  t.acquire();
  t.greet(1);
  t.reply(1, rows({{"1", a_number}}));
  (void)t.sink.take();
}

static std::string a_waited_grant_is_confirmed() {
  server_fixture t("named");
  t.open();
  t.acquire(false);
  t.greet(1);
  t.reply(1, rows({{"0", a_number}}));
  t.reply(1, rows({{"1"}}));
  return t.sink.take().empty() ? "" : "it holds what the server may have freed since";
}

static std::string a_cut_ends_a_named_lock() {
  server_fixture t("named");
  grant_named(t);
  t.cut(1);
  return t.sink.take() == "lost " ? "" : "it holds a lock whose connection has ended";
}

static std::string an_outage_ends_by_itself() {
  server_fixture t("named");
  t.open();
  t.cut(0);
  return t.connections.size() == 2 ? "" : "waiters are refused, though the server is back";
}

static std::string a_held_connection_is_kept_alive() {
  server_fixture t("named");
  grant_named(t);
  t.pass(idle_timeout / 2);
  return t.awaits(1, "read_only") ? "" : "the server closes the connection as an idle one";
}

static std::string a_number_grows() {
  server_fixture t("named");
  grant_named(t);
  t.lock->release(nullptr);
  t.reply(1, rows({{"1"}}));
  t.acquire();
  t.reply(1, rows({{"1", a_number}}));
  const bool is_granted = t.sink.take().find("granted") != std::string::npos;
  if (is_granted) {
    t.lock->release(nullptr);
    t.reply(1, rows({{"1"}}));
  }
  return is_granted ? "two grants have one number" : "";
}

static std::string a_short_keepalive_ends_leases_earlier() {
  server_fixture t("named");
  t.open();
  t.acquire();
  t.greet(1, {"tcp_keepalive_time", "4"});
  const time_point sent = t.now();
  t.reply(1, rows({{"1", a_number}}));
  return t.sink.last.deadline < sent + 5s ? "" : "the server frees the lock before the deadline";
}

static std::string a_lock_ends_with_the_idle_timeout() {
  server_fixture t("named");
  t.open();
  const time_point before = t.now();
  t.acquire();
  t.greet(1);
  t.reply(1, rows({{"1", a_number}}));
  return t.sink.last.deadline < before + idle_timeout
             ? ""
             : "a stopped client holds what the server has freed";
}

static std::string an_idle_transaction_ends_locks_earlier() {
  server_fixture t("for-update");
  t.open();
  const time_point before = t.now();
  t.acquire();
  t.greet(1, {"idle_readonly_transaction_timeout", "4"});
  t.reply(1, rows({{"1", a_number}}));
  return t.sink.last.deadline < before + 4s ? "" : "the server frees the lock before the deadline";
}

// Whether a client closes all its connections to servers that greet it so, and does not open.
static bool is_refused(server_fixture& t, const std::vector<my::sql_row>& greetings) {
  bool are_closed = false;
  t.net.while_blocked = [&] {
    for (std::size_t i = 0; i < greetings.size(); ++i) t.greet(i, greetings[i]);
    are_closed = std::ranges::all_of(t.connections, [](const auto& c) { return c->closes; });
    if (are_closed) return t.close_requested();
    while (t.awaits(0, "SELECT name")) t.reply(0, {});
  };
  try {
    t.over.open();
  } catch (const lock_error&) {}
  return are_closed;
}

static std::string a_replica_is_refused() {
  server_fixture t("row");
  return is_refused(t, {{"read_only", "ON"}})
             ? ""
             : "locks are granted by a server that others do not use";
}

static std::string no_server_is_used_where_two_take_writes() {
  server_fixture t("row", 2);
  const my::sql_row writable{"read_only", "OFF"};
  return is_refused(t, {writable, writable})
             ? ""
             : "locks are granted by one of two servers that do not know each other's";
}

static std::string renewals_go_to_the_primary() {
  server_fixture t("row", 2);
  t.open();
  t.acquire();
  t.reply(0, granted_row(5));
  t.lock->renew(30s, 0);
  if (t.connections.size() != 3) return "no connection for renewals";
  told other_sink;
  const auto other = t.s->open("other", other_sink);
  t.cut(0);
  other->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  t.cut(3);
  t.greet(4);
  t.greet(2);
  const bool is_refused = t.connections[2]->closes;
  t.cut(2);
  t.cut(4);
  return is_refused ? "" : "a lease is renewed by a server that is not the primary";
}

static std::string a_demoted_primary_is_left() {
  server_fixture t("row");
  t.open();
  t.acquire(false);
  t.reply(0, error(1290));
  return t.connections[0]->closes ? "" : "the client stays at a replica";
}

static std::string a_demoted_server_ends_a_named_lock() {
  server_fixture t("named");
  grant_named(t);
  t.pass(idle_timeout / 3 + 1ms);
  t.reply(1, rows({{"1"}}));
  return t.sink.take() == "lost " ? "" : "it holds what the next primary grants again";
}

static std::string a_demoted_server_grants_no_named_lock() {
  server_fixture t("named");
  t.open();
  t.acquire(false);
  t.greet(1);
  t.reply(1, rows({{"0", a_number, "0"}}));
  t.reply(1, rows({{"1"}}));
  t.reply(1, rows({{"1", a_number, "1"}}));
  return t.sink.take().empty() ? "" : "it holds what the next primary grants again";
}

static std::string another_server_is_chosen_after_a_demotion() {
  server_fixture t("row", 2);
  t.open();
  t.acquire(false);
  t.reply(0, error(1290));
  t.close_requested();
  t.pass(1s);
  return t.connections.size() == 4 ? "" : "the client returns to the former primary";
}

static std::string a_lost_connection_is_killed_first() {
  server_fixture t("row");
  t.open();
  t.acquire();
  t.cut(0);
  t.greet(1);
  return t.statement(1) == "KILL 100" ? "" : "the old statement may run after the new one";
}

static std::string a_kill_is_repeated() {
  server_fixture t("row");
  t.open();
  t.acquire();
  t.cut(0);
  t.greet(1);
  t.reply(1, {});
  return t.statement(1) == "KILL 100" ? "" : "the killed statement may still be committed";
}

// A connection with the id 100 is lost, and the server has been started again since.
static void lose_with_the_server(server_fixture& t) {
  t.open({.started = "7", .address = "client:1"});
  t.acquire();
  t.cut(0);
  t.greet(1, {"read_only", "OFF"}, {.started = "8", .address = "client:2"});
}

static std::string a_strange_connection_is_not_killed() {
  server_fixture t("row");
  lose_with_the_server(t);
  t.reply(1, rows({{"100", "client:3"}, {"101", "client:2"}}));
  return t.awaits(1, "KILL") ? "it ends the connection of another client" : "";
}

static std::string another_server_proves_no_death() {
  server_fixture t("row");
  t.open();
  t.acquire();
  t.cut(0);
  t.greet(1, {"server_id", "2"});
  return t.awaits(1, "KILL") ? "the first server may still execute the statement" : "";
}

static std::string an_overdue_statement_is_cut() {
  server_fixture t("row");
  t.open();
  t.acquire(false);
  t.pass(op_timeout + 1ms);
  return t.connections[0]->closes ? "" : "a statement without a reply is awaited forever";
}

static std::string a_row_is_taken_once_it_has_expired() {
  const my::insert::columns columns{.key = "k", .owner = "o", .update_time = "u", .lease = "l"};
  const std::string row = my::row::statements("t").try_lock({.name = "a", .owner = "b"}, 0).text();
  const std::string record =
      my::insert::statements("t", columns).try_lock({.name = "a", .owner = "b"}, 2).text();
  const bool both =
      row.find("expires_at<=UTC") != row.npos && record.find("<=UTC_TIMESTAMP") != record.npos;
  return both ? "" : "it takes a lock that is held";
}

static std::string a_rows_number_follows_the_clock() {
  const std::string text = my::row::statements("t").try_lock({.name = "a", .owner = "b"}, 0).text();
  return text.find("GREATEST(") != text.npos ? "" : "a table that was restored repeats numbers";
}

static std::string a_renewed_record_is_not_deleted() {
  const my::insert::columns columns{.key = "k", .owner = "o", .update_time = "u", .lease = "l"};
  for (const std::string& text : {my::insert::statements("t", columns).expiry("a", "b").text(),
                                  my::row::statements("t").expiry("a", "b").text()})
    if (text.find("<=UTC_TIMESTAMP") == text.npos) return "a clean-up frees a living owner's lock";
  return "";
}

static std::string a_try_waits_for_the_release() {
  server_fixture t("row");
  t.open();
  t.acquire();
  t.reply(0, granted_row(1));
  t.lock->release(nullptr);
  told next;
  const auto rival = t.s->open("job", next);
  rival->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  if (t.connections.size() > 1) t.greet(1);
  const bool overtakes = t.awaits(1, "grant_number");
  t.reply(0, granted_row(0));
  for (const std::size_t i : {0u, 1u})
    if (t.awaits(i, "grant_number")) t.reply(i, error(1142));
  return overtakes ? "a client's own release keeps it from the lock" : "";
}

// Two locks whose statements wait for the only connection while it is busy with "job".
struct sharing_locks {
  explicit sharing_locks(const char* one = "a", const char* other = "b") {
    t.open();
    t.acquire();
    for (const char* name : {one, other}) {
      sinks.push_back(std::make_unique<told>());
      claims.push_back(t.s->open(name, *sinks.back()));
      claims.back()->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
    }
    t.reply(0, granted_row(1));
  }
  std::string words() const { return sinks[0]->words + sinks[1]->words; }

  server_fixture t{server_fixture::with_one_connection("row")};
  std::vector<std::unique_ptr<told>> sinks;
  std::vector<std::unique_ptr<seam::claim>> claims;
};

static std::string a_failed_commit_grants_nothing() {
  sharing_locks both;
  both.t.reply(0, failed({granted_row(2), granted_row(3)}, 1114));
  return both.words().empty() ? "" : "two locks are granted that the server has rolled back";
}

static std::string a_release_in_a_failed_commit_may_have_taken_effect() {
  sharing_locks both;
  both.t.reply(0, committed({granted_row(2), granted_row(3)}));
  both.t.lock->release(nullptr);
  for (const auto& sink : both.sinks) sink->words.clear();
  for (const auto& c : both.claims) c->release(nullptr);
  both.t.reply(0, granted_row(1));
  both.t.reply(0, failed({granted_row(1), granted_row(1)}, 1114));
  both.t.reply(0, {});                              // ROLLBACK
  for (int i = 0; i < 2; ++i) both.t.reply(0, {});  // no row of that owner
  return both.words() == "ended ended " ? "" : "a lock that was released is reported lost";
}

static std::string two_clients_lock_rows_in_one_order() {
  const auto text = my::bound("?", {std::string_view("a")});
  std::size_t at[2] = {};
  for (int i = 0; i < 2; ++i) {
    sharing_locks both(i == 0 ? "a" : "b", i == 0 ? "b" : "a");
    at[i] = both.t.statement(0).find(text);
  }
  return at[0] == at[1] ? "" : "two clients wait for each other's rows";
}

static std::string a_writer_respects_readers() {
  const std::string text = my::row::statements("t").try_lock({.name = "n", .owner = "o"}, 0).text();
  return text.find("has_members=0") != text.npos ? "" : "a writer enters beside readers";
}

static std::string a_semaphore_has_a_size() {
  server_fixture t("row");
  t.open();
  t.acquire_permits(2, 3);
  t.reply(0, {});
  t.reply(0, rows({{"", "-1", "1"}}));
  t.reply(0, rows({{"another", "5000000", "9", "2", "3"}}));
  const bool is_refused = t.statement(0) == "ROLLBACK";
  t.reply(0, {});
  if (!is_refused) t.reply(0, error(1142));
  return is_refused ? "" : "4 permits of 3 are granted";
}

static std::string a_failed_rollback_ends_the_connection() {
  server_fixture t("row");
  t.open();
  t.acquire_permits(1, 3);
  t.reply(0, {});
  t.reply(0, rows({{"another", "5000000", "0"}}));
  t.reply(0, error(1142));  // ROLLBACK
  if (!t.connections[0]->closes) return "the next grants are in a transaction that never ends";
  t.close_requested();
  return "";
}

static std::string an_expired_reader_stays_expired() {
  const std::string text =
      my::row::statements("t")
          .renew({.name = "n", .owner = "o", .ttl = 30s, .mode = lock_mode::shared})
          .text();
  return text.find("expires_at>") != text.npos ? "" : "a reader comes back beside a writer";
}

static std::string a_renewal_shortens_no_lease() {
  const std::string text =
      my::row::statements("t").renew({.name = "n", .owner = "o", .ttl = 30s}).text();
  const bool compares = text.find("GREATEST(expires_at,") != text.npos;
  return compares ? "" : "the server ends a lease that another renewal has made longer";
}

static std::string a_renewed_reader_stays() {
  server_fixture t("row");
  t.open();
  t.acquire();
  t.reply(0, {});
  t.reply(0, rows({{"", "-1", "1"}}));
  t.reply(0, {});
  t.reply(0, rows({{"", "-1", "1"}}));
  t.reply(0, rows({{"another", "-5", "9", "0", "0"}}));
  t.reply(0, {});  // no row was deleted
  const bool is_refused = t.statement(0) == "ROLLBACK";
  t.reply(0, is_refused ? mysql::sql_reply() : error(1142));
  if (!is_refused) t.reply(0, {});
  return is_refused ? "" : "a writer enters beside a reader that was renewed in time";
}

static std::string a_bell_is_no_grant() {
  server_fixture t("row");
  t.open();
  t.acquire();
  t.reply(0, {});  // no row was changed
  const bool is_granted = t.sink.take().find("granted") != std::string::npos;
  if (is_granted) t.lock->release(nullptr);
  t.reply(0, is_granted ? granted_row(0) : error(1142));
  return is_granted ? "it holds a row that another client has" : "";
}

// One turn of a client that locks the row again and again.
static void use_row(server_fixture& t, base::duration use, std::uint64_t marks) {
  t.acquire(false);
  t.reply(0, granted_row(5));
  t.pass(use);
  t.lock->release(nullptr);
  t.reply(0, granted_row(marks));
}

// The acquire after two turns. `marks`: of the row, as the second release reads them.
static std::string acquire_after(base::duration use, std::uint64_t marks, const char* if_at_once) {
  server_fixture t("row");
  t.open();
  use_row(t, use, 0);
  use_row(t, use, marks);
  t.acquire(false);
  const bool is_at_once = t.awaits(0, "grant_number");
  t.lock->cancel();
  if (is_at_once) t.reply(0, error(1142));
  t.close_requested();
  return is_at_once ? if_at_once : "";
}

static std::string a_client_overtakes_no_waiter() {
  return acquire_after(13ms, 0, "a waiter with a bell is overtaken again and again");
}

static std::string a_client_leaves_a_row_to_those_that_poll() {
  return acquire_after(6ms, 1, "a waiter without a bell finds the row held each time");
}

constexpr scenario all_of_mysql[] = {
    {mutant::waiters_overtaken, "mysql", a_client_overtakes_no_waiter},
    {mutant::pollers_unseen, "mysql", a_client_leaves_a_row_to_those_that_poll},
    {mutant::statements_overtake, "mysql", a_try_waits_for_the_release},
    {mutant::idle_timeout_ignored, "mysql", a_lock_ends_with_the_idle_timeout},
    {mutant::idle_transaction_ignored, "mysql", an_idle_transaction_ends_locks_earlier},
    {mutant::waited_grant_believed, "mysql", a_waited_grant_is_confirmed},
    {mutant::cut_connection_holds, "mysql", a_cut_ends_a_named_lock},
    {mutant::mysql_outage_awaits_demand, "mysql", an_outage_ends_by_itself},
    {mutant::heartbeat_omitted, "mysql", a_held_connection_is_kept_alive},
    {mutant::smaller_number_accepted, "mysql", a_number_grows},
    {mutant::short_keepalive_ignored, "mysql", a_short_keepalive_ends_leases_earlier},
    {mutant::read_only_mysql_believed, "mysql", a_replica_is_refused},
    {mutant::second_primary_ignored, "mysql", no_server_is_used_where_two_take_writes},
    {mutant::mysql_servers_mixed, "mysql", renewals_go_to_the_primary},
    {mutant::demoted_mysql_kept, "mysql", a_demoted_primary_is_left},
    {mutant::demoted_holder_kept, "mysql", a_demoted_server_ends_a_named_lock},
    {mutant::replica_grant_believed, "mysql", a_demoted_server_grants_no_named_lock},
    {mutant::former_primary_kept, "mysql", another_server_is_chosen_after_a_demotion},
    {mutant::lost_mysql_connection_not_killed, "mysql", a_lost_connection_is_killed_first},
    {mutant::kill_believed_at_once, "mysql", a_kill_is_repeated},
    {mutant::strange_connection_killed, "mysql", a_strange_connection_is_not_killed},
    {mutant::mysql_identity_ignored, "mysql", another_server_proves_no_death},
    {mutant::overdue_statement_awaited, "mysql", an_overdue_statement_is_cut},
    {mutant::row_taken_unexpired, "mysql", a_row_is_taken_once_it_has_expired},
    {mutant::shared_error_ignored, "mysql", a_failed_commit_grants_nothing},
    {mutant::commit_doubt_ignored, "mysql", a_release_in_a_failed_commit_may_have_taken_effect},
    {mutant::shared_rows_unsorted, "mysql", two_clients_lock_rows_in_one_order},
    {mutant::row_members_ignored, "mysql", a_writer_respects_readers},
    {mutant::open_transaction_kept, "mysql", a_failed_rollback_ends_the_connection},
    {mutant::row_permits_not_counted, "mysql", a_semaphore_has_a_size},
    {mutant::late_renewal_shortens, "mysql", a_renewal_shortens_no_lease},
    {mutant::expired_member_renewed, "mysql", an_expired_reader_stays_expired},
    {mutant::renewed_member_dropped, "mysql", a_renewed_reader_stays},
    {mutant::row_number_unread, "mysql", a_bell_is_no_grant},
    {mutant::row_number_below_clock, "mysql", a_rows_number_follows_the_clock},
    {mutant::living_record_deleted, "mysql", a_renewed_record_is_not_deleted},
};

}  // namespace of_mysql

std::span<const scenario> mysql_scenarios() { return of_mysql::all_of_mysql; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {
std::span<const scenario> mysql_scenarios() { return {}; }
}  // namespace holdfast::mutants
#endif
