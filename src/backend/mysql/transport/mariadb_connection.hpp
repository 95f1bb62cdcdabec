// A connection by libmariadb's non-blocking calls.
//
//   state      | event                     | next    | effects
//   -----------+---------------------------+---------+------------------------------------------
//   connecting | connected                 | opening | its socket is watched
//              | failed                    | ended   | on_closed
//   opening    | watched                   | idle    | on_open
//   idle       | execute                   | running | the statement is sent
//              | the socket is readable    | ended   | on_closed: the server has closed it
//   running    | the reply is complete     | idle    | on_reply
//              | the connection is lost    | ended   | on_closed
//   any        | close                     | ended   | on_closed; a statement that runs is cut
//
// A connection executes one text at a time. Statements that wait for a connection may be sent
// together (transport_sharing.cpp).
#pragma once
#include <memory>
#include <string>

#include "backend/mysql/transport/execution.hpp"
#include "backend/mysql/transport/mariadb_connector.hpp"
#include "io/reactor/attached_library.hpp"

namespace holdfast::mysql {

class mariadb_connection final : public sql_connection, private io::library_user {
 public:
  mariadb_connection(io::client_reactor&, connection_events&, base::driven_by,
                     std::shared_ptr<connecting>);
  ~mariadb_connection() override;

  // sql_connection
  void execute(sql_statement) override;
  void close() override;
  std::uint64_t id() const noexcept override { return id_; }

  void on_connected();  // with the mutex: the attempt has ended

 private:
  enum class state : unsigned char { connecting, opening, idle, running, ended };
  enum class action : unsigned char { none, watch, start, go_on, note_end, close };

  // io::library_user
  bool decide(base::readiness, time_point now) override;
  void perform() noexcept override;
  void report(time_point now, event_queue&) override;

  void watch() noexcept;
  void note_end() noexcept;
  void advance(int wait) noexcept;
  void end(failure why) noexcept;
  void close_handle() noexcept;

  io::client_reactor& reactor_;
  connection_events& events_;
  io::attached_library library_;
  std::shared_ptr<connecting> attempt_;  // while it connects

  // With the mutex; what perform() reads is set before and read after it.
  state state_ = state::connecting;
  action action_ = action::none;
  bool closes_ = false;
  sql_statement next_;  // to be executed, until perform() takes it; empty: none
  std::uint64_t id_ = 0;
  base::readiness ready_ = base::readiness::none;

  // Of perform().
  MYSQL* handle_ = nullptr;
  execution execution_;
  bool is_answered_ = false;
  failure why_;  // it has ended; code {}: it has not
};

}  // namespace holdfast::mysql
