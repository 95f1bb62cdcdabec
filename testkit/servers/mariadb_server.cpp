#include "testkit/servers/mariadb_server.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "testkit/eventually.hpp"
#include "testkit/servers/mariadb_template.hpp"
#include "testkit/servers/port.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::chrono::seconds mariadb_start_bound{60};
constexpr std::chrono::seconds mariadb_end_bound{60};
constexpr std::chrono::seconds mariadb_wait_bound{30};
constexpr int mariadb_ports_tried =
    8;  // another program may take a port between our look and the start

constexpr std::chrono::milliseconds copy_renewal{105};

std::chrono::seconds second_of(std::chrono::system_clock::time_point t) {
  return std::chrono::floor<std::chrono::seconds>(t.time_since_epoch());
}

// Creating a table flushes files whatever the settings, and a busy disk takes seconds for that.
std::string folder_for_data(const mariadb_options& options) {
  constexpr std::uintmax_t needed = std::uintmax_t{2} << 30;
  const std::string in_memory = "/dev/shm";
  std::error_code ec;
  const auto space = std::filesystem::space(in_memory, ec);
  const bool has_room = !ec && space.available >= needed && ::access(in_memory.c_str(), W_OK) == 0;
  return has_room && !options.flushes ? in_memory : "/tmp";
}

}  // namespace

bool mariadb_server::installed() {
  return is_installed("mariadbd") && is_installed("mariadb-install-db");
}

mariadb_server::mariadb_server(const mariadb_options& options)
    : options_(options), folder_(folder_for_data(options)) {
  if (!options_.tls.empty()) certificates_.emplace(folder_);
  if (options_.clock_shim) clock_.emplace(folder_.file("clock"));
  std::filesystem::copy(mariadb_template(), data(), std::filesystem::copy_options::recursive);
  for (int i = 0; i < mariadb_ports_tried && !link_; ++i) {
    port_ = free_port();
    start();
  }
  if (!link_) throw std::runtime_error("mariadbd does not come up: " + log());
  create_users();
}

mariadb_server::~mariadb_server() = default;

std::string mariadb_server::data() const {
  return options_.data_folder.empty() ? folder_.file("data") : options_.data_folder + "/data";
}

void mariadb_server::write_config() const {
  std::string text = "[mariadbd]\nuser=" + std::to_string(::geteuid()) + "\ndatadir=" + data() +
                     "\nsocket=" + socket_path() + "\npid-file=" + folder_.file("pid") +
                     "\ntmpdir=" + folder_.path().string() +
                     "\nbind-address=127.0.0.1\nport=" + std::to_string(port_) +
                     "\nserver-id=" + std::to_string(options_.server_id) +
                     "\nskip-name-resolve\nperformance-schema=0\ninnodb-buffer-pool-size=16M\n"
                     "innodb-buffer-pool-load-at-startup=0\ninnodb-use-native-aio=0\n"
                     "innodb-buffer-pool-dump-at-shutdown=0\ninnodb-fast-shutdown=1\n"
                     "character-set-server=utf8mb4\n" +
                     mariadb_template_config;
  if (!options_.flushes) text += "innodb-flush-method=nosync\n";
  if (options_.replication)
    text += "log-bin=bin\nlog-slave-updates=1\nrelay-log=relay\nslave-net-timeout=5\n";
  if (certificates_)
    text += "ssl-cert=" + certificates_->certificate(options_.tls) +
            "\nssl-key=" + certificates_->key(options_.tls) +
            "\nssl-ca=" + certificates_->certificate("ca") + '\n';
  for (const std::string& line : options_.config) text += line + '\n';
  folder_.write("my.cnf", text);
}

// Not replicated: each server has its own.
void mariadb_server::create_users() {
  query("SET sql_log_bin=0");
  query("DELETE FROM mysql.global_priv WHERE User='root' AND Host<>'localhost'");
  query("FLUSH PRIVILEGES");
  query(std::string("CREATE DATABASE ") + database + " CHARACTER SET utf8mb4");
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    const std::string account = std::string(user) + "@'" + host + '\'';
    query("CREATE USER " + account + " IDENTIFIED BY '" + password + '\'');
    query(std::string("GRANT ALL PRIVILEGES ON ") + database + ".* TO " + account);
  }
  if (options_.replication) {
    query("CREATE USER replica@'127.0.0.1' IDENTIFIED BY 'replica'");
    query("GRANT REPLICATION SLAVE ON *.* TO replica@'127.0.0.1'");
  }
  query("SET sql_log_bin=1");
  query(std::string("USE ") + database);
}

// Answers, or has ended: the port was taken, or a line of the configuration is wrong.
bool mariadb_server::comes_up() {
  const auto answers = [&] {
    try {
      connect();
      return true;
    } catch (const sql_error&) {
      return false;
    }
  };
  return program_->comes_up(answers, mariadb_start_bound);
}

