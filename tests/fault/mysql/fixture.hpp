// What the tests on a real MariaDB share: a server for the cases of one process, and its tables.
#pragma once
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "testkit/servers/mariadb_server.hpp"

namespace holdfast::mysql_test {

using testkit::mariadb_link;
using testkit::mariadb_server;
using testkit::sql_error;
using testkit::sql_result;

// Skips where mariadb-server is not installed. Each case begins with an empty database.
class on_mariadb : public testing::Test {
 protected:
  void SetUp() override;
  static void TearDownTestSuite() { server_.reset(); }

  static mariadb_server& server() { return *server_; }
  static mariadb_link link() { return server_->link(); }
  static sql_result query(const std::string& statement) { return server_->query(statement); }

 private:
  static std::unique_ptr<mariadb_server> server_;
};

// A connection for the library, of the test's own.
struct own_connection {
  explicit own_connection(const mariadb_server& server, unsigned long client_flags = 0);
  mariadb_link link;
  mysql_connection connection;
};

// The code that a function threw as a lock_error; empty: it threw nothing.
std::error_code code_of(const std::function<void()>&);
std::int64_t integer(const sql_columns&, std::string_view column);
std::string text(const sql_columns&, std::string_view column);

}  // namespace holdfast::mysql_test
