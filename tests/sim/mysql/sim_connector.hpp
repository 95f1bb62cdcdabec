// Connections of a client of mysql: over the simulator's network, in place of libmariadb's.
#pragma once
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "backend/mysql/transport/endpoint.hpp"
#include "backend/mysql/transport/sql_connection.hpp"
#include "io/reactor/client_reactor.hpp"
#include "tests/sim/mysql/frames.hpp"

namespace holdfast::sim {

class sim_connection;

class sim_connector final : public mysql::sql_connector, private base::alarm_target {
 public:
  sim_connector(io::client_reactor&, const mysql::endpoint&);
  ~sim_connector() override;

  std::unique_ptr<mysql::sql_connection> connect(std::size_t server, mysql::connection_events&,
                                                 base::driven_by, base::failure& why) override;
  void stop() noexcept override { stopped_ = true; }

 private:
  friend class sim_connection;
  void on_alarm(base::time_point) override;
  void wake_by(base::time_point);

  io::client_reactor& reactor_;
  const mysql::endpoint& where_;
  const std::unique_ptr<base::alarm> alarm_;
  base::time_point alarm_at_ = base::never;
  std::list<sim_connection*> all_;
  bool stopped_ = false;
};

class sim_connection final : public mysql::sql_connection, private io::stream_user {
 public:
  sim_connection(sim_connector&, mysql::connection_events&, base::time_point due);
  ~sim_connection() override;
  bool begin(const base::address&, base::driven_by, base::failure& why);

  // mysql::sql_connection
  void execute(mysql::sql_statement) override;
  void close() override;
  std::uint64_t id() const noexcept override { return id_; }

 private:
  friend class sim_connector;
  // io::stream_user
  void on_open(base::time_point, base::event_queue&) override;
  void on_bytes(std::span<const std::byte>, base::time_point, base::event_queue&) override;
  void on_closed(base::failure, base::time_point, base::event_queue&) override;

  void on_reply(mysql::sql_reply, base::time_point, base::event_queue&);
  void leave() noexcept;

  sim_connector& home_;
  mysql::connection_events& events_;
  std::list<sim_connection*>::iterator place_;
  std::shared_ptr<io::attached_stream> stream_;
  frame_reader reader_;
  std::size_t awaited_ = 0;  // replies
  std::vector<mysql::sql_reply> earlier_;
  std::uint64_t id_ = 0;  // 0: not open yet
  base::time_point due_;  // of the server's greeting
  base::failure end_;     // that on_closed() reports soon; code {}: none
};

}  // namespace holdfast::sim
