// A network between a client and a MariaDB server that does harm at one statement of the client.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "testkit/servers/mariadb_server.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::testkit {

enum class statement_fault : unsigned char {
  cut,         // the connection is reset; before: the server does not receive the statement
  kill,        // KILL of the connection, until the server no longer knows it
  kill_query,  // KILL QUERY
};
// When it happens: before the server receives the statement, or once its reply has arrived here,
// which a cut drops.
enum class fault_time : unsigned char { before, after };

// Statements are counted over all connections, those of the greeting included. Without TLS, a
// statement and its reply each arrive in one piece. One thread at a time.
class mariadb_proxy {
 public:
  // The server outlives it. Throws std::system_error, sql_error.
  explicit mariadb_proxy(mariadb_server&);
  ~mariadb_proxy();
  mariadb_proxy(const mariadb_proxy&) = delete;
  mariadb_proxy& operator=(const mariadb_proxy&) = delete;

  int port() const noexcept { return network_.port(); }
  tcp_proxy& network() noexcept { return network_; }

  // Once, at the statement of that number, counted from 0 from now on.
  void strike(std::uint64_t statement, fault_time, statement_fault);
  std::string struck() const;  // that statement; empty: the fault has not happened yet

 private:
  class judge;
  const std::shared_ptr<judge> judge_;
  tcp_proxy network_;
};

}  // namespace holdfast::testkit
