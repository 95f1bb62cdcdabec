#include "backend/mysql/strategies/insert/statements.hpp"

#include <chrono>

#include "backend/mysql/transport/statement.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql::insert {

using base::mutant;
using base::planted;

namespace {

constexpr std::string_view now_us = "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(6))";

std::string backquoted(std::string_view name) { return '`' + std::string(name) + '`'; }

// A record that lasts a little longer than its lease is safe; one that ends earlier is not.
std::int64_t lease_ms(base::duration ttl) noexcept {
  return std::chrono::ceil<std::chrono::milliseconds>(ttl).count();
}

// Text is compared in the character set of its column, so that the column's index is used.
std::string text(std::string_view bytes) { return "_utf8mb4 " + bound("?", {bytes}); }
std::string literal(std::string_view bytes) { return bound("?", {bytes}); }

}  // namespace

statements::statements(std::string_view table, const columns& c)
    : table_(table),
      records_(backquoted(table)),
      numbers_(backquoted(std::string(table) + "_numbers")),
      columns_(c) {}

std::string statements::is_of_type() const {
  if (columns_.type.empty()) return {};
  return " AND " + column(columns_.type) + '=' + text(columns_.type_value);
}

std::string statements::is_record(std::string_view name) const {
  return column(columns_.key) + '=' + text(name) + is_of_type();
}

std::string statements::has_prefix(std::string_view prefix) const {
  std::string pattern;
  for (const char c : prefix) {
    if (c == '%' || c == '_' || c == '|') pattern += '|';
    pattern += c;
  }
  return column(columns_.key) + " LIKE " + text(pattern + '%') + " ESCAPE '|'" + is_of_type();
}

std::string statements::column(std::string_view name) const {
  return records_ + '.' + backquoted(name);
}

std::string statements::is_owner(std::string_view owner) const {
  return column(columns_.owner) + '=' + literal(owner);
}

std::string statements::left() const {
  const std::string lease = column(columns_.lease);
  return "IF(" + lease + ">0,TIMESTAMPDIFF(MICROSECOND,UTC_TIMESTAMP(6)," +
         column(columns_.update_time) + " + INTERVAL " + lease + "*1000 MICROSECOND),NULL)";
}

std::string statements::is_expired() const {
  const std::string lease = column(columns_.lease);
  return '(' + lease + ">0 AND " + column(columns_.update_time) + " + INTERVAL " + lease +
         "*1000 MICROSECOND<=UTC_TIMESTAMP(6))";
}

sql_statement statements::try_lock(const lock_request& r, std::uint8_t step) const {
  switch (step) {
    case 1: return insert(r);
    case 2:
    case 5: return take(r);
    case 4: return create_number(r.name);
    default: return look(r.name, r.owner);
  }
}

sql_statement statements::look(std::string_view name) const { return look(name, {}); }

// {owner, microseconds until it expires, whether that is this owner}
std::string statements::look(std::string_view name, std::string_view owner) const {
  return "SELECT " + column(columns_.owner) + ',' + left() + ',' + is_owner(owner) + " FROM " +
         records_ + " WHERE " + is_record(name);
}

std::string statements::insert(const lock_request& r) const {
  std::string names = backquoted(columns_.key), values = text(r.name);
  const auto add = [&](const std::string& name, const std::string& value) {
    if (name.empty()) return;
    names += ',' + backquoted(name);
    values += ',' + value;
  };
  add(columns_.type, text(columns_.type_value));
  add(columns_.note, text(r.note));
  add(columns_.owner, literal(r.owner));
  add(columns_.count, "1");
  add(columns_.update_time, "UTC_TIMESTAMP(6)");
  add(columns_.lease, std::to_string(lease_ms(r.ttl)));
  const std::string owner = backquoted(columns_.owner);
  return "INSERT INTO " + records_ + " (" + names + ") VALUES (" + values +
         ") ON DUPLICATE KEY UPDATE " + owner + '=' + owner;
}

std::string statements::take(const lock_request& r) const {
  const std::string next = planted(mutant::row_number_below_clock)
                               ? std::string("n.grant_number+1")
                               : "GREATEST(n.grant_number+1," + std::string(now_us) + ')';
  std::string set = "n.grant_number=LAST_INSERT_ID(" + next + ")," + column(columns_.owner) + '=' +
                    literal(r.owner) + ',' + column(columns_.update_time) + "=UTC_TIMESTAMP(6)," +
                    column(columns_.lease) + '=' + std::to_string(lease_ms(r.ttl));
  if (!columns_.note.empty()) set += ',' + column(columns_.note) + '=' + text(r.note);
  if (!columns_.count.empty()) set += ',' + column(columns_.count) + "=1";
  const std::string is_free =
      planted(mutant::row_taken_unexpired) ? "TRUE" : is_owner(r.owner) + " OR " + is_expired();
  return "UPDATE " + records_ + " JOIN " + numbers_ + " n ON n.name=" + literal(r.name) + " SET " +
         set + " WHERE " + is_record(r.name) + " AND (" + is_free + ')';
}

std::string statements::create_number(std::string_view name) const {
  return "INSERT INTO " + numbers_ + " VALUES(" + literal(name) +
         ",0) ON DUPLICATE KEY UPDATE name=name";
}

