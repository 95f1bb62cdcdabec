// Locks in MariaDB: rows that FOR UPDATE locks or does not lock, and records without an end.
#include <thread>

#include "lab/mariadb.hpp"
#include "lab/story.hpp"
#include "lab/worker_process.hpp"

namespace holdfast::lab {

testkit::mariadb_server& emptied_mariadb() {
  static testkit::mariadb_server one;
  for (const char* statement :
       {"DROP DATABASE IF EXISTS test", "CREATE DATABASE test CHARACTER SET utf8mb4", "USE test"})
    one.query(statement);
  return one;
}

namespace {

using namespace std::chrono_literals;
using testkit::mariadb_link;
using testkit::mariadb_server;

constexpr const char* create_jobs =
    "CREATE TABLE job (id INT PRIMARY KEY, label VARCHAR(20) NOT NULL) ENGINE=InnoDB";

// In a transaction, and with a short wait for rows.
mariadb_link begun(const mariadb_server& s) {
  mariadb_link fresh = s.link();
  fresh.query("SET innodb_lock_wait_timeout=1");
  fresh.query("BEGIN");
  return fresh;
}

void no_index_naive(play& p) {
  mariadb_server& server = emptied_mariadb();
  server.query(create_jobs);
  server.query("INSERT INTO job SELECT seq, CONCAT('job', seq) FROM seq_1_to_1000");
  actor a(p.line, "client A"), b(p.line, "client B"), table(p.line, "server");
  mariadb_link first = begun(server), second = begun(server);
  first.query("SELECT * FROM job WHERE label='job5' FOR UPDATE");
  a.has_another("SELECT * FROM job WHERE label='job5' FOR UPDATE: one row of 1000");
  const long long locked = server.rows_locked_by(first.id());
  table.bad("has locked " + std::to_string(locked) + " rows: label has no index, so it read all");
  std::this_thread::sleep_for(100ms);
  b.waits("SELECT * FROM job WHERE id=900 FOR UPDATE: another job");
  const unsigned error = second.error_of("SELECT * FROM job WHERE id=900 FOR UPDATE");
  b.ends("error " + std::to_string(error) + ": lock wait timeout, after 1 s", tone::bad);
  p.ends(error == lock_wait_timeout && locked >= 1000,
         "the lock of one job is the lock of all jobs: B waits for a client that does not use its "
         "job.");
}

void no_index_holdfast(play& p) {
  mariadb_server& server = emptied_mariadb();
  const std::string url = server.url() + "?strategy=for-update";
  const client first = client::open(url), second = client::open(url);
  actor a(p.line, "client A"), b(p.line, "client B"), c(p.line, "client C");
  lease own = first.mutex("job5").acquire();
  a.holds("mutex(\"job5\").acquire(): granted");
  std::this_thread::sleep_for(100ms);
  const lease of_b = second.mutex("job900").try_acquire();
  if (of_b) b.has_another("mutex(\"job900\").try_acquire(): granted at once, as another lock");
  std::this_thread::sleep_for(100ms);
  const lease of_c = second.mutex("job5").try_acquire();
  c.good("mutex(\"job5\").try_acquire(): busy");
  std::this_thread::sleep_for(200ms);
  p.ends(!of_b || of_c || !own.held(), "each lock is a row of a table of its own, found by its "
                                       "primary key, so each lock locks one row.");
}

void absent_row_naive(play& p) {
  mariadb_server& server = emptied_mariadb();
  server.query(create_jobs);
  actor a(p.line, "client A"), b(p.line, "client B");
  mariadb_link first = begun(server), second = begun(server);
  const std::string lock = "SELECT * FROM job WHERE id=5 FOR UPDATE";
  const bool is_empty = first.query(lock).rows.empty();
  a.holds(lock + ": no row. A goes on, and will insert it");
  std::this_thread::sleep_for(100ms);
  const unsigned error = second.error_of(lock);
  b.also_holds(lock + ": no row, and no wait");
  std::this_thread::sleep_for(100ms);
  for (mariadb_link* one : {&first, &second}) one->query("SET innodb_lock_wait_timeout=20");
  const std::string insert = "INSERT INTO job VALUES (5, 'x')";
  first.send(insert);
  a.bad("INSERT row 5: waits, because B has locked the same gap");
  server.wait_until_row_wait(first.id());
  const unsigned of_b = second.error_of(insert);
  b.ends("INSERT row 5: error " + std::to_string(of_b) +
             (of_b == deadlock_found ? ", a deadlock. B is rolled back" : ""),
         tone::bad);
  try {
    first.receive();
  } catch (const testkit::sql_error&) {
    a.bad("INSERT row 5: rolled back as the victim of a deadlock");
  }
  std::this_thread::sleep_for(50ms);
  p.ends(is_empty && error == 0,
         "a row that does not exist cannot be locked. Both clients went on, "
         "and met again as a deadlock.");
}

void absent_row_holdfast(play& p) {
  mariadb_server& server = emptied_mariadb();
  const std::string url = server.url() + "?strategy=for-update";
  const client first = client::open(url), second = client::open(url);
  actor a(p.line, "client A"), b(p.line, "client B");
  lease own = first.mutex("5").acquire();
  a.holds("mutex(\"5\").acquire(): creates the row, commits it, and locks it then");
  std::this_thread::sleep_for(100ms);
  b.waits("acquire(): waits for the row");
  std::jthread waits([&] {
    const lease next = second.mutex("5").acquire();
    b.holds("granted");
    std::this_thread::sleep_for(100ms);
    b.ends("release()");
  });
  std::this_thread::sleep_for(200ms);
  const bool is_held = own.held();
  a.ends("release()");
  own.release();
  waits.join();
  p.ends(!is_held, "the row exists before any client locks it.");
}

constexpr const char* create_records =
    "CREATE TABLE record (resource VARCHAR(50) PRIMARY KEY, owner VARCHAR(20) NOT NULL, "
    "created DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)) ENGINE=InnoDB";

std::string insert_by(const std::string& owner) {
  return "INSERT INTO record (resource, owner) VALUES ('nightly', '" + owner + "')";
}

void crashed_owner_naive(play& p) {
  mariadb_server& server = emptied_mariadb();
  server.query(create_records);
  actor a(p.line, "client A"), b(p.line, "client B");
  worker_process dies([&](const lines& parent) {
    mariadb_link own = server.link();
    parent.send(std::to_string(own.error_of(insert_by("A"))));
    parent.receive();
  });
  require(dies.receive() == "0", "A gets the lock");
  a.holds("INSERT INTO record ('nightly', 'A'): OK");
  std::this_thread::sleep_for(100ms);
  dies.kill();
  a.leaves_its_lock("killed (SIGKILL) before its DELETE");
  b.waits("INSERT: error 1062, duplicate key; repeated each 50 ms");
  mariadb_link second = server.link();
  bool is_granted = false;
  for (int i = 0; i < 30 && !is_granted; ++i) {
    is_granted = second.error_of(insert_by("B")) != duplicate_key;
    std::this_thread::sleep_for(50ms);
  }
  b.ends("gives up after 1.5 s", tone::bad);
  p.ends(!is_granted, "the record of the dead owner stays until an operator deletes it.");
}

void crashed_owner_holdfast(play& p) {
  mariadb_server& server = emptied_mariadb();
  const std::string url = server.url() + "?strategy=insert&ttl=1s";
  actor a(p.line, "client A"), b(p.line, "client B");
  worker_process dies([&](const lines& parent) {
    const client mine = client::open(url);
    const lease held = mine.mutex("nightly").acquire();
    parent.send("held");
    parent.receive();
  });
  require(dies.receive() == "held", "A gets the lock");
  const client second = client::open(server.url() + "?strategy=insert");
  a.holds("acquire(), ttl 1 s: its record is inserted, with its lease");
  std::this_thread::sleep_for(100ms);
  dies.kill();
  a.leaves_its_lock("killed (SIGKILL)");
  b.waits("acquire(): busy, waits");
  const lease next = second.mutex("nightly").try_acquire_for(20s);
  require(bool(next), "B gets the lock");
  a.ends("its lease has ended by the server's clock");
  b.holds("granted: the record was taken over");
  std::this_thread::sleep_for(200ms);
  p.ends(!next.held(), "the record holds a lease, and the next client takes over the record of a "
                       "dead owner.");
}

void clean_up_naive(play& p) {
  mariadb_server& server = emptied_mariadb();
  server.query(create_records);
  actor a(p.line, "client A"), b(p.line, "client B"), job(p.line, "clean-up");
  mariadb_link first = server.link(), second = server.link(), cleaner = server.link();
  first.query(insert_by("A"));
  a.holds("INSERT INTO record ('nightly', 'A'): OK. The work takes 1.5 s");
  std::this_thread::sleep_for(1200ms);
  const auto deleted =
      cleaner.query("DELETE FROM record WHERE created < NOW(6) - INTERVAL 1 SECOND").affected;
  job.bad("DELETE FROM record WHERE created < NOW(6) - INTERVAL 1 SECOND: " +
          std::to_string(deleted) + " row");
  a.believes("its record is deleted; A lives and works");
  const bool is_granted = second.error_of(insert_by("B")) == 0;
  b.also_holds("INSERT INTO record ('nightly', 'B'): OK");
  std::this_thread::sleep_for(200ms);
  p.ends(deleted == 1 && is_granted,
         "the job judges an owner by the age of its record, and frees the "
         "lock of one that lives.");
}

void clean_up_holdfast(play& p) {
  mariadb_server& server = emptied_mariadb();
  const std::string url = server.url() + "?strategy=insert&ttl=1s";
  const client first = client::open(url), second = client::open(url);
  actor a(p.line, "client A"), b(p.line, "client B"), job(p.line, "clean-up");
  lease own = first.mutex("nightly").acquire();
  a.holds("acquire(), ttl 1 s, renewed automatically. The work takes 1.5 s");
  std::this_thread::sleep_for(1200ms);
  const std::size_t deleted = second.prune();
  job.good("client::prune(): " + std::to_string(deleted) + " rows, as no lease has ended");
  const lease next = second.mutex("nightly").try_acquire();
  b.good("try_acquire(): busy");
  std::this_thread::sleep_for(200ms);
  p.ends(deleted != 0 || next || !own.held(),
         "each renewal moves the end of the lease, and only an "
         "ended lease is cleaned up.");
}

}  // namespace

std::vector<story> mysql_lock_stories() {
  return {
      {"for-update-without-index",
       "FOR UPDATE without an index",
       "SELECT ... FOR UPDATE locks the rows that it reads. The condition is on a column without "
       "an index.",
       "Without an index the server reads, and locks, the whole table. A lock must be found by a "
       "unique key.",
       server::mariadb,
       {{"SELECT ... WHERE label=... FOR UPDATE", verdict::breaks, no_index_naive},
        {"holdfast, ?strategy=for-update", verdict::stands, no_index_holdfast}}},
      {"for-update-absent-row",
       "FOR UPDATE of a row that does not exist",
       "Two clients lock the row of a job before its first run, when the row does not exist yet.",
       "FOR UPDATE locks what it finds. The row has to be created, and committed, before it is "
       "locked.",
       server::mariadb,
       {{"SELECT ... FOR UPDATE, then INSERT", verdict::breaks, absent_row_naive},
        {"holdfast, ?strategy=for-update", verdict::stands, absent_row_holdfast}}},
      {"crashed-record-owner",
       "The owner of a lock record crashes",
       "The lock is a record with a unique key: INSERT acquires it and DELETE releases it. Its "
       "owner is killed in between.",
       "A record outlives its owner. It needs a lease, which a living owner renews.",
       server::mariadb,
       {{"INSERT, then DELETE", verdict::breaks, crashed_owner_naive},
        {"holdfast, ?strategy=insert", verdict::stands, crashed_owner_holdfast}}},
      {"clean-up-job",
       "A clean-up job frees the lock of a living owner",
       "Because records of crashed owners remain, a job deletes records that are older than a "
       "second. The owner lives, but works longer.",
       "The age of a record does not show whether its owner lives. A renewal does.",
       server::mariadb,
       {{"INSERT, and a job that deletes old records", verdict::breaks, clean_up_naive},
        {"holdfast, ?strategy=insert, prune()", verdict::stands, clean_up_holdfast}}},
  };
}

}  // namespace holdfast::lab
