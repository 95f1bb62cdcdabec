// The statements of strategy `row`, and its table.
//
//   column       | content
//   -------------+----------------------------------------------------------------------------
//   name         | of the lock, with the prefix of the client
//   owner        | of the claim that holds it; empty: released
//   grant_number | of the last grant; it only grows, and no clean-up may lower it
//   expires_at   | UTC by the server's clock: until then the owner holds the lock
//   granted_at   | UTC
//   renewals     | bumped by each renewal, so that a row that was found is a row that changed; and
//                | by each poll of a waiter without a bell, which the holder sees at its release
//   has_members  | 1: readers or holders of permits may hold the lock, each by a row of the other
//                | table; then owner is empty
//   note, host,  | of the holder, for inspection
//   pid          |
//
// A row is created once for each name and never deleted by this library. An acquire is one UPDATE
// that matches an expired row only: the server executes it for one client at a time. Its winner is
// known by the number that comes back with it as insert id; the count of affected rows depends on
// options of the connection.
//
// The second table has a row for each reader and each holder of permits: {name, owner, ...} as
// above, and {permits, total_permits}, both 0 for a reader. It is written by a transaction that
// keeps the row of the lock locked, see transaction.hpp.
#pragma once
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/mysql/strategies/retrying/statements.hpp"
#include "backend/mysql/transport/statement.hpp"

namespace holdfast::mysql::row {

using retrying::lock_request;

inline constexpr std::string_view member_suffix = "_members";  // of the name of the second table

class statements final : public retrying::statements {
 public:
  explicit statements(std::string_view table);

  // Steps: 0 take, 1 look, 2 create, 3 take, 4 look.
  sql_statement try_lock(const lock_request&, std::uint8_t step) const override;
  sql_statement look(std::string_view name) const override;  // .., and has_members
  sql_statement renew(const lock_request&) const override;
  sql_statement release(std::string_view name, std::string_view owner, lock_mode) const override;
  std::vector<sql_statement> break_lock(std::string_view name,
                                        std::string_view seen) const override;
  std::string page_of_holders(std::string_view prefix, const retrying::page_cursors&,
                              std::int64_t limit) const override;
  std::string holders_of(std::string_view name) const override;
  // They delete members only, because the row of a lock keeps its number.
  std::string expired_by_prefix(std::string_view prefix, const sql_row& last,
                                std::int64_t limit) const override;
  sql_statement expiry(std::string_view name, std::string_view owner) const override;
  sql_statement create(std::string_view name) const;  // the row of a lock that was never requested

  // Renewals of rows of one table, with the same ttl.
  std::string renew_all(std::span<const std::string_view> names,
                        std::span<const std::string_view> owners, base::duration ttl,
                        bool of_members) const;
  // {name, owner, us left} of each row of both tables that has an owner.
  std::string look_at_all(std::span<const std::string_view> names) const;

  // The named lock that wakes waiters: {its owner before, 1}; the wait ends with 0 after bell_wait.
  static constexpr std::chrono::seconds bell_wait{10};
  sql_statement wait_for_bell(std::string_view name) const;
  sql_statement release_bell(std::string_view name) const;
  sql_statement mark(std::string_view name) const;  // a waiter without a bell polls

  // The statements of a transaction.
  sql_statement lock_row(std::string_view name) const;         // {owner, us left, has_members}
  sql_statement look_at_members(std::string_view name) const;  // {owner, us left, number,
                                                               // permits, total_permits}
  // With the row locked and free: exclusively, or for members. Its insert id is the number.
  sql_statement take_locked(const lock_request&) const;
  sql_statement open_to_members(std::string_view name) const;
  sql_statement add_member(const lock_request&, std::int64_t number) const;

  // An error: the table is not there, or is another.
  std::string probe_table() const;
  std::string probe_members() const;
  std::string create_table() const;  // of version 3
  std::string create_members() const;

 private:
  // A released or expired lock, or one that this owner has; its insert id is the number.
  sql_statement take(const lock_request&) const;
  std::string grant() const;
  const std::string& pruned() const noexcept;  // the table from which a clean-up deletes rows
  std::string page_of_locks(std::string_view prefix, const sql_row& last, std::int64_t limit) const;
  std::string page_of_members(std::string_view prefix, const sql_row& last,
                              std::int64_t limit) const;

  const std::string table_, members_;
};

// The owner that readers share, as a guard compares it.
std::string text_of_group(std::int64_t number);
std::int64_t number_of_group(std::string_view owner) noexcept;  // 0: it is none

}  // namespace holdfast::mysql::row
