#include "backend/mysql/strategies/row/statements.hpp"

#include <chrono>

#include "backend/mysql/transport/statement.hpp"
#include "base/environment.hpp"
#include "base/mutant.hpp"
#include "base/number.hpp"

namespace holdfast::mysql::row {

using base::mutant;
using base::planted;

namespace {

// UTC_TIMESTAMP is when the statement started: one that waited for the row writes a lease that is
// shorter than requested, never a longer one.
constexpr std::string_view now_us = "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(6))";
constexpr std::string_view released = "'1970-01-01'";

// Lists of locks are read by an index on the hour in which a lease ends, which a release does not
// change. An index on its end would change with each statement, and doubled the time of a grant.
// Assignments are executed from left to right: the end is the new one.
constexpr std::string_view set_hour = ",last_hour=TIMESTAMPDIFF(HOUR,'1970-01-01',expires_at)";
constexpr std::string_view of_held_rows =
    "last_hour>=TIMESTAMPDIFF(HOUR,'1970-01-01',UTC_TIMESTAMP(6)) AND expires_at>UTC_TIMESTAMP(6)";

std::string time_of_server() {
  if (!planted(mutant::expiry_by_client_clock)) return "UTC_TIMESTAMP(6)";
  return "'1970-01-01'+INTERVAL " + std::to_string(base::system_environment().wall().count()) +
         " MICROSECOND";
}

constexpr std::string_view look_at_holders =
    "SELECT name,owner,grant_number,note,host,pid,"
    "TIMESTAMPDIFF(MICROSECOND,granted_at,UTC_TIMESTAMP(6)),"
    "TIMESTAMPDIFF(MICROSECOND,UTC_TIMESTAMP(6),expires_at),";
constexpr std::string_view left_us = "TIMESTAMPDIFF(MICROSECOND,UTC_TIMESTAMP(6),expires_at)";

constexpr std::string_view set_holder = "owner=?,note=?,host=?,pid=?,"
                                        "granted_at=UTC_TIMESTAMP(6),"
                                        "expires_at=UTC_TIMESTAMP(6)+INTERVAL ? MICROSECOND";
constexpr std::string_view member_or_renewal =
    " VALUES(?,?,?,UTC_TIMESTAMP(6)+INTERVAL ? MICROSECOND,UTC_TIMESTAMP(6),0,?,?,?,?,?)"
    " ON DUPLICATE KEY UPDATE expires_at=";

// Two renewals may be executed in the other order: none makes a lease shorter.
std::string_view extended() {
  return planted(mutant::late_renewal_shortens)
             ? "UTC_TIMESTAMP(6)+INTERVAL ? MICROSECOND"
             : "GREATEST(expires_at,UTC_TIMESTAMP(6)+INTERVAL ? MICROSECOND)";
}

std::int64_t us(base::duration d) noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out += part;
  return out;
}

// No name has a byte 0xff.
std::string after_all_with(std::string_view prefix) { return std::string(prefix) + '\xff'; }

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  while (times-- > 0) out += part;
  return out;
}

}  // namespace

statements::statements(std::string_view table)
    : table_(concat({"`", table, "`"})), members_(concat({"`", table, member_suffix, "`"})) {}

sql_statement statements::try_lock(const lock_request& r, std::uint8_t step) const {
  switch (step) {
    case 1:
    case 4: return look(r.name);
    case 2: return create(r.name);
    default: return take(r);
  }
}

std::string statements::grant() const {
  const bool is_floored = !planted(mutant::row_number_below_clock);
  return concat({"UPDATE ", table_, " SET grant_number=LAST_INSERT_ID(",
                 is_floored ? "GREATEST(grant_number+1," : "grant_number+1",
                 is_floored ? now_us : "", is_floored ? "))," : "),"});
}