void mariadb_server::start() {
  link_.reset();
  write_config();
  started_ = std::chrono::system_clock::now();
  program_terms terms{{"mariadbd", "--defaults-file=" + folder_.file("my.cnf")},
                      {},
                      folder_.file("log")};
  if (clock_) terms.environment = clock_->environment();
  if (!options_.time_zone.empty()) terms.environment.emplace_back("TZ", options_.time_zone);
  program_.emplace(terms);
  if (!comes_up()) program_.reset();
}

void mariadb_server::kill_hard() {
  link_.reset();
  program_->kill();
}

void mariadb_server::shut_down() {
  link_.reset();
  program_->signal(SIGTERM);
  if (program_->wait(mariadb_end_bound) < 0)
    throw std::runtime_error("mariadbd does not shut down: " + log());
}

void mariadb_server::restart() {
  kill_hard();
  while (second_of(std::chrono::system_clock::now()) <=
         second_of(started_) + std::chrono::seconds{1})
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  start();
  if (!link_) throw std::runtime_error("mariadbd does not come up again: " + log());
}

void mariadb_server::wait_for(const std::function<bool()>& is_so, const std::string& what) {
  if (!eventually(is_so, mariadb_wait_bound))
    throw std::runtime_error("half a minute was not enough: " + what);
}

void mariadb_server::replicate(mariadb_server& primary) {
  query("SET GLOBAL read_only=1");
  query("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=" + std::to_string(primary.port()) +
        ", MASTER_USER='replica', MASTER_PASSWORD='replica', MASTER_CONNECT_RETRY=1,"
        " MASTER_USE_GTID=slave_pos");
  query("START SLAVE");
  wait_for(
      [&] {
        const sql_result status = query("SHOW SLAVE STATUS");
        return status.of("Slave_IO_Running") == "Yes" && status.of("Slave_SQL_Running") == "Yes";
      },
      "a replica connects to its primary");
}

void mariadb_server::catch_up_with(mariadb_server& primary) {
  const std::string position = primary.variable("global.gtid_binlog_pos");
  const std::string bound = std::to_string(mariadb_wait_bound.count());
  if (query("SELECT MASTER_GTID_WAIT('" + position + "', " + bound + ")").text() != "0")
    throw std::runtime_error("a replica does not catch up: " + log());
}

void mariadb_server::promote() {
  query("STOP SLAVE");
  query("RESET SLAVE ALL");
  query("SET GLOBAL read_only=0");
}

std::string mariadb_server::url() const {
  return std::string("mysql://") + user + ':' + password + "@127.0.0.1:" + std::to_string(port_) +
         '/' + database;
}

sql_login mariadb_server::login() const {
  return {.port = port_, .user = user, .password = password, .database = database};
}

mariadb_link mariadb_server::link() const { return mariadb_link(login()); }

mariadb_link mariadb_server::root() const {
  return mariadb_link({.socket = socket_path(), .user = "root", .database = database});
}

void mariadb_server::connect() {
  link_.emplace(sql_login{.socket = socket_path(), .user = "root"});
  link_->error_of(std::string("USE ") + database);  // which the first start has yet to create
}

sql_result mariadb_server::query(const std::string& statement) {
  if (!link_) throw sql_error(0, "the server was ended: " + statement);
  try {
    return link_->query(statement);
  } catch (const sql_error& e) {
    if (e.code != sql_server_gone) throw;
  }
  connect();  // the server had closed the connection, and has executed nothing
  return link_->query(statement);
}

std::string mariadb_server::status(const std::string& name) {
  return query("SHOW GLOBAL STATUS LIKE '" + name + '\'').of("Value");
}

void mariadb_server::wait_until(const std::string& statement, const std::string& text) {
  wait_for([&] { return query(statement).text() == text; }, statement + " = " + text);
}

// INNODB_TRX is a copy that the server renews only when it was not read for 0.1 s.
std::string mariadb_server::transaction_of(unsigned long connection_id, const std::string& column) {
  std::this_thread::sleep_for(copy_renewal);
  return query("SELECT " + column +
               " FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id=" +
               std::to_string(connection_id))
      .text();
}

void mariadb_server::wait_until_row_wait(unsigned long connection_id) {
  wait_for([&] { return transaction_of(connection_id, "trx_state") == "LOCK WAIT"; },
           "a statement waits for a row");
}

long long mariadb_server::rows_locked_by(unsigned long connection_id) {
  const std::string rows = transaction_of(connection_id, "trx_rows_locked");
  return rows.empty() ? 0 : std::stoll(rows);
}

void mariadb_server::wait_until_named_wait(unsigned long connection_id) {
  wait_until("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID=" +
                 std::to_string(connection_id),
             "User lock");
}

void mariadb_server::wait_until_gone(unsigned long connection_id) {
  wait_until("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID=" +
                 std::to_string(connection_id),
             "0");
}

void mariadb_server::kill_connection(unsigned long connection_id) {
  const std::string statement = "KILL " + std::to_string(connection_id);
  wait_for([&] { return link_->error_of(statement) == sql_unknown_thread; }, statement);
}

}  // namespace holdfast::testkit
