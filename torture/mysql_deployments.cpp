// A MariaDB server, for each strategy.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testkit/servers/mariadb_server.hpp"
#include "testkit/servers/small_disk.hpp"
#include "torture/deployment.hpp"
#include "torture/disk_faults.hpp"
#include "torture/mysql_store.hpp"
#include "torture/outages.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::mariadb_server;

namespace {

constexpr auto mariadb_outage = 3s;
constexpr auto shortest_outage = 1s;  // see mariadb_server::restart()
// Forward: longer than a lease, and short. A statement that waits with a timeout waits for so much
// longer, and a lease that is granted meanwhile lasts for so much longer.
constexpr std::chrono::milliseconds mariadb_clock_forward = 3s, mariadb_clock_back = 1h;

class mariadb final : public deployment {
 public:
  // `excuse`: how long after the end of a connection two may hold. The server frees the lock of a
  // connection at once, and its client may only notice when its lease ends. 0: the strategy has
  // leases, which end by the server's clock.
  mariadb(std::string strategy, std::chrono::milliseconds excuse)
      : terms_(common_options() + "&strategy=" + std::move(strategy)), excuse_(excuse) {
    links_.emplace_back(server_.port());
    // Creates the tables, which a full disk may leave half created.
    client::open(url()).mutex(names.warm_up()).acquire().release();
  }

  std::string url() const override { return server_.url() + terms_; }
  std::string url_through_links() const override {
    std::string text = server_.url();
    const auto port = std::to_string(server_.port());
    text.replace(text.find(port), port.size(), std::to_string(links_.front().port()));
    return text + terms_;
  }

  std::vector<fault> server_faults() override {
    std::vector<fault> all{{"server.kill",
                            [this](dice& d) {
                              kill_and_start(server_, d.between(shortest_outage, 2s));
                            },
                            excuse_},
                           {"server.stop", [this](dice& d) { stop_and_go_on(server_, d); }},
                           {"connection.kill", [this](dice& d) { kill_any_connection(server_, d); },
                            excuse_},
                           {"password.change", [this](dice& d) { change_password(d); }, excuse_},
                           {"clients.limit", [this](dice& d) { limit_clients(d); }, excuse_},
                           {"idle.end", [this](dice& d) { end_the_idle(d); }, excuse_},
                           {"server.clock", [this](dice& d) { step_clock(d); }, clock_excuse()},
                           {"server.read-only", [this](dice& d) { forbid_writes(d); }, excuse_}};
    if (!tables_of(server_).empty())
      all.push_back({"rows.lock", [this](dice& d) { lock_rows(d); }, excuse_});
    if (disk_.is_mounted())
      all.push_back({"disk.full", [this](dice& d) { fill_for_a_while(disk_, d); }, excuse_});
    for (fault& each : all) each = ended_by_an_outage(std::move(each));
    return all;
  }
  // A server that has ended for want of room is started again.
  void wait_until_healthy() override {
    try {
      server_.query("SELECT 1");
    } catch (const testkit::sql_error&) {
      kill_and_start(server_, shortest_outage);
    }
  }
  std::vector<std::string> not_played() const override {
    if (disk_.is_mounted()) return {};
    return {disk_not_filled};
  }

  std::vector<std::string> left_behind() override {
    auto lines = left_in_mariadb(server_);
    prune(url());
    return lines;
  }

  std::chrono::milliseconds excuse_of_links() const override { return excuse_; }

  void plant_left_key() override {
    server_.query("CREATE TABLE test.left_rows (id INT AUTO_INCREMENT PRIMARY KEY)");
    for (std::size_t i = 0; i <= lock_count; ++i)
      server_.query("INSERT INTO test.left_rows VALUES ()");
  }

 private:
  static constexpr std::size_t kilobytes = std::size_t{128} * 1024;

  // Pinned locks end, since their clients leave a server that is read-only. Where a statement waits
  // for a row for too long, the server stays as it is.
  void forbid_writes(dice& d) {
    server_.query("SET SESSION lock_wait_timeout=3");
    try {
      server_.query("SET GLOBAL read_only=1");
      std::this_thread::sleep_for(d.between(50ms, 2s));
    } catch (const testkit::sql_error&) {}
    server_.query("SET GLOBAL read_only=0");
  }
  void step_clock(dice& d) {
    server_.set_clock(d.one_in(2) ? mariadb_clock_forward : -mariadb_clock_back);
    std::this_thread::sleep_for(d.between(100ms, 2s));
    server_.set_clock(0ms);
  }
  // A step forward ends leases. Locks of connections do not end by a wall clock.
  std::chrono::milliseconds clock_excuse() const { return excuse_ == 0ms ? lease_ttl : 0ms; }
  void kill_all() {
    for (const std::string& id : connections_of(server_)) kill_connection(server_, id);
  }
  // No more than the server accepts at least, and fewer than the workers need.
  void limit_clients(dice& d) {
    server_.query("SET GLOBAL max_connections=10");
    kill_all();
    std::this_thread::sleep_for(d.between(50ms, 2s));
    server_.query("SET GLOBAL max_connections=DEFAULT");
  }
  // Sessions that begin meanwhile keep the short timeout, unless they set another one.
  void end_the_idle(dice& d) {
    server_.query("SET GLOBAL wait_timeout=1");
    for (const std::string& id : connections_of(server_, "COMMAND='Sleep'"))
      kill_connection(server_, id);
    std::this_thread::sleep_for(d.between(50ms, mariadb_outage));
    server_.query("SET GLOBAL wait_timeout=DEFAULT");
  }
  // A transaction of another program locks the rows of a table. It may wait for one of them for too
  // long, or end in a deadlock: then it has locked some of them, or none.
  void lock_rows(dice& d) {
    const auto all = tables_of(server_);
    testkit::mariadb_link other = server_.root();
    other.query("SET SESSION innodb_lock_wait_timeout=1");
    other.query("BEGIN");
    (void)other.error_of("SELECT * FROM " + all.at(d.below(all.size())) + " FOR UPDATE");
    std::this_thread::sleep_for(d.between(50ms, 2s));
    (void)other.error_of("ROLLBACK");
  }
  void change_password(dice& d) {
    set_password("another");
    kill_all();
    std::this_thread::sleep_for(d.between(50ms, 2s));
    set_password(mariadb_server::password);
  }
  void set_password(const std::string& password) {
    server_.query(std::string("ALTER USER ") + mariadb_server::user +
                  "@'127.0.0.1' IDENTIFIED BY '" + password + '\'');
  }

  const std::string terms_;
  const std::chrono::milliseconds excuse_;
  testkit::small_disk disk_{kilobytes};
  mariadb_server server_{
      {.clock_shim = true, .data_folder = disk_.is_mounted() ? disk_.path() : std::string()}};
};

}  // namespace

std::unique_ptr<deployment> open_row() { return std::make_unique<mariadb>("row", 0ms); }
std::unique_ptr<deployment> open_insert() { return std::make_unique<mariadb>("insert", 0ms); }
std::unique_ptr<deployment> open_for_update() {
  return std::make_unique<mariadb>("for-update&idle-timeout=3s", 3s);
}
std::unique_ptr<deployment> open_named() {
  return std::make_unique<mariadb>("named&idle-timeout=3s", 3s);
}

}  // namespace holdfast::torture
