#include "testkit/servers/mariadb_link.hpp"

#include <fcntl.h>
#include <mysql.h>
#include <unistd.h>

namespace holdfast::testkit {
namespace {

constexpr unsigned connect_bound_s = 30;

}  // namespace

std::string sql_result::text() const {
  return rows.empty() || rows[0].empty() ? std::string() : rows[0][0].value_or("");
}

std::string sql_result::of(const std::string& column) const {
  for (std::size_t i = 0; i < columns.size() && !rows.empty(); ++i)
    if (columns[i] == column) return rows[0][i].value_or("");
  return {};
}

void mariadb_link::closing::operator()(st_mysql* connection) const noexcept {
  ::mysql_close(connection);
}

mariadb_link::mariadb_link(const sql_login& login) : connection_(::mysql_init(nullptr)) {
  MYSQL* const mysql = connection_.get();
  ::mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_bound_s);
  ::mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  const bool by_socket = !login.socket.empty();
  if (!::mysql_real_connect(mysql, by_socket ? "localhost" : "127.0.0.1", login.user.c_str(),
                            login.password.c_str(),
                            login.database.empty() ? nullptr : login.database.c_str(),
                            by_socket ? 0 : static_cast<unsigned>(login.port),
                            by_socket ? login.socket.c_str() : nullptr, login.client_flags))
    fail("connect");
}

void mariadb_link::fail(const std::string& what) const {
  throw sql_error(::mysql_errno(connection_.get()),
                  std::to_string(::mysql_errno(connection_.get())) + ' ' +
                      ::mysql_error(connection_.get()) + ": " + what);
}

void mariadb_link::send(const std::string& statement) {
  if (::mysql_send_query(connection_.get(), statement.data(), statement.size()) != 0)
    fail(statement);
}

sql_result mariadb_link::receive() {
  MYSQL* const mysql = connection_.get();
  if (::mysql_read_query_result(mysql) != 0) fail("receive");
  sql_result result;
  result.affected = ::mysql_affected_rows(mysql);
  result.insert_id = ::mysql_insert_id(mysql);
  const std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)> set(::mysql_store_result(mysql),
                                                             ::mysql_free_result);
  if (!set) {
    if (::mysql_field_count(mysql) != 0) fail("receive");
    return result;
  }
  const unsigned columns = ::mysql_num_fields(set.get());
  for (unsigned i = 0; i < columns; ++i)
    result.columns.emplace_back(::mysql_fetch_fields(set.get())[i].name);
  while (const MYSQL_ROW row = ::mysql_fetch_row(set.get())) {
    const unsigned long* const lengths = ::mysql_fetch_lengths(set.get());
    auto& cells = result.rows.emplace_back();
    for (unsigned i = 0; i < columns; ++i)
      row[i] ? cells.emplace_back(std::string(row[i], lengths[i])) : cells.emplace_back();
  }
  return result;
}

sql_result mariadb_link::query(const std::string& statement) {
  try {
    send(statement);
    return receive();
  } catch (const sql_error& e) {
    throw sql_error(e.code, std::string(e.what()) + ": " + statement);
  }
}

unsigned mariadb_link::error_of(const std::string& statement) {
  try {
    query(statement);
    return 0;
  } catch (const sql_error& e) {
    return e.code;
  }
}

unsigned long mariadb_link::id() const noexcept { return ::mysql_thread_id(connection_.get()); }

// libmariadb sends its farewell to the null device.
void mariadb_link::abandon() noexcept {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, descriptor());
  ::close(nothing);
  connection_.reset();
}

int mariadb_link::descriptor() const noexcept {
  return static_cast<int>(::mysql_get_socket(connection_.get()));
}

}  // namespace holdfast::testkit
