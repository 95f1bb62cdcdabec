#include <holdfast/optimistic.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/environment.hpp"
#include "base/fail.hpp"
#include "base/mutant.hpp"
#include "base/number.hpp"
#include "guards/mysql_session.hpp"
#include "guards/mysql_text.hpp"

namespace holdfast::inline v0 {

using base::mutant;
using base::planted;
using guards::quoted_name;
using guards::sql_effect;

struct optimistic_table::state {
  mysql_connection where;
  versioned_table table;
  bool is_checked = false;
  std::uint64_t highest = 0;  // of a number
  int digits = 0;             // behind the point of an update_time

  std::string table_name(std::string_view operation) const {
    return guards::quoted_table(table.table, operation);
  }
  void check();
  void require_key(const sql_columns&, std::string_view operation) const;
  std::string expected(std::string_view version, std::string_view operation) const;
  std::string raised() const;
  std::optional<versioned_row> read(const sql_columns& key,
                                    const std::vector<std::string>& columns);
  guards::sql_answer write(const sql_columns& key, std::string_view version,
                           const sql_columns& changes);
};

namespace {

constexpr int time_digits_max = 6;

// Waits for up to `limit`, at random. False: stop was requested.
bool pause(std::chrono::microseconds limit, const std::stop_token& stop) {
  using std::chrono::microseconds;
  const auto span = static_cast<std::uint64_t>(std::max<std::int64_t>(limit.count(), 0)) + 1;
  const microseconds length(
      static_cast<std::int64_t>(base::random_u64(base::system_environment()) % span));
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop, length, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

// Once for each object, by the types that the server reports for the version column.
void optimistic_table::state::check() {
  if (is_checked) return;
  const std::string& name = table.version;
  const auto answer = guards::run(where, "read",
                                  "SELECT " + quoted_name(name, "read") + " FROM " +
                                      table_name("read") + " LIMIT 0",
                                  sql_effect::reads);
  const guards::sql_field& field = answer.fields.at(0);
  const bool is_number = table.kind == row_version::number;
  if (is_number ? !field.integer.has_value() : !field.is_time)
    base::fail(errc::mismatch, "read",
               "column \"" + name +
                   (is_number ? "\" is not an integer; add one: version BIGINT NOT NULL DEFAULT 0"
                              : "\" is not a DATETIME or TIMESTAMP; give it that type"),
               table.table);
  if (!field.is_never_null)
    base::fail(errc::mismatch, "read", "column \"" + name + "\" may be NULL; make it NOT NULL",
               table.table);
  if (is_number) highest = field.integer->most;
  digits = std::min(field.decimals, time_digits_max);
  is_checked = true;
}

void optimistic_table::state::require_key(const sql_columns& key,
                                          std::string_view operation) const {
  bool fits = key.size() == table.key.size();
  for (const std::string& column : table.key) {
    const auto found = key.find(column);
    fits = fits && found != key.end() && !std::holds_alternative<std::nullptr_t>(found->second);
  }
  if (!fits)
    base::fail(errc::bad_option, operation,
               "the key does not have exactly the columns of the table's key, each with a value",
               table.table);
}

// The version as a literal.
std::string optimistic_table::state::expected(std::string_view version,
                                              std::string_view operation) const {
  if (table.kind == row_version::update_time) return guards::text_literal(version);
  const bool is_negative = version.starts_with('-');
  const auto number = base::whole_number<std::uint64_t>(version.substr(is_negative ? 1 : 0));
  if (!number)
    base::fail(errc::bad_option, operation, "the version is not a number that read() returned",
               table.table);
  if (!is_negative && *number >= highest)
    base::fail(errc::exhausted, operation,
               "column \"" + table.version + "\" has reached its highest number; enlarge its type",
               table.table);
  return std::string(version);
}

// Always another value than before: a row that is written twice never has one version twice.
std::string optimistic_table::state::raised() const {
  const std::string column = quoted_name(table.version, "write");
  if (table.kind == row_version::number) return column + "+1";
  std::int64_t unit = 1;
  for (int i = digits; i < time_digits_max; ++i) unit *= 10;
  return "GREATEST(CURRENT_TIMESTAMP(" + std::to_string(digits) + "), " + column + " + INTERVAL " +
         std::to_string(unit) + " MICROSECOND)";
}

std::optional<versioned_row> optimistic_table::state::read(
    const sql_columns& key, const std::vector<std::string>& columns) {
  require_key(key, "read");
  check();
  std::string list;
  for (const std::string& column : columns) list += ", " + quoted_name(column, "read");
  if (columns.empty()) list = ", " + table_name("read") + ".*";
  const auto answer = guards::run(where, "read",
                                  "SELECT CAST(" + quoted_name(table.version, "read") +
                                      " AS CHAR)" + list + " FROM " + table_name("read") +
                                      " WHERE " + guards::conditions(key, "read") + " LIMIT 2",
                                  sql_effect::reads);
  if (answer.is_contended) guards::fail_contended("read");
  if (answer.rows.empty()) return std::nullopt;
  if (answer.rows.size() > 1)
    base::fail(errc::mismatch, "read",
               "several rows have this key; name the columns of a unique key", table.table);
  versioned_row row{key, {}, answer.rows[0][0].value_or("")};
  for (std::size_t i = 1; i < answer.fields.size(); ++i)
    row.values.insert_or_assign(answer.fields[i].name, answer.value(0, i));
  return row;
}

guards::sql_answer optimistic_table::state::write(const sql_columns& key, std::string_view version,
                                                  const sql_columns& changes) {
  require_key(key, "write");
  check();
  for (const std::string& column : table.key) guards::refuse_column(changes, column, "write");
  guards::refuse_column(changes, table.version, "write");
  if (changes.empty())
    base::fail(errc::bad_option, "write", "there are no changes; name a column", table.table);
  const std::string column = quoted_name(table.version, "write");
  const std::string is_unchanged =
      planted(mutant::row_version_unchecked) ? "TRUE" : column + '=' + expected(version, "write");
  auto answer =
      guards::run(where, "write",
                  "UPDATE " + table_name("write") + " SET " +
                      guards::assignments(changes, "write") + ", " + column + '=' +
                      (planted(mutant::row_version_kept) ? column : raised()) + " WHERE " +
                      guards::conditions(key, "write") + " AND " + is_unchanged,
                  sql_effect::writes);
  if (answer.affected > 1)
    base::fail(errc::mismatch, "write",
               "several rows have this key and were written; name the columns of a unique key",
               table.table);
  return answer;
}

optimistic_table::optimistic_table(mysql_connection where, versioned_table table)
    : state_(std::make_shared<state>(state{std::move(where), std::move(table)})) {
  constexpr std::string_view operation = "optimistic_table";
  const versioned_table& t = state_->table;
  guards::quoted_table(t.table, operation);
  quoted_name(t.version, operation);
  for (const std::string& column : t.key) quoted_name(column, operation);
  if (t.key.empty() || std::ranges::find(t.key, t.version) != t.key.end())
    base::fail(errc::bad_option, operation,
               "the key has no columns, or the version is one of them; name the columns of the "
               "primary key",
               t.table);
}

std::optional<versioned_row> optimistic_table::read(const sql_columns& key,
                                                    const std::vector<std::string>& columns) {
  return state_->read(key, columns);
}

std::optional<versioned_row> optimistic_table::read(const sql_columns& key,
                                                    const std::vector<std::string>& columns,
                                                    std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return read(key, columns); });
}

bool optimistic_table::write(const sql_columns& key, std::string_view version,
                             const sql_columns& changes) {
  const auto answer = state_->write(key, version, changes);
  if (answer.is_contended) guards::fail_contended("write");
  return answer.affected == 1;
}

bool optimistic_table::write(const sql_columns& key, std::string_view version,
                             const sql_columns& changes, std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return write(key, version, changes); });
}