sql_statement statements::take(const lock_request& r) const {
  const bool checks_expiry = !planted(mutant::row_taken_unexpired);
  const bool checks_members = !planted(mutant::row_members_ignored);
  const std::string text = concat(
      {grant(), set_holder, set_hour, " WHERE name=?", checks_members ? " AND has_members=0" : "",
       checks_expiry ? " AND (expires_at<=" + time_of_server() + " OR owner=?)" : ""});
  return sql_statement(text, {r.owner, r.note, r.host, r.pid, us(r.ttl), r.name, r.owner})
      .of_row(r.name);
}

sql_statement statements::take_locked(const lock_request& r) const {
  return {concat({grant(), set_holder, set_hour, ",has_members=0 WHERE name=?"}),
          {r.owner, r.note, r.host, r.pid, us(r.ttl), r.name}};
}

sql_statement statements::open_to_members(std::string_view name) const {
  return {concat({grant(), "owner=x'',expires_at=", released, ",has_members=1 WHERE name=?"}),
          {name}};
}

sql_statement statements::add_member(const lock_request& r, std::int64_t number) const {
  return {concat({"INSERT INTO ", members_, member_or_renewal, extended(), ",renewals=renewals+1"}),
          {r.name, r.owner, number, us(r.ttl), r.note, r.host, r.pid, std::int64_t{r.permits},
           std::int64_t{r.total_permits}, us(r.ttl)}};
}

sql_statement statements::lock_row(std::string_view name) const {
  return {concat(
              {"SELECT owner,", left_us, ",has_members FROM ", table_, " WHERE name=? FOR UPDATE"}),
          {name}};
}

sql_statement statements::look_at_members(std::string_view name) const {
  return {concat({"SELECT owner,", left_us, ",grant_number,permits,total_permits FROM ", members_,
                  " WHERE name=?"}),
          {name}};
}

// The server's names of locks are short, and belong to all its databases.
sql_statement statements::wait_for_bell(std::string_view name) const {
  return {"SELECT IS_USED_LOCK(SHA2(CONCAT(DATABASE(),?,?),224)),"
          "GET_LOCK(SHA2(CONCAT(DATABASE(),?,?),224),?)",
          {table_, name, table_, name, std::int64_t{bell_wait.count()}}};
}

sql_statement statements::release_bell(std::string_view name) const {
  return {"DO RELEASE_LOCK(SHA2(CONCAT(DATABASE(),?,?),224))", {table_, name}};
}

sql_statement statements::mark(std::string_view name) const {
  return {concat({"UPDATE ", table_, " SET renewals=renewals+1 WHERE name=? AND owner<>x''"}),
          {name}};
}

sql_statement statements::look(std::string_view name) const {
  return {concat({"SELECT owner,", left_us, ",has_members FROM ", table_, " WHERE name=?"}),
          {name}};
}

sql_statement statements::create(std::string_view name) const {
  return {concat({"INSERT INTO ", table_, " VALUES(?,x'',0,", released, ",", released,
                  ",0,0,x'',x'',0,0) ON DUPLICATE KEY UPDATE name=name"}),
          {name}};
}

sql_statement statements::renew(const lock_request& r) const {
  return renew_all({&r.name, 1}, {&r.owner, 1}, r.ttl, r.mode != lock_mode::exclusive);
}

// An owner is in one row only, so each pair of a name and an owner is one of those that are meant.
// A member's lease that has expired may have been given to another client by now.
std::string statements::renew_all(std::span<const std::string_view> names,
                                  std::span<const std::string_view> owners, base::duration ttl,
                                  bool of_members) const {
  const bool compares = !planted(mutant::renew_without_owner);
  const bool checks_expiry = of_members && !planted(mutant::expired_member_renewed);
  std::string text =
      concat({"UPDATE ", of_members ? members_ : table_,
              " FORCE INDEX (PRIMARY) SET expires_at=", extended(), of_members ? "" : set_hour,
              ",renewals=renewals+1 WHERE name IN (?", repeated(",?", names.size() - 1), ")",
              checks_expiry ? " AND expires_at>UTC_TIMESTAMP(6)" : ""});
  std::vector<sql_value> values{us(ttl)};
  values.insert(values.end(), names.begin(), names.end());
  if (compares) {
    text += concat({" AND owner IN (?", repeated(",?", owners.size() - 1), ")"});
    values.insert(values.end(), owners.begin(), owners.end());
  }
  return bound(text, values);
}

