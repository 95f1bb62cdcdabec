// The bell of a lock: a named lock of the server that wakes waiters. A waiter that has the bell
// polls the row; the others wait in the server's queue for the bell. A waiter that gets the row
// keeps the bell until its release. Both are released together, over two connections, so the next
// waiter wakes while the server still writes the release of the row. The bell is a hint: only the
// row decides which claim holds the lock. A client that finds the row free needs no bell. A client
// that used the row until now, for a while or with a bell, queues for the bell before it tries
// again, so it overtakes no waiter.
//
//   state   | event                     | next    | effects
//   --------+---------------------------+---------+-----------------------------------------------
//   pinning | a connection is there     | waiting | send GET_LOCK; the claim sleeps
//           | there is none             | ended   | the claim polls
//   waiting | 1                         | had     | the claim tries, and polls from here on
//           | 0: the timeout            | waiting | send GET_LOCK
//           | NULL, an error            | ended   | the claim polls
//           | leave                     | left    | the connection is ended
//   had     | leave                     | leaving | send RELEASE_LOCK
//   leaving | the reply                 | ended   | the connection serves the next bell
//   any     | the connection is lost    | ended   | the claim polls
//
// Each has a connection of its own: a connection that waits for one named lock and has another
// could be in a deadlock with a row, which no server detects.
#pragma once
#include <list>
#include <string>

#include "backend/mysql/strategies/retrying/claim.hpp"
#include "backend/mysql/transport/transport.hpp"

namespace holdfast::mysql::row {

class strategy;

class bell final : public pin_handler, public statement_handler {
 public:
  bell(strategy& s, const retrying::claim& c);

  // Its claim sleeps until it is woken.
  bool start(time_point now);  // false: it sleeps once a connection is there
  bool is_had() const noexcept { return state_ == state::had; }
  bool has_queued() const noexcept { return has_queued_; }  // another connection had it
  void leave(time_point now);                               // the claim no longer needs it

  std::list<bell>::iterator place;

 private:
  enum class state : unsigned char { pinning, waiting, had, leaving, left };

  // pin_handler
  void on_pinned(session&, time_point now, event_queue&) override;
  void on_pin_failed(const failure&, bool is_final, time_point now, event_queue&) override;
  void on_pin_lost(const failure&, time_point now, event_queue&) override;
  // statement_handler
  void on_reply(const sql_reply&, const reply_context&) override;
  void on_cut(const failure&, const reply_context&) override;

  void wait(time_point now);
  void end(time_point now, event_queue&);
  retrying::claim* claim() const noexcept;

  strategy& home_;
  claims::claim_handle whose_;
  const std::string name_;  // of the lock
  session* on_ = nullptr;   // pinned
  state state_ = state::pinning;
  bool has_queued_ = false;
};

}  // namespace holdfast::mysql::row
