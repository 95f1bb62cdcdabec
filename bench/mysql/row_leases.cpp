// mysql/w1-row, w2-row, w3-row, w4-row, held and waiters: locks that are rows, against the raw
// statements.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "contenders.hpp"
#include "fifo_lock.hpp"
#include "handoff.hpp"
#include "pace.hpp"
#include "process_meter.hpp"
#include "row.hpp"
#include "testkit/servers/mariadb_server.hpp"

namespace bench {
namespace {

using holdfast::testkit::mariadb_link;
using holdfast::testkit::mariadb_server;

constexpr int cycles_of_row_batch = 64;
constexpr unsigned raw_connections = 16;  // as many as a client has for all its locks

// The least that acquires a row and releases it, with the same guarantees.
class raw_row {
 public:
  raw_row(const mariadb_server& server, const std::string& name)
      : link_(server.link()),
        take_("UPDATE raw_rows SET number=LAST_INSERT_ID(GREATEST(number+1,"
              "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(6)))),owner='raw',"
              "expires_at=UTC_TIMESTAMP(6)+INTERVAL 30 SECOND WHERE name='" +
              name + "' AND expires_at<=UTC_TIMESTAMP(6)"),
        release_("UPDATE raw_rows SET owner='',expires_at='1970-01-01' WHERE name='" + name +
                 "' AND owner='raw'") {}
  void lock() {
    if (link_.query(take_).insert_id == 0) throw std::runtime_error("a raw row is held");
  }
  void unlock() { link_.query(release_); }

 private:
  mariadb_link link_;
  const std::string take_, release_;
};

struct rows_of_server {
  explicit rows_of_server(unsigned count) : client(open()) {
    server.query("CREATE TABLE raw_rows (name VARBINARY(767) PRIMARY KEY, owner VARBINARY(64), "
                 "number BIGINT NOT NULL, expires_at DATETIME(6) NOT NULL)");
    for (unsigned i = 0; i < count; ++i) {
      server.query("INSERT INTO raw_rows VALUES ('" + name_of(i) + "', '', 0, '1970-01-01')");
      locks.push_back(client.mutex(name_of(i)));
      locks.back().acquire().release();  // which creates the row
    }
  }
  static std::string name_of(unsigned i) { return "order-" + std::to_string(i); }
  holdfast::client open(const std::string& options = {}) const {
    return holdfast::client::open(server.url() + "?strategy=row" + options);
  }
  double connections() {
    return static_cast<double>(
        server.query("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER='holdfast'")
            .number());
  }

