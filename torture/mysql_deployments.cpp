// A MariaDB server, for each strategy.
#include <holdfast/client.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testkit/servers/mariadb_server.hpp"
#include "torture/deployment.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::mariadb_server;
using testkit::sql_result;

namespace {

constexpr auto mariadb_outage = 3s;

class mariadb final : public deployment {
 public:
  // `excuse`: how long after the end of a connection two may hold. The server frees the lock of a
  // connection at once, and its client may only notice when its lease ends.
  mariadb(std::string strategy, std::chrono::milliseconds excuse)
      : terms_(common_options() + "&strategy=" + std::move(strategy)), excuse_(excuse) {
    links_.emplace_back(server_.port());
  }

  std::string url() const override { return server_.url() + terms_; }
  std::string url_through_links() const override {
    std::string text = server_.url();
    const auto port = std::to_string(server_.port());
    text.replace(text.find(port), port.size(), std::to_string(links_.front().port()));
    return text + terms_;
  }

  std::vector<fault> server_faults() override {
    return {{"server.kill",
             [this](dice& d) {
               server_.kill_hard();
               std::this_thread::sleep_for(d.between(1s, 2s));  // see mariadb_server::restart()
               server_.start();
             },
             excuse_},
            {"server.stop",
             [this](dice& d) {
               server_.stop();
               std::this_thread::sleep_for(d.between(50ms, mariadb_outage));
               server_.go_on();
             }},
            {"connection.kill", [this](dice& d) { kill_one(d); }, excuse_}};
  }

  std::vector<std::string> left_behind() override {
    std::vector<std::string> lines;
    for (const auto& row : connections().rows)
      lines.push_back("the connection " + row.at(0).value_or(""));
    if (const auto open =
            server_.query("SELECT COUNT(*) FROM information_schema.INNODB_TRX").text();
        open != "0")
      lines.push_back(open + " transactions");
    std::error_code ec;
    client::open(url(), {}, ec).prune(ec);
    for (const auto& table : server_.query("SHOW TABLES FROM test").rows)
      expect_one_row_for_each_lock(table.at(0).value_or(""), lines);
    return lines;
  }

  std::chrono::milliseconds excuse_of_links() const override { return excuse_; }

  void plant_left_key() override {
    server_.query("CREATE TABLE test.left_rows (id INT AUTO_INCREMENT PRIMARY KEY)");
    for (std::size_t i = 0; i <= lock_count; ++i)
      server_.query("INSERT INTO test.left_rows VALUES ()");
  }

 private:
  void expect_one_row_for_each_lock(const std::string& table, std::vector<std::string>& lines) {
    const auto rows = server_.query("SELECT COUNT(*) FROM test." + table).text();
    if (std::stoul(rows) > lock_count)
      lines.push_back(rows + " rows of " + table + " for " + std::to_string(lock_count) + " locks");
  }
  sql_result connections() {
    return server_.query(std::string("SELECT ID FROM information_schema.PROCESSLIST WHERE USER='") +
                         mariadb_server::user + "' ORDER BY ID");
  }
  void kill_one(dice& d) {
    const sql_result all = connections();
    if (all.rows.empty()) return;
    try {
      server_.query("KILL " + all.rows[d.below(all.rows.size())].at(0).value_or("0"));
    } catch (const testkit::sql_error&) {
      // It has just ended.
    }
  }

  const std::string terms_;
  const std::chrono::milliseconds excuse_;
  mariadb_server server_;
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
