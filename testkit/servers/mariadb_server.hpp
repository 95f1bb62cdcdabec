// A real MariaDB server of a test's own.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "testkit/servers/certificates.hpp"
#include "testkit/servers/clock_shim.hpp"
#include "testkit/servers/mariadb_link.hpp"
#include "testkit/servers/program.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::testkit {

struct mariadb_options {
  int server_id = 1;                  // a primary and its replica have different ones
  bool replication = false;           // writes a binary log: can be a primary or a replica
  bool flushes = false;               // each commit to a disk; a killed server loses none anyway
  std::string tls{};                  // offers TLS with this certificate: "server", "expired" ..
  std::vector<std::string> config{};  // further lines of my.cnf: "wait_timeout=2"
  std::string time_zone{};            // TZ of its process; empty: ours
  // Its wall clock can be set, see set_clock(). A statement of it that waits with a timeout then
  // waits for as long as its clock is ahead, and not at all when it is behind.
  bool clock_shim = false;
  std::string data_folder{};  // an existing folder in which its data are; empty: a temporary one
};

// Listens on a free port of 127.0.0.1 and on a Unix socket in a temporary folder of its own, and is
// killed with the object, or with the thread that made it. A server is up in less than a second,
// except the first of a build. It resolves no names, and has
//   root            without a password, over the Unix socket only; all rights
//   holdfast        password "secret", over both; all rights in the database "test", no others
// Throws std::runtime_error with the server's log when it does not come up. One thread at a time,
// query() included.
class mariadb_server {
 public:
  explicit mariadb_server(const mariadb_options& = {});
  ~mariadb_server();

  // Without it a test says GTEST_SKIP() << not_installed.
  static bool installed();
  static constexpr const char* not_installed = "skipped: mariadb-server is not installed";
  static constexpr const char* user = "holdfast";
  static constexpr const char* password = "secret";
  static constexpr const char* database = "test";

  int port() const noexcept { return port_; }
  std::string url() const;  // "mysql://holdfast:secret@127.0.0.1:PORT/test"
  std::string socket_path() const { return folder_.file("s"); }
  pid_t pid() const noexcept { return program_->pid(); }
  void set_clock(std::chrono::milliseconds ahead) { clock_->set_offset(ahead); }
  const certificates& tls_files() const { return *certificates_; }  // only with tls
  std::string log() const { return folder_.read("log"); }

  void stop() { program_->stop(); }    // SIGSTOP
  void go_on() { program_->go_on(); }  // SIGCONT
  void kill_hard();                    // SIGKILL
  void shut_down();                    // SIGTERM, until the server has ended
  void start();                        // after one of these two: on the same data
  // kill_hard() and start(), in another second than the last start: UUID_SHORT() repeats else.
  void restart();

  // Replication: both servers need mariadb_options::replication and ids of their own. Each call
  // returns when the servers report that it is done, and throws std::runtime_error when they do
  // not in half a minute.
  void replicate(mariadb_server& primary);      // with read_only=1
  void catch_up_with(mariadb_server& primary);  // until it has all that the primary has written
  void promote();                               // read_only=0; the former primary goes on

  // As root, over the Unix socket, on a connection that is made again after a restart. Throws
  // sql_error.
  sql_result query(const std::string& statement);
  std::string variable(const std::string& name) { return query("SELECT @@" + name).text(); }
  std::string status(const std::string& name);  // of SHOW GLOBAL STATUS; "": there is none
  mariadb_link root() const;                    // one more connection of root, to "test"
  mariadb_link link() const;                    // of the user "holdfast", over TCP
  sql_login login() const;                      // what link() uses

  // Until the statement's first cell is this text. Throws std::runtime_error after half a minute.
  void wait_until(const std::string& statement, const std::string& text);
  // Until a statement of that connection waits for a row, or in GET_LOCK.
  void wait_until_row_wait(unsigned long connection_id);
  void wait_until_named_wait(unsigned long connection_id);
  long long rows_locked_by(unsigned long connection_id);  // in InnoDB, by its transaction
  void wait_until_gone(unsigned long connection_id);      // until the connection has ended
  // KILL until the server does not know the connection: before, it may still finish a statement.
  void kill_connection(unsigned long connection_id);

 private:
  void connect();
  std::string data() const;
  void write_config() const;
  void create_users();
  std::string transaction_of(unsigned long connection_id, const std::string& column);
  bool comes_up();
  void wait_for(const std::function<bool()>&, const std::string& what);

  mariadb_options options_;
  scratch_folder folder_;
  int port_ = 0;
  std::optional<certificates> certificates_;
  std::optional<clock_shim> clock_;
  std::optional<program> program_;
  std::optional<mariadb_link> link_;
  std::chrono::system_clock::time_point started_{};
};

}  // namespace holdfast::testkit