// A renewal always changes the record, so that no count of rows can make it look lost. Two may be
// executed in the other order: none makes a lease shorter. The lease first: the server assigns from
// left to right.
sql_statement statements::renew(const lock_request& r) const {
  const std::string time = column(columns_.update_time);
  std::string lease = std::to_string(lease_ms(r.ttl));
  if (!planted(mutant::late_renewal_shortens))
    lease = "IF(" + left() + '>' + lease + "*1000,(" + left() + "+999) DIV 1000," + lease + ')';
  const bool compares = !planted(mutant::renew_without_owner);
  return "UPDATE " + records_ + " SET " + column(columns_.lease) + '=' + lease + ',' + time +
         "=IF(" + time + "=UTC_TIMESTAMP(6)," + time +
         " + INTERVAL 1 MICROSECOND,UTC_TIMESTAMP(6)) WHERE " + is_record(r.name) +
         (compares ? " AND " + is_owner(r.owner) : "");
}

sql_statement statements::release(std::string_view name, std::string_view owner, lock_mode) const {
  const bool compares = !planted(mutant::delete_without_owner);
  return "DELETE FROM " + records_ + " WHERE " + is_record(name) +
         (compares ? " AND " + is_owner(owner) : "");
}

std::string statements::holders(const std::string& which) const {
  const std::string note = columns_.note.empty() ? "''" : column(columns_.note);
  return "SELECT " + column(columns_.key) + ',' + column(columns_.owner) + ",IF(" + is_owner({}) +
         ",0,n.grant_number)," + note + ",'',0,0," + left() + " FROM " + records_ + " LEFT JOIN " +
         numbers_ + " n ON n.name=" + column(columns_.key) + " WHERE " + which + " AND NOT " +
         is_expired() + " ORDER BY " + column(columns_.key);
}

std::string statements::comes_after(const sql_row& last) const {
  if (last.empty()) return {};
  return " AND " + column(columns_.key) + '>' + text(last.at(0).value_or(""));
}

std::string statements::page_of_holders(std::string_view prefix,
                                        const retrying::page_cursors& cursors,
                                        std::int64_t limit) const {
  return holders(has_prefix(prefix) + comes_after(cursors[0].last)) + " LIMIT " +
         std::to_string(limit);
}

std::string statements::holders_of(std::string_view name) const { return holders(is_record(name)); }

std::string statements::expired_by_prefix(std::string_view prefix, const sql_row& last,
                                          std::int64_t limit) const {
  return "SELECT " + column(columns_.key) + ',' + column(columns_.owner) + " FROM " + records_ +
         " WHERE " + has_prefix(prefix) + " AND " + is_expired() + comes_after(last) +
         " ORDER BY " + column(columns_.key) + " LIMIT " + std::to_string(limit);
}

sql_statement statements::expiry(std::string_view name, std::string_view owner) const {
  const bool compares = !planted(mutant::living_record_deleted);
  return "DELETE FROM " + records_ + " WHERE " + is_record(name) + " AND " + is_owner(owner) +
         (compares ? " AND " + is_expired() : "");
}

std::string statements::show_columns() const {
  return "SELECT COLUMN_NAME,DATA_TYPE,DATETIME_PRECISION,CHARACTER_SET_NAME "
         "FROM information_schema.COLUMNS WHERE TABLE_SCHEMA=DATABASE() AND TABLE_NAME='" +
         table_ + '\'';
}

std::string statements::show_unique_keys() const {
  return "SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY COLUMN_NAME),MAX(SUB_PART IS NOT NULL) "
         "FROM information_schema.STATISTICS WHERE TABLE_SCHEMA=DATABASE() AND TABLE_NAME='" +
         table_ + "' AND NON_UNIQUE=0 GROUP BY INDEX_NAME";
}

std::string statements::create_records() const {
  std::string out = "CREATE TABLE IF NOT EXISTS " + records_ +
                    " (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, " +
                    backquoted(columns_.key) + " VARBINARY(767) NOT NULL, ";
  std::string unique = backquoted(columns_.key);
  if (!columns_.type.empty()) {
    out +=
        backquoted(columns_.type) + " VARCHAR(64) CHARACTER SET utf8mb4 NOT NULL DEFAULT 'lock', ";
    unique += ", " + backquoted(columns_.type);
  }
  if (!columns_.note.empty())
    out += backquoted(columns_.note) + " VARCHAR(1024) CHARACTER SET utf8mb4 NOT NULL DEFAULT '', ";
  out += backquoted(columns_.owner) + " VARBINARY(64) NOT NULL DEFAULT '', ";
  if (!columns_.count.empty()) out += backquoted(columns_.count) + " INT NOT NULL DEFAULT 1, ";
  return out + backquoted(columns_.update_time) +
         " TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), " + backquoted(columns_.lease) +
         " BIGINT NOT NULL DEFAULT 0, UNIQUE KEY (" + unique +
         ")) ENGINE=InnoDB COMMENT='holdfast lock records, version 1'";
}

std::string statements::show_numbers() const {
  return "SELECT name,grant_number FROM " + numbers_ + " LIMIT 0";
}

std::string statements::create_numbers() const {
  return "CREATE TABLE IF NOT EXISTS " + numbers_ +
         " (name VARBINARY(767) NOT NULL PRIMARY KEY, grant_number BIGINT NOT NULL) "
         "ENGINE=InnoDB COMMENT='holdfast lock records: numbers, version 1'";
}

}  // namespace holdfast::mysql::insert
