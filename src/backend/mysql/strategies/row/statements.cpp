#include "backend/mysql/strategies/row/statements.hpp"

#include <chrono>

#include "backend/mysql/transport/statement.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql::row {

using base::mutant;
using base::planted;

namespace {

// UTC_TIMESTAMP is when the statement started: one that waited for the row writes a lease that is
// shorter than requested, never a longer one.
constexpr std::string_view now_us = "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(6))";
constexpr std::string_view released = "'1970-01-01'";

constexpr std::string_view look_at_holders =
    "SELECT name,owner,grant_number,note,host,pid,"
    "TIMESTAMPDIFF(MICROSECOND,granted_at,UTC_TIMESTAMP(6)),"
    "TIMESTAMPDIFF(MICROSECOND,UTC_TIMESTAMP(6),expires_at) FROM ";

std::int64_t us(base::duration d) noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out += part;
  return out;
}

}  // namespace

statements::statements(std::string_view table) : table_(concat({"`", table, "`"})) {}

std::string statements::try_lock(const lock_request& r, std::uint8_t step) const {
  switch (step) {
    case 1:
    case 4: return look(r.name);
    case 2: return create(r.name);
    default: return take(r);
  }
}

std::string statements::take(const lock_request& r) const {
  const std::string_view number =
      planted(mutant::row_number_below_clock) ? "grant_number+1" : "GREATEST(grant_number+1,";
  const bool is_floored = !planted(mutant::row_number_below_clock);
  const bool checks_expiry = !planted(mutant::row_taken_unexpired);
  const std::string text =
      concat({"UPDATE ", table_, " SET grant_number=LAST_INSERT_ID(", number,
              is_floored ? now_us : "", is_floored ? ")" : "",
              "),owner=?,note=?,host=?,pid=?,granted_at=UTC_TIMESTAMP(6),"
              "expires_at=UTC_TIMESTAMP(6)+INTERVAL ? MICROSECOND WHERE name=?",
              checks_expiry ? " AND (expires_at<=UTC_TIMESTAMP(6) OR owner=?)" : ""});
  return bound(text, {r.owner, r.note, r.host, r.pid, us(r.ttl), r.name, r.owner});
}

std::string statements::look(std::string_view name) const {
  return bound(concat({"SELECT owner,TIMESTAMPDIFF(MICROSECOND,UTC_TIMESTAMP(6),expires_at) FROM ",
                       table_, " WHERE name=?"}),
               {name});
}

std::string statements::create(std::string_view name) const {
  return bound(concat({"INSERT INTO ", table_, " VALUES(?,x'',0,", released, ",", released,
                       ",0,x'',x'',0) ON DUPLICATE KEY UPDATE name=name"}),
               {name});
}

std::string statements::renew(const lock_request& r) const {
  const bool compares = !planted(mutant::renew_without_owner);
  return bound(concat({"UPDATE ", table_,
                       " SET expires_at=UTC_TIMESTAMP(6)+INTERVAL ? MICROSECOND,"
                       "renewals=renewals+1 WHERE name=?",
                       compares ? " AND owner=?" : ""}),
               {us(r.ttl), r.name, r.owner});
}

std::string statements::release(std::string_view name, std::string_view owner) const {
  const bool compares = !planted(mutant::delete_without_owner);
  return bound(concat({"UPDATE ", table_, " SET owner=x'',expires_at=", released, " WHERE name=?",
                       compares ? " AND owner=?" : ""}),
               {name, owner});
}

// No name has a byte 0xff.
std::string statements::holders_by_prefix(std::string_view prefix) const {
  const std::string end = std::string(prefix) + '\xff';
  return bound(concat({look_at_holders, table_,
                       " WHERE name>=? AND name<? AND expires_at>UTC_TIMESTAMP(6) ORDER BY name"}),
               {prefix, end});
}

std::string statements::holders_of(std::string_view name) const {
  return bound(concat({look_at_holders, table_, " WHERE name=? AND expires_at>UTC_TIMESTAMP(6)"}),
               {name});
}

std::string statements::probe() const {
  return concat(
      {"SELECT name,owner,grant_number,expires_at,granted_at,renewals,note,host,pid FROM ", table_,
       " LIMIT 0"});
}

std::string statements::create_table() const {
  return concat({"CREATE TABLE IF NOT EXISTS ", table_,
                 " (name VARBINARY(767) NOT NULL PRIMARY KEY, owner VARBINARY(64) NOT NULL, "
                 "grant_number BIGINT NOT NULL, expires_at DATETIME(6) NOT NULL, "
                 "granted_at DATETIME(6) NOT NULL, renewals BIGINT UNSIGNED NOT NULL, "
                 "note VARBINARY(256) NOT NULL, host VARBINARY(255) NOT NULL, pid BIGINT NOT NULL) "
                 "ENGINE=InnoDB COMMENT='holdfast locks, version 1'"});
}

}  // namespace holdfast::mysql::row
