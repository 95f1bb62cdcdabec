#include "backend/mysql/strategies/named/statements.hpp"

#include "backend/mysql/transport/statement.hpp"

namespace holdfast::mysql::named {

statements::statements(std::string_view database, std::string_view prefix)
    : scope_("holdfast:" + std::string(database) + '/' + std::string(prefix)) {}

std::string statements::key_of(std::string_view name) const { return scope_ + std::string(name); }

sql_statement statements::try_lock(std::string_view key, lock_mode) const {
  return {"SELECT GET_LOCK(SHA2(?,256),0),UUID_SHORT(),@@read_only", {key}};
}

// Some 30 years: with a longer time MariaDB returns at once.
sql_statement statements::wait(std::string_view key, lock_mode) const {
  return {"SELECT GET_LOCK(SHA2(?,256),1000000000)", {key}};
}

sql_statement statements::confirm(std::string_view key, lock_mode) const {
  return {"SELECT IS_USED_LOCK(SHA2(?,256))=CONNECTION_ID(),UUID_SHORT(),@@read_only", {key}};
}

sql_statement statements::release(std::string_view key) const {
  return {"SELECT RELEASE_LOCK(SHA2(?,256))", {key}};
}

std::string statements::holder(std::string_view key) const {
  return bound(
      "SELECT id,host FROM information_schema.processlist WHERE id=IS_USED_LOCK(SHA2(?,256))",
      {key});
}

}  // namespace holdfast::mysql::named
