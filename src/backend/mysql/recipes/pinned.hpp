// One claim on a lock that the server grants to a connection and frees with it: a named lock, or
// the lock of a row. Pure, as claim/recipe.hpp says: (state, event, now) -> effects.
//
//   state      | event                        | next       | effects
//   -----------+------------------------------+------------+--------------------------------------
//   idle       | acquire                      | trying     | new owner, send try_lock
//   trying     | granted                      | held       | granted: its send + the idle timeout
//              | busy, one attempt            | idle       | refused (timed_out)
//              | busy                         | waiting    | send wait
//   waiting    | waited                       | confirming | send confirm
//              | busy                         | waiting    | send wait
//   confirming | granted                      | held       | granted: the confirm's send + ...
//              | gone                         | trying     | send try_lock
//              | not now                      | paused     | sleep
//   trying,    | absent                       | creating   | send create
//   waiting    | not now                      | paused     | sleep
//   creating   | done                         | trying     | send try_lock
//              | busy, one attempt            | idle       | refused (timed_out)
//              | busy                         | waiting    | send wait
//              | not now                      | paused     | sleep
//   paused     | wake, paused in confirming   | confirming | send confirm: the connection has it
//              | wake                         | trying     | send try_lock
//   any of     | failed                       | idle       | refused; orphan
//   these      | the connection is lost       | trying     | new owner, send try_lock: over another
//   held       | the connection is lost       | lost       | lost (timed_out)
//              | confirmed, out of reach ...  |            | see session_recipe.hpp
//
// A grant that was waited for proves nothing: a client that was stopped is granted the lock, loses
// it to the server's idle timeout, and still reads the grant. So a second statement confirms it,
// and the deadline counts from the send of that one (docs/safety.md, rule 1).
//
// A claim that stops waiting ends its connection: a statement that waits cannot be withdrawn.
#pragma once
#include "claim/recipes/session_recipe.hpp"

namespace holdfast::mysql {

enum class pinned_operation : unsigned char {
  none,
  try_lock,  // takes the lock if it is free
  wait,      // takes it when its turn comes
  confirm,   // is it still held?
  create,    // what is locked, for example a row
  remove,    // releases it, or ends the connection
};

enum class pinned_verdict : unsigned char {
  granted,  // try_lock, confirm
  waited,   // wait: it was granted at some time
  busy,     // try_lock, wait, create: another connection holds it
  absent,   // try_lock, wait: what is locked does not exist
  done,     // create, remove
  gone,     // confirm, remove: this connection does not hold it
  not_now,  // not executed, and to be sent again
  unknown,  // remove: whether the server still executes something of the connection
  failed,   // refused by the server; see `why`
};

class pinned_recipe
    : public claims::session_recipe<claims::session_reply<pinned_operation, pinned_verdict>> {
 public:
  using time_point = base::time_point;
  step acquire(const seam::acquire_request&, time_point, const timing&) noexcept;
  step on(const reply&, time_point, const timing&) noexcept;
  step on_lost(time_point, const timing&) noexcept;  // the connection
  step on_wake(time_point, const timing&) noexcept;

 private:
  enum class state : unsigned char { trying, waiting, confirming, creating, paused };

  step turn_to(state, operation, const timing&) noexcept;
  step on_acquire_reply(const reply&, time_point, const timing&) noexcept;
  step pause(time_point, const timing&) noexcept;

  state state_ = state::trying;
  bool is_unconfirmed_ = false;  // paused in confirming
};

static_assert(claims::recipe<pinned_recipe>);

}  // namespace holdfast::mysql
