#include "backend/mysql/strategies/insert/strategy.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"

namespace holdfast::mysql::insert {

using claims::retrying_reply;
using verdict = retrying_reply::verdict;

namespace {

// Names of columns differ in no letter's case.
bool is_same_name(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// The row of that column, or none.
std::optional<std::size_t> row_of(const sql_reply& r, std::string_view column) noexcept {
  for (std::size_t i = 0; i < r.rows.size(); ++i)
    if (is_same_name(r.cell(i, 0), column)) return i;
  return std::nullopt;
}

// GROUP_CONCAT has sorted the names.
bool is_key_of(std::string_view names, std::string_view key, std::string_view type) {
  if (type.empty()) return is_same_name(names, key);
  const std::string one = std::string(key) + ',' + std::string(type);
  const std::string other = std::string(type) + ',' + std::string(key);
  return is_same_name(names, one) || is_same_name(names, other);
}

}  // namespace

strategy::strategy(base::environment& env, const settings& s)
    : retrying::strategy(env, s, texts_, retrying::polling), texts_(s.table, s.records) {}

// A record that vanishes between two steps was released: the lock was busy, and may be free now.
retrying_reply strategy::read_try(claims::claim_handle, const sql_reply& reply, std::uint8_t step,
                                  retrying_reply r) {
  r.what = verdict::next_step;
  if (step == 2 || step == 5) {
    if (reply.insert_id == 0) return r;
    r.what = verdict::granted;
    r.number = static_cast<std::int64_t>(reply.insert_id);
    return r;
  }
  if (step == 1 || step == 4 || (step == 0 && reply.rows.empty())) return r;
  const bool never_expires = reply.is_null(0, 1);
  const std::int64_t left = std::max<std::int64_t>(0, reply.number(0, 1));
  const bool is_ours = reply.number(0, 2) == 1;
  const bool may_be_taken = !reply.rows.empty() && (is_ours || (!never_expires && left == 0));
  if (step != 6 && may_be_taken) return r;
  r.what = verdict::busy;
  if (!reply.rows.empty() && never_expires) return r;
  r.rest = std::chrono::microseconds{left};
  return r;
}

void strategy::ask(check next, std::string statement, time_point now) {
  awaits_ = next;
  send_opening(std::move(statement), now);
}

void strategy::on_ready(time_point now, event_queue&) {
  ask(check::columns, texts_.show_columns(), now);
}

void strategy::fail_opening(const sql_reply& r, const std::string& remedy) {
  failure why = explain(r.error, r.text);
  if (!remedy.empty()) why = {errc::refused, why.text + remedy};
  finish_opening(std::move(why));
}

void strategy::on_opening_reply(const sql_reply& r, const reply_context& context) {
  const time_point now = context.now;
  switch (awaits_) {
    case check::records_created:
      if (!r.is_ok())
        return fail_opening(r, "; have the table created with: " + texts_.create_records());
      return ask(check::columns_of_created, texts_.show_columns(), now);
    case check::numbers_created:
      if (!r.is_ok())
        return fail_opening(r, "; have the table created with: " + texts_.create_numbers());
      return ask(check::numbers_of_created, texts_.show_numbers(), now);
    case check::numbers: return on_numbers(r, now);
    case check::numbers_of_created: return r.is_ok() ? finish_opening() : fail_opening(r);
    default: break;
  }
  if (!r.is_ok()) return fail_opening(r);
  awaits_ == check::unique_keys ? on_unique_keys(r, now) : on_columns(r, now);
}

void strategy::on_columns(const sql_reply& r, time_point now) {
  if (r.rows.empty() && awaits_ == check::columns)
    return ask(check::records_created, texts_.create_records(), now);
  const std::string fault = fault_of_columns(r);
  if (!fault.empty())
    return finish_opening({errc::mismatch, "the table " + terms().table + ' ' + fault});
  ask(check::unique_keys, texts_.show_unique_keys(), now);
}

// Empty, or what does not suit a lock, and how to change it.
std::string strategy::fault_of_columns(const sql_reply& r) {
  const columns& c = terms().records;
  const std::string alter = "ALTER TABLE " + terms().table;
  const auto missing = [&](const char* option, const std::string& name, const char* type) {
    if (name.empty() || row_of(r, name)) return std::string();
    return "has no column " + name + "; name the column with " + option + ", or add it: " + alter +
           " ADD " + name + ' ' + type;
  };
  const std::pair<const char*, std::pair<std::string, const char*>> wanted[] =
      {{"key-column", {c.key, "VARBINARY(767) NOT NULL"}},
       {"type-column", {c.type, "VARCHAR(64) CHARACTER SET utf8mb4 NOT NULL DEFAULT 'lock'"}},
       {"note-column", {c.note, "VARCHAR(1024) CHARACTER SET utf8mb4 NOT NULL DEFAULT ''"}},
       {"owner-column", {c.owner, "VARBINARY(64) NOT NULL DEFAULT ''"}},
       {"count-column", {c.count, "INT NOT NULL DEFAULT 1"}},
       {"time-column", {c.update_time, "TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)"}},
       {"lease-column", {c.lease, "BIGINT NOT NULL DEFAULT 0"}}};
  for (const auto& [option, column] : wanted)
    if (std::string fault = missing(option, column.first, column.second); !fault.empty())
      return fault;
  const std::size_t key = *row_of(r, c.key), time = *row_of(r, c.update_time);
  const std::string_view type = r.cell(key, 1);
  const bool is_text = type == "varchar" && r.cell(key, 3) == "utf8mb4";
  if (!is_text && type != "varbinary")
    return "has names of locks in column " + c.key + " of another type; change it: " + alter +
           " MODIFY " + c.key + " VARBINARY(767) NOT NULL";
  // A time without fractions is rounded down: the record would expire before its holder's lease.
  const bool is_time = r.cell(time, 1) == "timestamp" || r.cell(time, 1) == "datetime";
  if (!is_time || r.cell(time, 2) != "6")
    return "has a column " + c.update_time + " without microseconds; change it: " + alter +
           " MODIFY " + c.update_time + " TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)";
  return {};
}

void strategy::on_unique_keys(const sql_reply& r, time_point now) {
  const columns& c = terms().records;
  for (std::size_t i = 0; i < r.rows.size(); ++i)
    if (is_key_of(r.cell(i, 0), c.key, c.type) && r.cell(i, 1) == "0")
      return ask(check::numbers, texts_.show_numbers(), now);
  const std::string key = c.type.empty() ? c.key : c.key + ", " + c.type;
  finish_opening({errc::mismatch, "the table " + terms().table + " has no unique key on (" + key +
                                      "), so that two records of one lock could exist; add it: "
                                      "ALTER TABLE " +
                                      terms().table + " ADD UNIQUE KEY (" + key + ')'});
}

void strategy::on_numbers(const sql_reply& r, time_point now) {
  if (r.is_ok()) return finish_opening();
  if (r.error != error::no_table) return fail_opening(r);
  ask(check::numbers_created, texts_.create_numbers(), now);
}

}  // namespace holdfast::mysql::insert
