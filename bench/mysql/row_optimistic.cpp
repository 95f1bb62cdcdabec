// mysql/optimistic and mysql/optimistic-hot: updates of a row by its version, against FOR UPDATE,
// UPDATE and COMMIT on as many bare connections.
#include <holdfast/optimistic.hpp>

#include <deque>
#include <memory>

#include "contenders.hpp"
#include "testkit/servers/mariadb_server.hpp"

namespace bench {
namespace {

using holdfast::testkit::mariadb_link;
using holdfast::testkit::mariadb_server;

// In the shape of a mutex, for run_contenders_on(). Each update adds one to a counter.
class optimistic_worker {
 public:
  optimistic_worker(const mariadb_server& server, int id)
      : key_{{"id", id}},
        link_(server.link()),
        stock_(holdfast::mysql_connection(link_.handle()), {.table = "stock"}) {}

  void lock() {
    const auto done = stock_.update(key_,
                                    [](const holdfast::sql_columns& row) {
                                      return std::optional(holdfast::sql_columns{
                                          {"sold", std::get<std::int64_t>(row.at("sold")) + 1}});
                                    },
                                    {.attempts = 1'000'000});
    conflicts_ += done.conflicts;
    ++updates_;
  }
  void unlock() {}
  double conflicts() const { return conflicts_; }
  double updates() const { return updates_; }

 private:
  holdfast::sql_columns key_;
  mariadb_link link_;
  holdfast::optimistic_table stock_;
  double conflicts_ = 0, updates_ = 0;
};

class pessimistic_worker {
 public:
  pessimistic_worker(const mariadb_server& server, int id)
      : where_(" WHERE id=" + std::to_string(id)), link_(server.link()) {}

  void lock() {
    link_.query("BEGIN");
    const long long sold = link_.query("SELECT sold FROM stock" + where_ + " FOR UPDATE").number();
    link_.query("UPDATE stock SET sold=" + std::to_string(sold + 1) + where_);
    link_.query("COMMIT");
  }
  void unlock() {}

 private:
  const std::string where_;
  mariadb_link link_;
};

struct tried_table {
  tried_table() {
    mariadb_link link = server.link();
    link.query("CREATE TABLE stock (id INT PRIMARY KEY, sold BIGINT NOT NULL DEFAULT 0,"
               " version BIGINT NOT NULL DEFAULT 0)");
    link.query("INSERT INTO stock (id) VALUES (1)");
  }
  mariadb_server server{{.flushes = true, .config = {"max_connections=300"}}};
};

template <class Worker>
outcome run_workers(const mariadb_server& server, unsigned threads, seconds length,
                    std::deque<Worker>& workers) {
  for (unsigned i = 0; i < threads; ++i) workers.emplace_back(server, 1);
  return run_contenders_on([&](unsigned i) -> Worker& { return workers[i]; }, threads, length);
}

contest with_threads(const std::shared_ptr<tried_table>& table, unsigned threads) {
  const auto bare = [table, threads](seconds length) {
    std::deque<pessimistic_worker> workers;
    return run_workers(table->server, threads, length, workers);
  };
  const auto ours = [table, threads](seconds length) {
    std::deque<optimistic_worker> workers;
    outcome o = run_workers(table->server, threads, length, workers);
    double conflicts = 0, updates = 0;
    for (const optimistic_worker& w : workers) {
      conflicts += w.conflicts();
      updates += w.updates();
    }
    o.beside.emplace_back("conflicts per update", conflicts / updates);
    return o;
  };
  return {std::to_string(threads) + (threads == 1 ? " thread" : " threads"), bare, ours};
}

std::shared_ptr<tried_table> table_here() {
  if (!mariadb_server::installed()) throw row_skipped(mariadb_server::not_installed);
  return std::make_shared<tried_table>();
}

}  // namespace

std::vector<contest> mysql_optimistic() { return {with_threads(table_here(), 1)}; }

std::vector<contest> mysql_optimistic_hot() {
  const auto table = table_here();
  std::vector<contest> all;
  for (const unsigned threads : {2u, 4u, 16u, 64u}) all.push_back(with_threads(table, threads));
  return all;
}

}  // namespace bench
