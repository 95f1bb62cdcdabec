#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {

std::unique_ptr<mariadb_server> on_mariadb::server_;

void on_mariadb::SetUp() {
  if (!mariadb_server::installed()) GTEST_SKIP() << mariadb_server::not_installed;
  if (!server_) server_ = std::make_unique<mariadb_server>();
  server_->query("DROP DATABASE test");
  server_->query("CREATE DATABASE test CHARACTER SET utf8mb4");
  server_->query("USE test");
}

own_connection::own_connection(const mariadb_server& server, unsigned long client_flags)
    : link([&] {
        testkit::sql_login login = server.login();
        login.client_flags = client_flags;
        return login;
      }()),
      connection(link.handle()) {}

std::error_code code_of(const std::function<void()>& f) {
  try {
    f();
    return {};
  } catch (const lock_error& e) {
    return e.code();
  }
}

std::int64_t integer(const sql_columns& columns, std::string_view column) {
  return std::get<std::int64_t>(columns.find(column)->second);
}

std::string text(const sql_columns& columns, std::string_view column) {
  return std::get<std::string>(columns.find(column)->second);
}

}  // namespace holdfast::mysql_test
