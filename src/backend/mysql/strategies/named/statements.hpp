// The statements of strategy `named`.
//
// The names of such locks are the server's own, shared by all its databases. The name of a lock is
// SHA2('holdfast:DATABASE/PREFIX+NAME', 256): 64 lower-case hexadecimal digits, which MariaDB and
// MySQL compare in the same way and admit whatever the name was.
#pragma once
#include <string>
#include <string_view>

#include "backend/mysql/strategies/pinned/lock_statements.hpp"

namespace holdfast::mysql::named {

class statements final : public pinned::lock_statements {
 public:
  statements(std::string_view database, std::string_view prefix);

  std::string key_of(std::string_view name) const override;  // what is hashed
  sql_statement try_lock(std::string_view key, lock_mode) const override;
  sql_statement wait(std::string_view key, lock_mode) const override;
  sql_statement confirm(std::string_view key, lock_mode) const override;
  sql_statement create(std::string_view) const override { return {}; }
  sql_statement release(std::string_view key) const override;
  std::string holder(std::string_view key) const;  // {connection id, host}, or no row

 private:
  const std::string scope_;
};

}  // namespace holdfast::mysql::named
