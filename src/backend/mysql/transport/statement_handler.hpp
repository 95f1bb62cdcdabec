// Who awaits the reply to a statement.
#pragma once
#include "backend/mysql/transport/sql_connection.hpp"

namespace holdfast::mysql {

class session;

struct reply_context {
  session& on;  // idle: the handler may have it execute the next statement of a transaction
  time_point sent, now;
  // No statement of a connection that was lost can be executed any more.
  bool is_final;
  event_queue& events;
};

// Called with the client's mutex held, once per statement: by one of the three.
class statement_handler {
 public:
  // False: nothing awaits it any more. One that was not sent is dropped then.
  virtual bool is_wanted() const noexcept { return true; }
  virtual void on_reply(const sql_reply&, const reply_context&) = 0;
  // The connection was lost: the outcome is unknown.
  virtual void on_cut(const failure&, const reply_context&) = 0;
  virtual void on_dropped() noexcept {}

 protected:
  ~statement_handler() = default;
};

}  // namespace holdfast::mysql
