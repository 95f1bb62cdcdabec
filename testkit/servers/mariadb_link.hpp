// A connection of the test itself to a MariaDB server: plain and blocking.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct st_mysql;  // MYSQL of libmariadb

namespace holdfast::testkit {

// A row set, or what the server reported of a statement that has none.
struct sql_result {
  std::vector<std::vector<std::optional<std::string>>> rows;  // nullopt: NULL
  std::vector<std::string> columns;                           // the names of a row set's columns
  std::uint64_t affected = 0;
  std::uint64_t insert_id = 0;

  // The first cell; "": there is no row, or the cell is NULL.
  std::string text() const;
  long long number() const { return std::stoll(text()); }
  // The cell of that column in the first row, or "".
  std::string of(const std::string& column) const;
};

inline constexpr unsigned sql_server_gone = 2006;     // the connection has ended: not executed
inline constexpr unsigned sql_unknown_thread = 1094;  // of KILL: the connection has ended

class sql_error : public std::runtime_error {
 public:
  sql_error(unsigned number, const std::string& text) : runtime_error(text), code(number) {}
  unsigned code;  // 1062: duplicate key, 1205: lock wait timeout, 1213: deadlock, 2013: cut off
};

struct sql_login {
  std::string socket{};  // path of the server's Unix socket; "": TCP to 127.0.0.1
  int port = 0;
  std::string user{};
  std::string password{};
  std::string database{};
  unsigned long client_flags = 0;  // CLIENT_FOUND_ROWS and the like
};

// One thread at a time.
class mariadb_link {
 public:
  explicit mariadb_link(const sql_login&);  // throws sql_error
  mariadb_link(mariadb_link&&) noexcept = default;
  mariadb_link& operator=(mariadb_link&&) noexcept = default;

  // Runs one statement. Throws sql_error.
  sql_result query(const std::string& statement);
  // What query() throws: its number; 0: it succeeds.
  unsigned error_of(const std::string& statement);
  // Sends the statement; receive() returns its result.
  void send(const std::string& statement);
  sql_result receive();

  unsigned long id() const noexcept;  // CONNECTION_ID()
  int descriptor() const noexcept;    // its socket
  st_mysql* handle() const noexcept { return connection_.get(); }
  void close() noexcept { connection_.reset(); }
  // Closes its descriptor without a farewell to the server, as the end of a process does.
  void abandon() noexcept;

 private:
  struct closing {
    void operator()(st_mysql*) const noexcept;
  };
  [[noreturn]] void fail(const std::string& what) const;

  std::unique_ptr<st_mysql, closing> connection_;
};

}  // namespace holdfast::testkit
