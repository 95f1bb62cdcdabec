#include "guards/mysql_session.hpp"

#include <charconv>
#include <cstdlib>

#include "base/fail.hpp"
#include "base/fork.hpp"
#ifdef HOLDFAST_WITH_MYSQL
#include <errmsg.h>
#include <mysqld_error.h>

#include "backend/mysql/transport/libmariadb.hpp"
#endif

namespace holdfast {

#ifdef HOLDFAST_WITH_MYSQL

inline namespace v0 {

// A child of fork() closes nothing: it would end the session of its parent.
mysql_connection::state::~state() {
  if (is_ours && mysql && fork_generation == base::fork_generation())
    mysql::libmariadb()->mysql_close(mysql);
}

mysql_connection::mysql_connection(st_mysql* own) : state_(std::make_shared<state>()) {
  const char* why = nullptr;
  const auto* const library = mysql::libmariadb(&why);
  if (!library) base::fail(errc::unsupported, "mysql_connection", why);
  if (!own)
    base::fail(errc::bad_option, "mysql_connection",
               "the connection is null; connect it with mysql_real_connect() first");
  const std::string charset = library->mysql_character_set_name(own);
  if (!charset.starts_with("utf8"))
    base::fail(errc::bad_option, "mysql_connection",
               "the connection's character set is " + charset +
                   "; set MYSQL_SET_CHARSET_NAME to \"utf8mb4\" before connecting");
  state_->mysql = own;
  state_->fork_generation = guards::watched_fork_generation();
}

}  // namespace v0

namespace guards {
namespace {

class fork_counter final : base::fork_listener {
 public:
  fork_counter() { listen(); }
  ~fork_counter() { stop_listening(); }
  void forked() noexcept override {}
};

integer_range range_of(enum_field_types type, bool is_unsigned) {
  const int bits = type == MYSQL_TYPE_TINY    ? 8
                   : type == MYSQL_TYPE_SHORT ? 16
                   : type == MYSQL_TYPE_INT24 ? 24
                   : type == MYSQL_TYPE_LONG  ? 32
                                              : 64;
  if (is_unsigned) return {0, ~std::uint64_t{} >> (64 - bits)};
  const std::uint64_t limit = ~std::uint64_t{} >> (65 - bits);
  return {-static_cast<std::int64_t>(limit) - 1, limit};
}

sql_field described(const MYSQL_FIELD& field) {
  constexpr unsigned binary_charset = 63;
  sql_field f;
  f.name = field.name;
  f.is_never_null = field.flags & NOT_NULL_FLAG;
  switch (field.type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG: f.integer = range_of(field.type, field.flags & UNSIGNED_FLAG); break;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE: f.is_float = true; break;
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_TIMESTAMP:
      f.is_time = true;
      f.decimals = static_cast<int>(field.decimals);
      break;
    case MYSQL_TYPE_STRING:
    case MYSQL_TYPE_VAR_STRING:
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB: f.is_binary = field.charsetnr == binary_charset; break;
    default: break;
  }
  return f;
}

// Whether the statement was executed is unknown after 2013 (CR_SERVER_LOST): the reply is missing.
// With 2006 (CR_SERVER_GONE_ERROR) it was not sent.
errc code_of(unsigned error, sql_effect effect) {
  switch (error) {
    case CR_SERVER_LOST:
    case CR_COMMANDS_OUT_OF_SYNC:
    case CR_MALFORMED_PACKET:
    case ER_SERVER_SHUTDOWN:
    case ER_CONNECTION_KILLED:
      return effect == sql_effect::writes ? errc::outcome_unknown : errc::unavailable;
    case CR_SERVER_GONE_ERROR:
    case ER_QUERY_INTERRUPTED:
    case ER_STATEMENT_TIMEOUT:
    case ER_OPTION_PREVENTS_STATEMENT:  // the server is read-only
      return errc::unavailable;
    case ER_NO_SUCH_TABLE:
    case ER_BAD_DB_ERROR:
    case ER_BAD_FIELD_ERROR:
    case ER_NO_DEFAULT_FOR_FIELD:
    case ER_BAD_NULL_ERROR:
    case ER_DUP_ENTRY:
    case ER_DATA_TOO_LONG:
    case ER_WARN_DATA_OUT_OF_RANGE:
    case ER_TRUNCATED_WRONG_VALUE:
    case ER_TRUNCATED_WRONG_VALUE_FOR_FIELD: return errc::mismatch;
    default: return errc::refused;
  }
}

bool is_of_contention(unsigned error) {
  return error == ER_LOCK_DEADLOCK || error == ER_LOCK_WAIT_TIMEOUT;
}

[[noreturn]] void fail_as(unsigned error, const char* text, std::string_view operation,
                          sql_effect effect) {
  const errc code = code_of(error, effect);
  std::string reason = "the server reported error " + std::to_string(error) + ": " + text;
  if (code == errc::outcome_unknown) reason += "; the row may have been written, read it again";
  base::fail(code, operation, std::move(reason));
}

void read_rows(const mysql::libmariadb_functions& library, MYSQL_RES* set, sql_answer& answer) {
  const unsigned columns = library.mysql_num_fields(set);
  const MYSQL_FIELD* const fields = library.mysql_fetch_fields(set);
  for (unsigned i = 0; i < columns; ++i) answer.fields.push_back(described(fields[i]));
  while (const MYSQL_ROW row = library.mysql_fetch_row(set)) {
    const unsigned long* const lengths = library.mysql_fetch_lengths(set);
    auto& cells = answer.rows.emplace_back();
    for (unsigned i = 0; i < columns; ++i) {
      cells.emplace_back();
      if (row[i]) cells.back().emplace(row[i], lengths[i]);
    }
  }
}

}  // namespace

unsigned watched_fork_generation() {
  static const fork_counter counter;
  return base::fork_generation();
}

sql_answer run(const mysql_connection& where, std::string_view operation,
               const std::string& statement, sql_effect effect) {
  if (!where.handle())
    base::fail(errc::closed, operation, "the connection is empty; open() it first");
  const mysql_connection::state& own = mysql_access::state(where);
  if (own.fork_generation != base::fork_generation())
    base::fail(errc::forked, operation, "the connection was made before fork(); connect again");
  const mysql::libmariadb_functions& library = *mysql::libmariadb();
  sql_answer answer;
  if (library.mysql_real_query(own.mysql, statement.data(), statement.size()) == 0) {
    answer.affected = library.mysql_affected_rows(own.mysql);
    answer.insert_id = library.mysql_insert_id(own.mysql);
    const std::unique_ptr<MYSQL_RES, decltype(library.mysql_free_result)>
        set(library.mysql_store_result(own.mysql), library.mysql_free_result);
    if (set) read_rows(library, set.get(), answer);
  }
  const unsigned error = library.mysql_errno(own.mysql);
  answer.is_contended = is_of_contention(error);
  if (error != 0 && !answer.is_contended)
    fail_as(error, library.mysql_error(own.mysql), operation, effect);
  return answer;
}

transaction_status transaction_of(const mysql_connection& where) {
  unsigned status = 0;
  mysql::libmariadb()->mariadb_get_infov(mysql_access::state(where).mysql,
                                         MARIADB_CONNECTION_SERVER_STATUS, &status);
  return {(status & SERVER_STATUS_IN_TRANS) != 0, (status & SERVER_STATUS_AUTOCOMMIT) != 0};
}

}  // namespace guards

#else

namespace {

constexpr const char* not_built = "configure holdfast with -DHOLDFAST_WITH_MYSQL=ON";

}  // namespace

inline namespace v0 {

mysql_connection::state::~state() = default;

mysql_connection::mysql_connection(st_mysql*) {
  base::fail(errc::unsupported, "mysql_connection", not_built);
}

}  // namespace v0

namespace guards {

sql_answer run(const mysql_connection&, std::string_view operation, const std::string&,
               sql_effect) {
  base::fail(errc::unsupported, operation, not_built);
}

transaction_status transaction_of(const mysql_connection&) { return {}; }

}  // namespace guards

#endif

inline namespace v0 {

st_mysql* mysql_connection::handle() const noexcept { return state_ ? state_->mysql : nullptr; }

}  // namespace v0

namespace guards {

void fail_contended(std::string_view operation) {
  base::fail(errc::unavailable, operation,
             "another transaction has the row: a deadlock, or innodb_lock_wait_timeout has passed; "
             "nothing was written, repeat the transaction");
}

sql_value sql_answer::value(std::size_t row, std::size_t column) const {
  const auto& cell = rows[row][column];
  if (!cell) return nullptr;
  const sql_field& field = fields[column];
  if (field.integer) {
    std::int64_t number = 0;
    const auto read = std::from_chars(cell->data(), cell->data() + cell->size(), number);
    if (read.ec == std::errc{}) return number;
  }
  if (field.is_float) return std::strtod(cell->c_str(), nullptr);
  if (!field.is_binary) return *cell;
  const auto* const bytes = reinterpret_cast<const std::byte*>(cell->data());
  return std::vector<std::byte>(bytes, bytes + cell->size());
}

}  // namespace guards
}  // namespace holdfast
