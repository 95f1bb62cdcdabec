// Executes statements for several rows in one transaction, because a commit costs the server more
// than the statements. They are sent as one text, so the server does not wait for the client
// between them.
//
//   reply                           | effects
//   --------------------------------+-------------------------------------------------------------
//   all are executed and committed  | each handler gets its own reply
//   one failed                      | ROLLBACK: none was executed
//   COMMIT failed                   | ROLLBACK, and the outcome of each is unknown
//   ROLLBACK is executed            | unless the outcome is unknown, each is executed alone
//   ROLLBACK failed                 | the connection is given up; the outcome of each is unknown
//   the connection is lost          | the outcome of each is unknown
//
// After any of these but the first, no commit is shared for a while.
#pragma once
#include <list>
#include <string>
#include <vector>

#include "backend/mysql/transport/session.hpp"

namespace holdfast::mysql {

class transport;

// A statement that waits for a connection. Those with the same order are executed one after the
// other; 0: in any order. `orders`: all that count for it, where there are several.
struct queued_statement {
  statement_handler* handler = nullptr;
  sql_statement statement;
  std::size_t order = 0;
  const std::vector<std::size_t>* orders = nullptr;
};

class shared_commit final : public statement_handler {
 public:
  // Each has a row, and no two of them the same order.
  shared_commit(transport&, std::vector<queued_statement>);

  std::string text() const;
  const std::vector<std::size_t>& orders() const noexcept { return orders_; }

  std::list<shared_commit>::iterator place;

 private:
  void on_reply(const sql_reply&, const reply_context&) override;
  void on_cut(const failure&, const reply_context&) override;

  bool is_committed(const sql_reply&) const noexcept;
  bool has_begun_commit(const sql_reply&) const noexcept;
  void on_rolled_back(const sql_reply&, const reply_context&);

  transport& home_;
  std::vector<queued_statement> parts_;
  std::vector<std::size_t> orders_;
  bool rolls_back_ = false;
  failure doubt_;  // COMMIT has failed; code {}: it was not executed
};

}  // namespace holdfast::mysql
