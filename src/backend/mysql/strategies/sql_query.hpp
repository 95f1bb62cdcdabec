// A query of an operator: statements over the connections for commands, and one result.
#pragma once
#include <string>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"
#include "backend/mysql/transport/transport.hpp"
#include "claim/admin_query.hpp"

namespace holdfast::mysql {

// Deletes itself when it was answered. A query that no connection can take ends after an
// op-timeout, by its turn in the queue or by the loss of the connection.
template <class T>
class sql_query : public claims::admin_query<T>, private statement_handler {
 public:
  void start(sql_statement statement) {
    io::client_reactor& r = over_.reactor();  // another thread may dispatch the answer and end this
    {
      const std::lock_guard guard(over_.mutex());
      r.count(1, 0);
      over_.submit(lane::commands, std::move(statement), *this, r.env().now());
    }
    r.request_flush(true);
  }

 protected:
  sql_query(transport& t, seam::result_handler<T>& to) noexcept
      : claims::admin_query<T>(to), over_(t) {}

  // A reply without an error. True: `next` is sent, and another reply follows.
  virtual bool read(const sql_reply&, sql_statement& next) = 0;

 private:
  void on_reply(const sql_reply& r, const reply_context& c) final {
    sql_statement next;
    if (!r.is_ok()) {
      this->fail(explain(r.error, r.text));
    } else if (read(r, next)) {
      return over_.submit(lane::commands, std::move(next), *this, c.now);
    }
    finish(c.events);
  }
  void on_cut(const failure& why, const reply_context& c) final {
    this->fail({errc::unavailable, why.text});
    finish(c.events);
  }
  void finish(event_queue& events) {
    over_.reactor().count(-1, 0);
    events.post(*this, base::claim_event::ended);
  }

  transport& over_;
};

}  // namespace holdfast::mysql
