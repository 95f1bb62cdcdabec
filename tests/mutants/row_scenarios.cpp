// Rows of a real MariaDB: updates without a lock, drafts and guarded rows.
#include "scenario.hpp"

#ifdef HOLDFAST_WITH_MYSQL
#include <holdfast/optimistic.hpp>

#include "testkit/servers/mariadb_server.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using testkit::mariadb_server;

constexpr const char* row_tables[] =
    {"CREATE OR REPLACE TABLE stock (id INT PRIMARY KEY, n INT NOT NULL, version INT NOT NULL)",
     "INSERT INTO stock VALUES (1, 10, 0)",
     "CREATE OR REPLACE TABLE article (id INT AUTO_INCREMENT PRIMARY KEY, version INT NOT NULL,"
     " is_draft BOOLEAN NOT NULL, touched DATETIME(6) NOT NULL, title VARCHAR(20))",
     "CREATE OR REPLACE TABLE job (id INT PRIMARY KEY, fence_token BIGINT NOT NULL DEFAULT 0,"
     " fence_owner VARCHAR(255) NOT NULL DEFAULT '')",
     "INSERT INTO job (id) VALUES (1)"};

struct tried_rows {
  tried_rows() : link(server().link()), connection(link.handle()) {
    for (const char* statement : row_tables) link.query(statement);
  }
  static mariadb_server& server() {
    static mariadb_server one;
    return one;
  }
  testkit::mariadb_link link;
  mysql_connection connection;
};

std::string two_editors_of_one_row() {
  tried_rows rows;
  optimistic_table stock(rows.connection, {.table = "stock"});
  const auto seen = stock.read({{"id", 1}});
  if (!stock.write(*seen, {{"n", 9}})) return "the first write was refused";
  return stock.write(*seen, {{"n", 7}}) ? "a stale write was stored" : "";
}

std::string two_editors_of_one_draft() {
  tried_rows rows;
  draft_table articles(rows.connection, {.table = "article"});
  draft a = articles.create(), b = a;
  if (articles.save(a, {{"title", "a"}}) != draft_status::done) return "a save was refused";
  return articles.submit(b) == draft_status::done ? "a stale submit was stored" : "";
}

std::string a_submitted_row_is_kept() {
  tried_rows rows;
  draft_table articles(rows.connection, {.table = "article"});
  draft d = articles.create();
  if (articles.submit(d) != draft_status::done) return "a submit was refused";
  return articles.sweep(std::chrono::milliseconds{0}) == 0 ? "" : "a submitted row was swept";
}

std::string an_older_token_is_refused() {
  tried_rows rows;
  mysql_guard guard(rows.connection, {.table = "job", .key = {{"id", 1}}});
  if (!guard.write(2, "b", {})) return "a write was refused";
  return guard.write(1, "a", {}) ? "an older token was admitted" : "";
}

std::string an_equal_token_of_another_is_refused() {
  tried_rows rows;
  mysql_guard guard(rows.connection, {.table = "job", .key = {{"id", 1}}});
  if (!guard.write(2, "b", {})) return "a write was refused";
  return guard.write(2, "a", {}) ? "an equal token of another owner was admitted" : "";
}

// Without the server nothing is shown: what is planted counts as noticed.
template <std::string (*Play)(), mutant Planted>
std::string where_installed() {
  if (mariadb_server::installed()) return Play();
  return base::planted(Planted) ? mariadb_server::not_installed : "";
}

constexpr scenario all_of_rows[] =
    {{mutant::row_version_unchecked, "mysql",
      where_installed<two_editors_of_one_row, mutant::row_version_unchecked>},
     {mutant::row_version_kept, "mysql",
      where_installed<two_editors_of_one_row, mutant::row_version_kept>},
     {mutant::draft_version_unchecked, "mysql",
      where_installed<two_editors_of_one_draft, mutant::draft_version_unchecked>},
     {mutant::submitted_rows_swept, "mysql",
      where_installed<a_submitted_row_is_kept, mutant::submitted_rows_swept>},
     {mutant::row_token_ignored, "mysql",
      where_installed<an_older_token_is_refused, mutant::row_token_ignored>},
     {mutant::row_owner_ignored, "mysql",
      where_installed<an_equal_token_of_another_is_refused, mutant::row_owner_ignored>}};

}  // namespace

std::span<const scenario> row_scenarios() { return all_of_rows; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {

std::span<const scenario> row_scenarios() { return {}; }

}  // namespace holdfast::mutants
#endif