std::string statements::look_at_all(std::span<const std::string_view> names) const {
  std::vector<sql_value> values(names.begin(), names.end());
  values.insert(values.end(), names.begin(), names.end());
  const std::string where =
      concat({" WHERE name IN (?", repeated(",?", names.size() - 1), ") AND owner<>x''"});
  return bound(concat({"SELECT name,owner,", left_us, " FROM ", table_, where,
                       " UNION ALL SELECT name,owner,", left_us, " FROM ", members_, where}),
               values);
}

sql_statement statements::release(std::string_view name, std::string_view owner,
                                  lock_mode mode) const {
  const std::string_view compares = planted(mutant::delete_without_owner) ? "" : " AND owner=?";
  if (mode != lock_mode::exclusive)
    return {concat({"DELETE FROM ", members_, " WHERE name=?", compares}), {name, owner}};
  return sql_statement(concat({"UPDATE ", table_, " SET owner=x'',expires_at=", released,
                               ",renewals=LAST_INSERT_ID(renewals) WHERE name=?", compares}),
                       {name, owner})
      .of_row(name);
}

std::vector<sql_statement> statements::break_lock(std::string_view name,
                                                  std::string_view seen) const {
  if (const std::int64_t group = number_of_group(seen))
    return {bound(concat({"DELETE FROM ", members_,
                          " WHERE name=? AND grant_number=? AND total_permits=0"}),
                  {name, group})};
  return {release(name, seen, lock_mode::exclusive), release(name, seen, lock_mode::shared)};
}

// In the order of the index on last_hour, whose entries have the name as well. A lock that is
// renewed meanwhile moves towards the end, so it is read again rather than missed. For a later page
// the server would sort all rows with the prefix once more, without the hint.
std::string statements::page_of_locks(std::string_view prefix, const sql_row& last,
                                      std::int64_t limit) const {
  const std::string head = bound(concat({look_at_holders, "NULL,NULL,last_hour FROM ", table_,
                                         last.empty() ? "" : " FORCE INDEX (in_use)",
                                         " WHERE name>=? AND name<? AND ", of_held_rows}),
                                 {prefix, after_all_with(prefix)});
  std::string after;
  if (!last.empty()) {
    const auto hour = base::whole_number<std::int64_t>(last.at(10).value()).value_or(0);
    after =
        bound(" AND last_hour>=? AND (last_hour>? OR name>?)", {hour, hour, last.at(0).value()});
  }
  return concat({"(", head, after, bound(" ORDER BY last_hour,name LIMIT ?)", {limit})});
}

std::string statements::page_of_members(std::string_view prefix, const sql_row& last,
                                        std::int64_t limit) const {
  const std::string_view name = last.empty() ? prefix : std::string_view(*last.at(0));
  const std::string head =
      bound(concat({look_at_holders, "permits,total_permits,NULL FROM ", members_,
                    " WHERE name>=? AND name<? AND "
                    "expires_at>UTC_TIMESTAMP(6)"}),
            {name, after_all_with(prefix)});
  std::string after;
  if (!last.empty()) after = bound(" AND (name>? OR owner>?)", {name, last.at(1).value()});
  return concat({"(", head, after, bound(" ORDER BY name,owner LIMIT ?)", {limit})});
}

std::string statements::page_of_holders(std::string_view prefix,
                                        const retrying::page_cursors& cursors,
                                        std::int64_t limit) const {
  std::string out;
  if (!cursors[0].is_at_end) out = page_of_locks(prefix, cursors[0].last, limit);
  if (cursors[1].is_at_end) return out;
  if (!out.empty()) out += " UNION ALL ";
  return out + page_of_members(prefix, cursors[1].last, limit);
}

