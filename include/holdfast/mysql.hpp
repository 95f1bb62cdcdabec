// MariaDB and MySQL: values and connections for statements on the program's own rows, and a guard
// for a row.
#pragma once
#include <holdfast/guard.hpp>
#include <holdfast/url.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

struct st_mysql;  // MYSQL of libmariadb's mysql.h

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// A value of a column: NULL, a number, text in UTF-8 or bytes. Integers above INT64_MAX, DECIMAL,
// dates and times are text. A text column is compared with text: a number would be compared with
// every row of the table.
using sql_value =
    std::variant<std::nullptr_t, std::int64_t, double, std::string, std::vector<std::byte>>;

// Columns and their values. A name is 1 to 64 bytes of UTF-8 without control characters. Names and
// values are data: they are quoted or sent as literals that no byte can end.
using sql_columns = std::map<std::string, sql_value, std::less<>>;

// A connection to a MariaDB or MySQL server, on which statements run one after the other: the
// program's own, or one that holdfast opens.
//
// Copies use the same connection. Not safe to use from two threads at a time: neither copies, nor a
// copy and the program's own statements.
class mysql_connection {
 public:
  // Uses the program's own connection, which is not closed and must outlive all copies. The
  // settings of its session stay as they are.
  //
  // own  connected by libmariadb, with a character set of utf8mb4 or utf8 (mysql_options(),
  //      MYSQL_SET_CHARSET_NAME). Not by Oracle's libmysqlclient, whose structures differ
  // errc::bad_option   own is null, or has another character set
  // errc::unsupported  this build has no mysql backend, or libmariadb cannot be loaded
  // Does not block.
  explicit mysql_connection(st_mysql* own);

  // Opens a connection: mysql://user:password@host:port/database. The last copy closes it.
  //
  // Options of the URL: socket (the path of a Unix socket; the host is then empty or localhost),
  // tls (default: 1 except on this machine; the server's certificate and name are verified),
  // tls-ca, tls-cert, tls-key (files), connect-timeout and op-timeout (default 5s each; whole
  // seconds, rounded up), password-file and password-env.
  //
  // The session uses utf8mb4, waits for a row no longer than half of the op-timeout, does not
  // connect again by itself, and sends the server no files.
  // errc::bad_url      the scheme is another one, the URL has no host or several, or a password
  //                    cannot be read
  // errc::bad_option   an option is unknown or malformed
  // errc::refused      the server rejected the credentials, the database or the certificate
  // errc::unavailable  the server cannot be reached, or has no connection left
  // errc::unsupported  this build has no mysql backend, or libmariadb cannot be loaded
  // Blocks for the connect-timeout at most, and for the look-up of the host's name.
  static mysql_connection open(const url& where);
  static mysql_connection open(std::string_view where) { return open(url::parse(where)); }
  static mysql_connection open(const url& where, std::error_code&);

  // Empty: every use of it fails with errc::closed.
  mysql_connection() noexcept = default;

  // The program's own connection, or the one that open() made; null: empty.
  st_mysql* handle() const noexcept;

  struct state;  // opaque

 private:
  friend struct mysql_access;
  std::shared_ptr<state> state_;
};

// A row that a guard protects. Its table has two columns more:
//
//   ALTER TABLE job ADD fence_token BIGINT NOT NULL DEFAULT 0,
//                   ADD fence_owner VARCHAR(255) NOT NULL DEFAULT ''
struct guarded_row {
  std::string table;                         // "job", or "shop.job" of another database
  sql_columns key;                           // the primary key of the row, or another unique key
  std::string token_column = "fence_token";  // with the highest token that was admitted
  std::string owner_column = "fence_owner";  // with the owner of that token
};

// Guards a row in MariaDB or MySQL: one UPDATE checks the token and writes the values. The lock may
// be in any store.
//
// The check is a part of the statement. A statement of an earlier holder that waits for the row's
// lock is refused too, even when its connection was closed meanwhile: the server still executes it.
// Inside a transaction of the program the row stays locked until COMMIT.
//
// As thread-safe as its connection.
class mysql_guard {
 public:
  // comparison  default: fencing::ordered
  // errc::bad_name    a table or a column has no valid name
  // errc::bad_option  the key is empty
  // Does not block.
  mysql_guard(mysql_connection where, guarded_row row, fencing comparison = fencing::ordered);

  // Writes the values if the guard admits the holder; without values it only raises the token, for
  // a holder that reads before it writes.
  //
  // token, owner  lease::token() and lease::owner()
  // values        of other columns than the key's and the guard's
  // Returns true when the values were written, false when the guard refused them. LAST_INSERT_ID()
  // of the session changes.
  // errc::bad_name         a column has no valid name
  // errc::bad_option       values has a column of the key or of the guard
  // errc::mismatch         there is no such row, table or column, or a value does not fit
  // errc::refused          the server denied it: rights
  // errc::unavailable      the connection was lost before, the row's lock was not granted in time
  //                        (innodb_lock_wait_timeout), or a deadlock ended the transaction; nothing
  //                        was written
  // errc::outcome_unknown  the connection was lost meanwhile. The values may have been written, now
  //                        or later; the call may be repeated on another connection
  // errc::closed           the connection is empty
  // errc::forked           the connection was made before fork(), and this is the child
  // Blocks until the server has replied: as long as the connection's timeouts allow.
  [[nodiscard]] bool write(std::int64_t token, std::string_view owner, const sql_columns& values);
  [[nodiscard]] bool write(std::int64_t token, std::string_view owner, const sql_columns& values,
                           std::error_code&);
  [[nodiscard]] bool write(const lease& by, const sql_columns& values) {
    return write(by.token(), by.owner(), values);
  }
  [[nodiscard]] bool write(const lease& by, const sql_columns& values, std::error_code& ec) {
    return write(by.token(), by.owner(), values, ec);
  }
  // For fencing::exact: from now on this owner may write, and no other. Errors and blocking as for
  // write().
  void set(std::string_view owner);
  void set(std::string_view owner, std::error_code&);

 private:
  mysql_connection where_;
  guarded_row row_;
  fencing comparison_;
};

}  // namespace v0
}  // namespace holdfast
