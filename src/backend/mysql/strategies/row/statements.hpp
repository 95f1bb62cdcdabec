// The statements of strategy `row`, and its table.
//
//   column       | content
//   -------------+----------------------------------------------------------------------------
//   name         | of the lock, with the prefix of the client
//   owner        | of the claim that holds it; empty: released
//   grant_number | of the last grant; it only grows, and no clean-up may lower it
//   expires_at   | UTC by the server's clock: until then the owner holds the lock
//   granted_at   | UTC
//   renewals     | bumped by each renewal, so that a row that was found is a row that changed
//   note, host,  | of the holder, for inspection
//   pid          |
//
// A row is created once for each name and never deleted by this library. An acquire is one UPDATE
// that matches an expired row only: the server executes it for one client at a time. Its winner is
// known by the number that comes back with it as insert id; the count of affected rows depends on
// options of the connection.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "backend/mysql/strategies/retrying/statements.hpp"

namespace holdfast::mysql::row {

using retrying::lock_request;

class statements final : public retrying::statements {
 public:
  explicit statements(std::string_view table);

  // Steps: 0 take, 1 look, 2 create, 3 take, 4 look.
  std::string try_lock(const lock_request&, std::uint8_t step) const override;
  std::string look(std::string_view name) const override;
  std::string renew(const lock_request&) const override;
  std::string release(std::string_view name, std::string_view owner) const override;
  std::string holders_by_prefix(std::string_view prefix) const override;
  std::string holders_of(std::string_view name) const override;
  std::string probe() const;         // an error: the table is not there, or is another
  std::string create_table() const;  // of version 1

 private:
  // A released or expired lock, or one that this owner has; its insert id is the number.
  std::string take(const lock_request&) const;
  std::string create(std::string_view name) const;  // the row of a lock that was never requested

  const std::string table_;
};

}  // namespace holdfast::mysql::row
