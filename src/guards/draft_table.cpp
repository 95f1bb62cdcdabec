#include <holdfast/optimistic.hpp>

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "base/mutant.hpp"
#include "base/number.hpp"
#include "guards/mysql_session.hpp"
#include "guards/mysql_text.hpp"

namespace holdfast::inline v0 {

using guards::quoted_name;
using guards::sql_effect;

namespace {

constexpr const char* now = "UTC_TIMESTAMP(6)";

std::int64_t number_of(const std::string& version) {
  const auto number = base::whole_number<std::int64_t>(version);
  if (!number)
    base::fail(errc::bad_option, "submit", "the draft's version is not one that open() returned");
  return *number;
}

void refuse_own_columns(const draft_columns& own, const sql_columns& columns,
                        std::string_view operation) {
  for (const std::string* name : {&own.id, &own.version, &own.is_draft, &own.touched})
    guards::refuse_column(columns, *name, operation);
}

std::string is_row(const draft_columns& own, std::int64_t id, std::string_view operation) {
  return quoted_name(own.id, operation) + '=' + std::to_string(id);
}

// An UPDATE to the next version, up to its condition; `also` is assigned too.
std::string update_of(const draft_columns& own, const sql_columns& changes, const std::string& also,
                      std::string_view operation) {
  refuse_own_columns(own, changes, operation);
  const std::string version = quoted_name(own.version, operation);
  return "UPDATE " + guards::quoted_table(own.table, operation) + " SET " + version + '=' +
         version + "+1, " + also +
         (changes.empty() ? "" : ", " + guards::assignments(changes, operation)) + " WHERE ";
}

void take_over(draft& d, const sql_columns& changes) {
  d.version = std::to_string(number_of(d.version) + 1);
  for (const auto& [name, value] : changes) d.values.insert_or_assign(name, value);
}

}  // namespace

draft_table::draft_table(mysql_connection where, draft_columns columns)
    : where_(std::move(where)), columns_(std::move(columns)) {
  guards::quoted_table(columns_.table, "draft_table");
  for (const std::string* name :
       {&columns_.id, &columns_.version, &columns_.is_draft, &columns_.touched})
    quoted_name(*name, "draft_table");
}

draft draft_table::create(const sql_columns& initial) {
  refuse_own_columns(columns_, initial, "create");
  std::string names = quoted_name(columns_.version, "create") + ", " +
                      quoted_name(columns_.is_draft, "create") + ", " +
                      quoted_name(columns_.touched, "create");
  std::string values = std::string("1, 1, ") + now;
  for (const auto& [name, value] : initial) {
    names += ", " + quoted_name(name, "create");
    values += ", " + guards::literal(value);
  }
  const auto answer = guards::run(where_, "create",
                                  "INSERT INTO " + guards::quoted_table(columns_.table, "create") +
                                      " (" + names + ") VALUES (" + values + ')',
                                  sql_effect::writes);
  if (answer.is_contended) guards::fail_contended("create");
  if (answer.insert_id == 0)
    base::fail(errc::mismatch, "create",
               "column \"" + columns_.id + "\" is not AUTO_INCREMENT; give it that attribute",
               columns_.table);
  return {static_cast<std::int64_t>(answer.insert_id), "1", initial};
}

std::optional<draft> draft_table::open(std::int64_t id) {
  const auto answer = guards::run(where_, "open",
                                  "SELECT " + quoted_name(columns_.version, "open") + ", " +
                                      guards::quoted_table(columns_.table, "open") + ".* FROM " +
                                      guards::quoted_table(columns_.table, "open") + " WHERE " +
                                      is_row(columns_, id, "open") + " AND " +
                                      quoted_name(columns_.is_draft, "open") + "=1",
                                  sql_effect::reads);
  if (answer.is_contended) guards::fail_contended("open");
  if (answer.rows.empty()) return std::nullopt;
  draft d{id, answer.rows[0][0].value_or(""), {}};
  for (std::size_t i = 1; i < answer.fields.size(); ++i) {
    const std::string& name = answer.fields[i].name;
    const bool is_own = name == columns_.id || name == columns_.version ||
                        name == columns_.is_draft || name == columns_.touched;
    if (!is_own) d.values.insert_or_assign(name, answer.value(0, i));
  }
  return d;
}

// One statement compares all of it: a draft that was submitted, swept or saved meanwhile does not
// match. `+0` keeps the server from finding the row by the index of the sweep. It would take that
// index's locks in the other order, and two submits of one draft would deadlock.
std::string draft_table::is_at(const draft& d, std::string_view operation) const {
  std::string same_id = is_row(columns_, d.id, operation);
  const bool compares_all = !base::planted(base::mutant::draft_version_unchecked);
  if (!compares_all) return same_id;
  return same_id + " AND " + quoted_name(columns_.version, operation) + '=' +
         std::to_string(number_of(d.version)) + " AND " +
         quoted_name(columns_.is_draft, operation) + "+0=1";
}

draft_status draft_table::finish(const draft& d, const std::string& statement,
                                 std::string_view operation) {
  const auto answer = guards::run(where_, operation, statement, sql_effect::writes);
  if (answer.is_contended) guards::fail_contended(operation);
  if (answer.affected == 1) return draft_status::done;
  // LOCK IN SHARE MODE reads the newest row, as the statement did, not a transaction's snapshot.
  const auto found = guards::run(where_, operation,
                                 "SELECT " + quoted_name(columns_.is_draft, operation) + " FROM " +
                                     guards::quoted_table(columns_.table, operation) + " WHERE " +
                                     is_row(columns_, d.id, operation) + " LOCK IN SHARE MODE",
                                 sql_effect::reads);
  if (found.is_contended) return draft_status::changed;
  if (found.rows.empty()) return draft_status::gone;
  return found.rows[0][0] == "1" ? draft_status::changed : draft_status::submitted;
}

draft_status draft_table::save(draft& d, const sql_columns& changes) {
  const std::string is_touched = quoted_name(columns_.touched, "save") + '=' + now;
  const std::string update = update_of(columns_, changes, is_touched, "save");
  const draft_status status = finish(d, update + is_at(d, "save"), "save");
  if (status == draft_status::done) take_over(d, changes);
  return status;
}

draft_status draft_table::submit(draft& d, const sql_columns& changes) {
  const std::string is_final = quoted_name(columns_.is_draft, "submit") + "=0";
  const std::string update = update_of(columns_, changes, is_final, "submit");
  const draft_status status = finish(d, update + is_at(d, "submit"), "submit");
  if (status == draft_status::done) take_over(d, changes);
  return status;
}

draft_status draft_table::abandon(const draft& d) {
  return finish(d,
                "DELETE FROM " + guards::quoted_table(columns_.table, "abandon") + " WHERE " +
                    is_at(d, "abandon"),
                "abandon");
}

std::uint64_t draft_table::sweep(std::chrono::milliseconds untouched_for, std::uint32_t limit) {
  const auto microseconds =
      std::chrono::microseconds(std::max(untouched_for, untouched_for.zero()));
  const std::string is_draft = quoted_name(columns_.is_draft, "sweep") + "=1";
  const auto answer =
      guards::run(where_, "sweep",
                  "DELETE FROM " + guards::quoted_table(columns_.table, "sweep") + " WHERE " +
                      (base::planted(base::mutant::submitted_rows_swept) ? "TRUE" : is_draft) +
                      " AND " + quoted_name(columns_.touched, "sweep") + "<=" + now +
                      " - INTERVAL " + std::to_string(microseconds.count()) +
                      " MICROSECOND LIMIT " + std::to_string(limit),
                  sql_effect::writes);
  if (answer.is_contended) guards::fail_contended("sweep");
  return answer.affected;
}

draft draft_table::create(const sql_columns& initial, std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return create(initial); });
}

std::optional<draft> draft_table::open(std::int64_t id, std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return open(id); });
}

draft_status draft_table::save(draft& d, const sql_columns& changes, std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return save(d, changes); });
}

draft_status draft_table::submit(draft& d, const sql_columns& changes, std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return submit(d, changes); });
}

draft_status draft_table::abandon(const draft& d, std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return abandon(d); });
}

std::uint64_t draft_table::sweep(std::chrono::milliseconds untouched_for, std::uint32_t limit,
                                 std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return sweep(untouched_for, limit); });
}

}  // namespace holdfast::inline v0