std::string statements::holders_of(std::string_view name) const {
  constexpr std::string_view where = " WHERE name=? AND expires_at>UTC_TIMESTAMP(6)";
  return bound(concat({look_at_holders, "NULL,NULL FROM ", table_, where, " UNION ALL ",
                       look_at_holders, "permits,total_permits FROM ", members_, where,
                       " ORDER BY 1,3,2"}),
               {name, name});
}

const std::string& statements::pruned() const noexcept {
  return planted(mutant::numbers_pruned) ? table_ : members_;
}

std::string statements::expired_by_prefix(std::string_view prefix, const sql_row& last,
                                          std::int64_t limit) const {
  const std::string_view name = last.empty() ? prefix : std::string_view(*last.at(0));
  const std::string head =
      bound(concat({"SELECT name,owner FROM ", pruned(),
                    " WHERE name>=? AND name<? AND expires_at<=UTC_TIMESTAMP(6)"}),
            {name, after_all_with(prefix)});
  std::string after;
  if (!last.empty()) after = bound(" AND (name>? OR owner>?)", {name, last.at(1).value()});
  return head + after + bound(" ORDER BY name,owner LIMIT ?", {limit});
}

sql_statement statements::expiry(std::string_view name, std::string_view owner) const {
  const std::string_view compares =
      planted(mutant::living_record_deleted) ? "" : " AND expires_at<=UTC_TIMESTAMP(6)";
  return {concat({"DELETE FROM ", pruned(), " WHERE name=? AND owner=?", compares}), {name, owner}};
}

std::string statements::probe_table() const {
  return concat({"SELECT name,owner,grant_number,expires_at,granted_at,renewals,has_members,note,"
                 "host,pid,last_hour FROM ",
                 table_, " LIMIT 0"});
}

std::string statements::probe_members() const {
  return concat({"SELECT name,owner,grant_number,expires_at,granted_at,renewals,note,host,pid,"
                 "permits,total_permits FROM ",
                 members_, " LIMIT 0"});
}

std::string statements::create_table() const {
  return concat({"CREATE TABLE IF NOT EXISTS ", table_,
                 " (name VARBINARY(767) NOT NULL PRIMARY KEY, owner VARBINARY(64) NOT NULL, "
                 "grant_number BIGINT NOT NULL, expires_at DATETIME(6) NOT NULL, "
                 "granted_at DATETIME(6) NOT NULL, renewals BIGINT UNSIGNED NOT NULL, "
                 "has_members TINYINT NOT NULL, "
                 "note VARBINARY(256) NOT NULL, host VARBINARY(255) NOT NULL, pid BIGINT NOT NULL, "
                 "last_hour INT UNSIGNED NOT NULL, "
                 "KEY in_use (last_hour)) ENGINE=InnoDB COMMENT='holdfast locks, version 3'"});
}

std::string statements::create_members() const {
  return concat({"CREATE TABLE IF NOT EXISTS ", members_,
                 " (name VARBINARY(767) NOT NULL, owner VARBINARY(64) NOT NULL, "
                 "grant_number BIGINT NOT NULL, expires_at DATETIME(6) NOT NULL, "
                 "granted_at DATETIME(6) NOT NULL, renewals BIGINT UNSIGNED NOT NULL, "
                 "note VARBINARY(256) NOT NULL, host VARBINARY(255) NOT NULL, pid BIGINT NOT NULL, "
                 "permits INT UNSIGNED NOT NULL, total_permits INT UNSIGNED NOT NULL, "
                 "PRIMARY KEY (name, owner)) "
                 "ENGINE=InnoDB COMMENT='holdfast readers and permits, version 2'"});
}

std::string text_of_group(std::int64_t number) { return 'g' + std::to_string(number); }

std::int64_t number_of_group(std::string_view owner) noexcept {
  if (!owner.starts_with('g')) return 0;
  return base::whole_number<std::int64_t>(owner.substr(1)).value_or(0);
}

}  // namespace holdfast::mysql::row