// A deadlock or a wait for the row that took too long is a conflict too: nothing was written.
update_outcome optimistic_table::update(const sql_columns& key, const change_function& change,
                                        const conflict_limits& limits, std::stop_token stop) {
  update_outcome outcome;
  auto longest = limits.pause;
  for (;;) {
    const auto row = state_->read(key, {});
    const auto transaction = guards::transaction_of(state_->where);
    if (transaction.is_open || !transaction.commits_each_statement)
      base::fail(errc::mismatch, "update",
                 "the session is in a transaction, whose reads never see the changes of others; "
                 "COMMIT first and set autocommit=1",
                 state_->table.table);
    outcome.status = update_status::absent;
    if (!row) return outcome;
    const auto changes = change(row->values);
    outcome.status = update_status::kept;
    if (!changes) return outcome;
    const auto answer = state_->write(key, row->version, *changes);
    outcome.status = update_status::written;
    if (!answer.is_contended && answer.affected == 1) return outcome;
    ++outcome.conflicts;
    outcome.status = update_status::conflict;
    if (outcome.conflicts >= limits.attempts) return outcome;
    outcome.status = update_status::stopped;
    if (!pause(longest, stop)) return outcome;
    longest = std::min(longest * 2, limits.pause_max);
  }
}

update_outcome optimistic_table::update(const sql_columns& key, const change_function& change,
                                        const conflict_limits& limits, std::stop_token stop,
                                        std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return update(key, change, limits, std::move(stop)); });
}

}  // namespace holdfast::inline v0
