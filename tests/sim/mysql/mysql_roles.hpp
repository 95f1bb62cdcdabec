// Two MariaDB servers in one URL: a primary, and a replica that gets the primary's commits later.
// An operator promotes the replica, and the former primary is read-only from then on.
#pragma once
#include <deque>
#include <string>
#include <string_view>

#include "tests/sim/machine/plan.hpp"
#include "tests/sim/mysql/mysql_server.hpp"

namespace holdfast::sim {

// A connection's handle tells its server.
class mysql_roles {
 public:
  mysql_roles(world&, const played_strategy&, const mysql_server::wall_clock&);

  static std::string host_of(int server) { return "server" + std::to_string(server); }
  static int server_of(int connection) noexcept { return connection % 2; }
  bool accepts(const std::string& host) const { return down_ < 0 || host != host_of(down_); }
  int connect(peer&, const std::string& host);
  void receive(int connection, std::string_view bytes);
  void disconnect(int connection);
  bool is_connected(int connection) const;

  // Whose grants count: the primary, and until another server is promoted, the former one.
  int leading() const noexcept { return leading_; }
  mysql_server& at(int server) noexcept { return server == 0 ? first_ : second_; }
  const mysql_server& at(int server) const noexcept { return server == 0 ? first_ : second_; }

  void happen(const fault&);  // `promoted`
  void restart();             // of the server that leads
  void heal();

 private:
  model_mariadb& model(int server) noexcept { return at(server).model(); }
  void replicate(int from);
  void deliver_next();
  void step_down(const fault&);
  void take_over(const fault&);
  void become_replica();  // the former primary
  void excuse_clients(moment from, moment stays);

  world& world_;
  const played_strategy& strategy_;
  mysql_server first_, second_;
  int leading_ = 0;
  int down_ = -1;            // the server that no connection reaches; -1: none
  bool is_busy_ = false;     // a promotion goes on
  bool has_replica_ = true;  // the other one replicates
  bool stands_ = false;      // the stream to the replica
  int stream_number_ = 0;
  std::deque<sql_tables> stream_;  // the data after each commit that the replica has not got
};

}  // namespace holdfast::sim
