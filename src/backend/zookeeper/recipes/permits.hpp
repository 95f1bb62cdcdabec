// One claim on permits of a semaphore that is two queues of ephemeral sequential nodes: a node in
// the queue says who may ask for permits next, and each lease is a permit.
// Pure, as claim/recipe.hpp says: (state, event, now) -> effects.
//
// Source: InterProcessSemaphoreV2 of Apache Curator, with two shortcuts. A claim that finds nobody
// in the queue makes its leases at once and looks. It holds them if, in the order of their
// sequences, they are among the first `total`: of all that hold one, the last made saw the others.
// Else it returns them and goes the long way, in the queue.
//
//   state      | event                        | next       | effects
//   -----------+------------------------------+------------+------------------------------------
//   idle       | acquire                      | taking     | new owner, send take
//              | acquire, and others waited   | joining    | new owner, send join
//              | under the last grant         |            |
//   taking     | granted                      | held       | granted
//              | full, or others are queued   | returning  | send remove
//              | that, one attempt            | leaving    | send remove; refused (timed_out)
//              | cut                          | returning  | send remove, and then take again
//   returning  | done, gone                   | joining,   | new owner, send join; or send take
//              |                              | taking     |
//              | failed                       | returning  | send remove, later each time
//              | failed: no right to it       | idle       | refused; orphan
//   joining    | first in the queue           | leasing    | send lease
//              | behind, watched              | in_queue   |
//              | gone                         | joining    | new owner, send join
//              | cut                          | joining    | send find: sync and list
//   in_queue   | the one before it has ended  | joining    | send look
//   leasing    | granted                      | held       | granted, send leave_queue
//              | full, watched                | at_head    |
//              | full, an event came before   | leasing    | send count
//              | gone                         | returning  | send remove
//              | none: no lease was made      | leasing    | send lease
//              | cut                          | leasing    | send recount: sync and list
//   at_head    | the leases changed           | leasing    | send count
//   taking ..  | no_parent                    | same       | the same again, with the parents
//              | failed                       | idle       | refused; orphan where it may be there
//              | another total is in use, or  | leaving    | send remove; refused (mismatch,
//              | the sequence is at its limit |            | exhausted)
//              | the session is lost          | taking     | new owner, send take
//   held       | a lease has ended            | lost       | lost (not_held); orphan
//              | check_waiters, or the queue  | held       | send check_waiters
//              | has changed                  |            |
//              | others are queued            | held       | wanted, once
//              | a lease asks for release     | held       | revocation, once
//              | after a while, unwatched, or | held       | send watch_own
//              | a lease has changed          |            |
//   any        |                              |            | see session_recipe.hpp
#pragma once
#include "claim/recipes/session_recipe.hpp"

namespace holdfast::zookeeper {

using base::claim_event;
using base::duration;
using base::time_point;
using claims::session_recipe;
using claims::session_reply;

enum class permit_operation : unsigned char {
  none,
  take,           // the leases, a list of all, and a look at the queue
  join,           // a node in the queue, and a list of it
  look,           // a list of the queue
  find,           // the same behind a sync: whether an unanswered join was executed
  lease,          // the leases, and a list of all
  count,          // a list of all leases
  recount,        // the same behind a sync: whether an unanswered lease was executed
  watch_own,      // the leases
  check_waiters,  // are others queued? And a watch for those that come
  leave_queue,
  remove,  // all of this claim, also where its names are not known
};

enum class permit_verdict : unsigned char {
  granted,    // take, lease, count, recount
  full,       // take: or others are queued. Else: an event comes when the leases change
  first,      // join, look, find: nobody in the queue is before it
  behind,     // somebody is, whose end brings an event
  none,       // recount: no lease of this claim was made
  no_parent,  // take, join, lease: nothing was done
  watched,    // watch_own, check_waiters
  done,       // remove
  gone,       // what was asked about is not there, nor was what was to be removed
  failed,     // see `why`
};

class permit_recipe : public session_recipe<session_reply<permit_operation, permit_verdict>> {
 public:
  step acquire(const seam::acquire_request&, time_point, const timing&) noexcept;
  step check_waiters(time_point, const timing&) noexcept { return peek(); }
  step on(const reply&, time_point, const timing&) noexcept;
  // The request for this, in that epoch, will not be answered.
  step on_cut(operation, std::uint32_t epoch, time_point, const timing&) noexcept;
  step on_blocker(const timing&) noexcept;  // the node ahead in the queue changed or ended
  step on_leases(const timing&) noexcept;   // one was made, or ended
  step on_queue() noexcept;                 // of check_waiters(): somebody came or left
  step on_own_lease(bool has_ended) noexcept;
  static step on_attached() noexcept { return {}; }  // the watches were set again with it
  step on_session_lost(time_point, const timing&) noexcept;
  step on_wake(time_point, const timing&) noexcept;

 private:
  enum class state : unsigned char { taking, returning, joining, in_queue, leasing, at_head };

  step peek() const noexcept;
  step start(state, operation, const timing&) noexcept;
  step turn_to(state, operation, const timing&) noexcept;
  step give_back(bool joins_next, const timing&) noexcept;
  step on_acquire_reply(const reply&, time_point, const timing&) noexcept;
  step on_take_reply(const reply&, time_point, const timing&) noexcept;
  step on_return_reply(const reply&, time_point, const timing&) noexcept;
  step on_line_reply(const reply&, const timing&) noexcept;
  step on_lease_reply(const reply&, time_point, const timing&) noexcept;
  step hold(const reply&, time_point) noexcept;

  state state_ = state::taking;
  bool joins_next_ : 1 = false;      // returning: it found them taken; else its take was cut
  bool leases_changed_ : 1 = false;  // leasing: an event came before the answer
  bool watches_own_ : 1 = false;     // held
};

static_assert(claims::recipe<permit_recipe>);

}  // namespace holdfast::zookeeper
