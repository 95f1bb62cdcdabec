#include "backend/mysql/strategies/for_update/statements.hpp"

#include "backend/mysql/transport/statement.hpp"

namespace holdfast::mysql::for_update {

namespace {

// Words that MySQL 8 does not know here are in comments that only MariaDB executes. There a try
// waits as long as innodb_lock_wait_timeout says, and a wait is repeated after it. MariaDB waits
// for a year at the most.
constexpr std::string_view exclusive_try = " FOR UPDATE NOWAIT";
constexpr std::string_view shared_try = " LOCK IN SHARE MODE/*M! NOWAIT*/";
constexpr std::string_view exclusive_wait = " FOR UPDATE/*M! WAIT 31536000*/";
constexpr std::string_view shared_wait = " LOCK IN SHARE MODE/*M! WAIT 31536000*/";

std::string with(std::string_view first, std::string_view table, std::string_view remaining) {
  return std::string(first).append(table).append(remaining);
}

}  // namespace

statements::statements(std::string_view table, std::string_view prefix)
    : name_(table), table_(with("`", table, "`")), prefix_(prefix) {}

sql_statement statements::try_lock(std::string_view key, lock_mode mode) const {
  const bool is_shared = mode == lock_mode::shared;
  return {with("SELECT 1,UUID_SHORT(),@@read_only FROM ", table_, " WHERE name=?")
              .append(is_shared ? shared_try : exclusive_try),
          {key}};
}

sql_statement statements::wait(std::string_view key, lock_mode mode) const {
  const bool is_shared = mode == lock_mode::shared;
  return {with("SELECT 1 FROM ", table_, " WHERE name=?")
              .append(is_shared ? shared_wait : exclusive_wait),
          {key}};
}

// The lock lasts as long as the transaction. A statement that locked the row once more would be
// refused while FLUSH TABLES WITH READ LOCK waits for the others that wait for this row. MySQL has
// no @@in_transaction and ignores the comment.
sql_statement statements::confirm(std::string_view, lock_mode) const {
  return "SELECT 1/*M! AND @@in_transaction*/,UUID_SHORT(),@@read_only";
}

sql_statement statements::create(std::string_view key) const {
  return {with("INSERT INTO ", table_, " (name) VALUES(?) ON DUPLICATE KEY UPDATE name=name"),
          {key}};
}

row_probes statements::probes(std::string_view key) const {
  const std::string read = bound(with("SELECT 1 FROM ", table_, " WHERE name=?"), {key});
  return {read, read + " FOR UPDATE SKIP LOCKED", read + " LOCK IN SHARE MODE/*M! SKIP LOCKED*/"};
}

std::string statements::describe_table() const {
  return with("SELECT ENGINE,(SELECT GROUP_CONCAT(COLUMN_NAME,' ',DATA_TYPE) FROM "
              "information_schema.COLUMNS c WHERE c.TABLE_SCHEMA=t.TABLE_SCHEMA AND "
              "c.TABLE_NAME=t.TABLE_NAME AND COLUMN_KEY='PRI') FROM information_schema.TABLES t "
              "WHERE t.TABLE_SCHEMA=DATABASE() AND t.TABLE_NAME='",
              name_, "'");
}

std::string statements::create_table() const {
  return with("CREATE TABLE IF NOT EXISTS ", table_,
              " (name VARBINARY(767) NOT NULL PRIMARY KEY) ENGINE=InnoDB "
              "COMMENT='holdfast row locks, version 1'");
}

}  // namespace holdfast::mysql::for_update
