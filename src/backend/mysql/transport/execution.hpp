// Executes the statements of one connection, one after the other, by libmariadb's non-blocking
// calls. A statement with values is parsed by the server once: at its second execution it is
// prepared, and from then on only its values are sent.
//
//   step      | call                    | next
//   ----------+-------------------------+---------------------------------------------------------
//   text      | mysql_real_query        | text_rows; no rows: next_text; nothing follows: the end
//   text_rows | mysql_store_result      | next_text; nothing follows in the text: the end
//   next_text | mysql_next_result       | as text
//   preparing | mysql_stmt_prepare      | values | text: the server does not prepare it
//   values    | mysql_stmt_execute      | rows, or the end: there are none
//             |                         | text: the server no longer has it
//   rows      | mysql_stmt_store_result | the end
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "backend/mysql/transport/libmariadb.hpp"
#include "backend/mysql/transport/sql_connection.hpp"

namespace holdfast::mysql {

class execution {
 public:
  void attach(MYSQL* handle) noexcept { handle_ = handle; }  // of an open connection
  // Each returns what the socket is to be awaited for, MYSQL_WAIT_*. 0: the reply is there.
  int start(sql_statement) noexcept;
  int go_on(int ready) noexcept;
  const sql_reply& reply() const noexcept { return reply_; }
  sql_reply take_reply() noexcept { return std::exchange(reply_, {}); }
  // Once the connection was closed, in the process that opened it.
  void drop_prepared() noexcept;

 private:
  enum class step : unsigned char { text, text_rows, next_text, preparing, values, rows, end };

  struct known_statement {
    std::string text;  // with marks
    MYSQL_STMT* prepared = nullptr;
    bool is_refused = false;
  };
  struct column {
    char text[64];
    unsigned long length;
    my_bool is_null;
  };

  step first_step();
  int begin() noexcept;
  int advance(int wait) noexcept;
  step next_step();
  step after_text();
  step after_text_rows();
  step after_result();
  step after_values();
  step fail(unsigned error, const char* text);
  step fail_prepared();
  step refuse() noexcept;
  void bind_values();
  void bind_columns();
  void read_rows();
  std::string text_of(unsigned column);

  MYSQL* handle_ = nullptr;
  step step_ = step::end;
  sql_statement statement_;
  std::string text_;  // the library reads it while it sends
  std::vector<known_statement> known_;
  known_statement* used_ = nullptr;  // one of those
  std::vector<MYSQL_BIND> binds_;
  std::vector<unsigned long> lengths_;  // of the values
  std::vector<column> columns_;
  int failed_ = 0;  // of the last call
  MYSQL_RES* result_ = nullptr;
  sql_reply reply_;
};

}  // namespace holdfast::mysql
