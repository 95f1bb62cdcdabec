#include "torture/mysql_store.hpp"

#include <holdfast/holdfast.hpp>

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "torture/deployment.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::mariadb_server;
using testkit::sql_error;

namespace {

constexpr unsigned first_client_error = 2000;  // 2006, 2013: no connection

std::vector<std::string> first_column(const testkit::sql_result& of) {
  std::vector<std::string> cells;
  for (const auto& row : of.rows) cells.push_back(row.at(0).value_or(""));
  return cells;
}

}  // namespace

std::vector<std::string> connections_of(mariadb_server& server, const std::string& condition) {
  return first_column(
      server.query(std::string("SELECT ID FROM information_schema.PROCESSLIST WHERE USER='") +
                   mariadb_server::user + "' AND " + condition + " ORDER BY ID"));
}

std::vector<std::string> tables_of(mariadb_server& server) {
  return first_column(server.query(std::string("SHOW TABLES FROM ") + mariadb_server::database));
}

void kill_connection(mariadb_server& server, const std::string& id) {
  try {
    server.query("KILL " + id);
  } catch (const sql_error&) {
    // It has just ended.
  }
}

void kill_any_connection(mariadb_server& server, dice& d) {
  const auto all = connections_of(server);
  if (!all.empty()) kill_connection(server, all[d.below(all.size())]);
}

fault ended_by_an_outage(fault f) {
  f.strike = [strike = std::move(f.strike)](dice& d) {
    try {
      strike(d);
    } catch (const sql_error& e) {
      if (e.code < first_client_error) throw;
    }
  };
  return f;
}

std::vector<std::string> left_in_mariadb(mariadb_server& server) {
  std::vector<std::string> lines;
  for (const std::string& id : connections_of(server)) lines.push_back("the connection " + id);
  const auto open = server.query("SELECT COUNT(*) FROM information_schema.INNODB_TRX").text();
  if (open != "0") lines.push_back(open + " transactions");
  for (const std::string& table : tables_of(server)) {
    const auto rows =
        server.query(std::string("SELECT COUNT(*) FROM ") + mariadb_server::database + '.' + table)
            .text();
    if (std::stoul(rows) > lock_count)
      lines.push_back(std::string(rows)
                          .append(" rows of ")
                          .append(table)
                          .append(" for " + std::to_string(lock_count) + " locks"));
  }
  return lines;
}

void prune(const std::string& url) {
  std::error_code ec;
  client::open(url, {}, ec).prune(ec);
}

}  // namespace holdfast::torture
