// A connection to a server that executes one statement at a time. libmariadb implements it
// (mariadb_connection.hpp); tests implement it without a server.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/mysql/transport/statement.hpp"
#include "base/event_queue.hpp"
#include "base/failure.hpp"
#include "base/network.hpp"

namespace holdfast::mysql {

using base::duration;
using base::event_queue;
using base::failure;
using base::time_point;

using sql_row = std::vector<std::optional<std::string>>;  // {}: NULL

struct sql_reply {
  unsigned error = 0;  // the server's number; 0: executed
  std::string text;    // of the error
  std::uint64_t affected = 0, insert_id = 0;
  std::vector<sql_row> rows;
  // To the earlier statements of the same text. The server stops at the first error, so an error is
  // always the last reply.
  std::vector<sql_reply> earlier;

  bool is_ok() const noexcept { return error == 0; }
  // NULL, and what is not there, are empty.
  std::string_view cell(std::size_t row, std::size_t column) const noexcept {
    if (row >= rows.size() || column >= rows[row].size() || !rows[row][column]) return {};
    return *rows[row][column];
  }
  std::int64_t number(std::size_t row, std::size_t column) const noexcept;  // 0: not a number
  bool is_null(std::size_t row, std::size_t column) const noexcept {
    return row >= rows.size() || column >= rows[row].size() || !rows[row][column];
  }
};

// Called with the client's mutex held.
class connection_events {
 public:
  virtual void on_open(time_point now, event_queue&) = 0;
  virtual void on_reply(const sql_reply&, time_point now, event_queue&) = 0;
  // The last event; the connection may be destroyed inside it. The outcome of a statement that was
  // not answered is unknown.
  virtual void on_closed(failure, time_point now, event_queue&) = 0;

 protected:
  ~connection_events() = default;
};

// All calls with the client's mutex held. An execute() or a close() is carried out by the next
// flush of the connection's loop.
class sql_connection {
 public:
  virtual ~sql_connection() = default;      // after on_closed, or once nothing is called any more
  virtual void execute(sql_statement) = 0;  // open, and the last one was answered
  // Ends it: on_closed follows. A statement that runs is cut.
  virtual void close() = 0;
  virtual std::uint64_t id() const noexcept = 0;  // by which the server knows it, once it is open
};

class sql_connector {
 public:
  virtual ~sql_connector() = default;
  // To one of the endpoint's. on_open or on_closed follows, never from inside the call. Null, with
  // the reason: no thread or no descriptor is left.
  virtual std::unique_ptr<sql_connection> connect(std::size_t server, connection_events&,
                                                  base::driven_by, failure& why) = 0;
  // Without the mutex: ends all attempts, and returns once no thread of it runs.
  virtual void stop() noexcept {}
};

}  // namespace holdfast::mysql
