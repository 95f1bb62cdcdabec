// Two MariaDB servers: a primary and its replica, whose roles an operator exchanges.
#include <holdfast/holdfast.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testkit/servers/mariadb_server.hpp"
#include "torture/deployment.hpp"
#include "torture/mysql_store.hpp"
#include "torture/outages.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::mariadb_server;
using testkit::sql_error;

namespace {

constexpr auto shortest_restart = 1s;  // see mariadb_server::restart()
constexpr auto replication_bound = 60s;

class replicated_mariadb final : public deployment {
 public:
  replicated_mariadb() {
    primary().query("SET GLOBAL read_only=0");
    replica().replicate(primary());
    for (mariadb_server& each : both_) links_.emplace_back(each.port());
    client::open(url()).mutex(names.warm_up()).acquire().release();  // creates the tables
  }

  std::string url() const override { return url_of(both_[0].port(), both_[1].port()); }
  std::string url_through_links() const override {
    return url_of(links_[0].port(), links_[1].port());
  }

  std::vector<fault> server_faults() override {
    std::vector<fault> all{
        {"primary.switch", [this](dice&) { exchange_roles(); }},
        {"primary.kill",
         [this](dice& d) {
           kill_and_start(primary(), d.between(shortest_restart, 2s));
           primary().query("SET GLOBAL read_only=0");
         }},
        {"primary.stop", [this](dice& d) { stop_and_go_on(primary(), d); }},
        {"replica.kill",
         [this](dice& d) { kill_and_start(replica(), d.between(shortest_restart, 2s)); }},
        {"replica.stop", [this](dice& d) { stop_and_go_on(replica(), d); }},
        {"connection.kill", [this](dice& d) { kill_any_connection(primary(), d); }},
    };
    for (fault& each : all) each = ended_by_an_outage(std::move(each));
    return all;
  }
  void wait_until_healthy() override {
    const auto until = std::chrono::steady_clock::now() + replication_bound;
    while (!is_replicating()) {
      if (std::chrono::steady_clock::now() > until)
        throw std::runtime_error("a replica does not recover: " + replica().log());
      std::this_thread::sleep_for(20ms);
    }
  }
  std::vector<std::string> left_behind() override {
    std::vector<std::string> lines;
    for (mariadb_server& each : both_)
      for (auto& line : left_in_mariadb(each)) lines.push_back(std::move(line));
    prune(url());
    return lines;
  }

 private:
  // A server that starts takes no writes until it is told to: two primaries would grant a lock
  // twice.
  static testkit::mariadb_options options(int server_id) {
    return {.server_id = server_id, .replication = true, .config = {"read_only=1"}};
  }
  static std::string url_of(int first, int second) {
    return std::string("mysql://") + mariadb_server::user + ':' + mariadb_server::password +
           "@127.0.0.1:" + std::to_string(first) + ",127.0.0.1:" + std::to_string(second) + '/' +
           mariadb_server::database + common_options() + "&strategy=row";
  }

  mariadb_server& primary() { return both_.at(primary_); }
  mariadb_server& replica() { return both_.at(1 - primary_); }

  // The replica has all grants of the primary when it is promoted. Where a statement waits for a
  // row for too long, all stays as it is.
  void exchange_roles() {
    mariadb_server &former = primary(), &next = replica();
    former.query("SET SESSION lock_wait_timeout=3");
    try {
      former.query("SET GLOBAL read_only=1");
    } catch (const sql_error&) {
      former.query("SET GLOBAL read_only=0");
      return;
    }
    next.catch_up_with(former);
    next.promote();
    primary_ = 1 - primary_;
    former.query("SET GLOBAL gtid_slave_pos=@@GLOBAL.gtid_binlog_pos");
    former.replicate(next);
  }
  // A fault that has ended early may have left the primary without writes.
  bool is_replicating() {
    try {
      primary().query("SET GLOBAL read_only=0");
      const auto status = replica().query("SHOW SLAVE STATUS");
      return status.of("Slave_IO_Running") == "Yes" && status.of("Slave_SQL_Running") == "Yes";
    } catch (const sql_error&) {
      return false;
    }
  }

  std::array<mariadb_server, 2> both_{mariadb_server{options(1)}, mariadb_server{options(2)}};
  std::size_t primary_ = 0;
};

}  // namespace

std::unique_ptr<deployment> open_row_replica() { return std::make_unique<replicated_mariadb>(); }

}  // namespace holdfast::torture