  mariadb_server server{{.flushes = true, .config = {"max_connections=500"}}};
  holdfast::client client;
  std::vector<holdfast::mutex> locks;
};

std::shared_ptr<rows_of_server> server_with_rows(unsigned count) {
  if (!mariadb_server::installed()) throw row_skipped(mariadb_server::not_installed);
  return std::make_shared<rows_of_server>(count);
}

// Beside it, both sides on a server that flushes its log once a second.
contest beside_late_flush(const std::shared_ptr<rows_of_server>& own, side limit, side ours) {
  const auto late = [own](const side& s) {
    return [own, s](seconds length) {
      own->server.query("SET GLOBAL innodb_flush_log_at_trx_commit=2");
      const double figure = s(length).figure;
      own->server.query("SET GLOBAL innodb_flush_log_at_trx_commit=1");
      return figure;
    };
  };
  contest out{"", std::move(limit), std::move(ours)};
  out.peers = {{"the limit, flush=2", late(out.limit)}, {"holdfast, flush=2", late(out.holdfast)}};
  return out;
}

template <class Cycle>
outcome cycles_per_second(seconds length, Cycle cycle) {
  return {1e9 / nanoseconds_per_cycle<cycles_of_row_batch>(length, cycle), {}};
}

}  // namespace

std::vector<contest> mysql_row_confirmed() {
  const auto own = server_with_rows(1);
  const auto raw = std::make_shared<raw_row>(own->server, own->name_of(0));
  const auto pair = [raw] {
    raw->lock();
    raw->unlock();
  };
  return {beside_late_flush(
      own, [pair](seconds length) { return cycles_per_second(length, pair); },
      [own](seconds length) {
        return cycles_per_second(length, [&] { own->locks.front().acquire().release(); });
      })};
}

std::vector<contest> mysql_own_rows() {
  constexpr unsigned threads = 64;
  const auto own = server_with_rows(threads);
  const auto raw = std::make_shared<std::vector<raw_row>>();
  for (unsigned i = 0; i < raw_connections; ++i) raw->emplace_back(own->server, own->name_of(i));
  return {beside_late_flush(
      own,
      [raw](seconds length) {
        const auto row_of = [raw](unsigned i) -> raw_row& { return (*raw)[i]; };
        return run_contenders_on(row_of, raw_connections, length);
      },
      [own](seconds length) {
        const auto lock_of = [own](unsigned i) -> holdfast::mutex& { return own->locks[i]; };
        return run_contenders_on(lock_of, threads, length);
      })};
}

std::vector<contest> mysql_row_contenders() {
  constexpr unsigned threads = 16;
  const auto own = server_with_rows(1);
  return {{"",
           [](seconds length) {
             fifo_lock fifo;
             return run_contenders(fifo, threads, length);
           },
           [own](seconds length) { return run_contenders(own->locks.front(), threads, length); }}};
}

// The limit has no waiters: each connection has its turn at once.
std::vector<contest> mysql_row_processes() {
  constexpr unsigned programs = 4, threads = 4;
  const auto own = server_with_rows(1);
  const auto raw = std::make_shared<std::vector<raw_row>>();
  for (unsigned i = 0; i < raw_connections; ++i) raw->emplace_back(own->server, own->name_of(0));
  const auto in_turn = [raw, at = std::size_t{0}]() mutable {
    raw_row& next = (*raw)[at++ % raw->size()];
    next.lock();
    next.unlock();
  };
  const auto ours = [own](seconds length) {
    const std::string where = own->server.url() + "?strategy=row&turns=1";
    const auto o = run_contender({"holdfast", where, programs, threads}, length);
    return outcome{o.cycles,
                   {{"max/min per worker", o.unfairness},
                    {"hand-offs to another process/s", o.handoffs}}};
  };
  return {beside_late_flush(
      own, [in_turn](seconds length) mutable { return cycles_per_second(length, in_turn); }, ours)};
}

std::vector<contest> mysql_held() {
  const auto own = server_with_rows(1);
  return {{"", {}, [own](seconds) {
             constexpr int count = 4'000;
             static int runs = 0;
             const std::string run = "held-" + std::to_string(++runs) + '-';
             std::vector<holdfast::lease> held;
             held.reserve(count);
             const auto before = heap_in_use();
             for (int i = 0; i < count; ++i)
               held.push_back(own->client.mutex(run + std::to_string(i)).acquire());
             const auto after = heap_in_use();
             for (holdfast::lease& l : held) l.release();
             return outcome{static_cast<double>(after - before) / count, {}};
           }}};
}

// Each waits for a lock of its own, which another client holds.
std::vector<contest> mysql_waiters() {
  const auto own = server_with_rows(0);
  return {{"", {}, [own](seconds length) {
             constexpr unsigned waiters = 1'000;
             const holdfast::client waiting = own->open();
             std::vector<holdfast::lease> held;
             for (unsigned i = 0; i < waiters; ++i)
               held.push_back(own->client.mutex(own->name_of(i)).acquire());
             const double before = own->connections();
             std::vector<std::jthread> threads;
             for (unsigned i = 0; i < waiters; ++i)
               threads.emplace_back([&waiting, i](std::stop_token stop) {
                 std::error_code ec;
                 (void)waiting.mutex(rows_of_server::name_of(i)).acquire({}, std::move(stop), ec);
               });
             double most = 0;
             using clock = std::chrono::steady_clock;
             const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(length);
             while (clock::now() < end) most = std::max(most, own->connections() - before);
             for (std::jthread& t : threads) t.request_stop();
             threads.clear();
             for (holdfast::lease& l : held) l.release();
             return outcome{most + 1, {}};  // the client had one when it was opened
           }}};
}

}  // namespace bench
