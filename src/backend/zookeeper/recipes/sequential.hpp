// One claim on a lock that is a queue of ephemeral sequential nodes: it creates a node of its own,
// and while others stand before it, it watches the nearest of them.
// Pure, as claim/recipe.hpp says: (state, event, now) -> effects.
//
// Source: the lock recipe of ZooKeeper's documentation ("ZooKeeper Recipes and Solutions", Locks),
// with a create whose reply was lost found again by its GUID as there, and these changes:
// - exists of the parent goes with the create and shows a claim that is alone; a claim that met
//   others the last time sends the list with the create instead.
// - It watches not one node ahead but a few. Where these are all, it is granted by the end of the
//   last of them, without another list.
// - One further back lists again when the farthest that it watches has ended: as a rule all that is
//   ahead is watched then, and the turns of the others hide the time this takes.
// - The own node is watched while it waits.
//
//   state       | event                         | next        | effects
//   ------------+-------------------------------+-------------+-----------------------------------
//   idle        | acquire                       | creating    | new owner, send create; here and
//               |                               |             | below join, if it met others before
//   creating    | granted: it is alone          | held        | granted
//               | created                       | listing     | send list
//               | no_parent                     | creating    | send create, with the parent
//               | failed                        | idle        | refused; orphan, if it was made
//   creating,   | failed: exhausted             | withdrawing | send remove; refused at its end
//   listing,    |                               |             |
//   resolving   |                               |             |
//   creating,   | granted: no claim is before it  | held        | granted
//   listing,    | behind                        | watching    | send watch
//   resolving   | behind, all of it is watched  | waiting     |
//               | behind, one attempt           | withdrawing | send remove; refused at its end
//               | gone                          | creating    | new owner, send create
//               | failed                        | idle        | refused; orphan
//   watching    | watched                       | waiting     |
//               | watched, nothing is left      | held        | granted
//               | watched, what is ahead is not | listing     | send list
//               | known; gone                   |             |
//   waiting     | one ahead has ended, others   | waiting     |
//               | are left                      |             |
//               | the last one has ended, the   | held        | granted
//               | own node is still watched     |             |
//               | what is ahead is not known;   | listing     | send list
//               | an event of the own node      |             |
//               | attached again                | waiting     | nothing is granted by an event
//   held        | the own node has ended        | lost        | lost (not_held); orphan
//               | the session's deadline moved  | held        | extended
//               | check_waiters, or children    | held        | send check_waiters
//               | changed                       |             |
//               | others are there              | held        | wanted, once
//               | the own node asks for release | held        | revocation, once
//               | after a while, unwatched      | held        | send watch_own
//               | downgrade: the next node is   | held        | send downgrade; cut: again;
//               | watched in the same batch,   |             | failed: send watch_own
//               | and the own one is not        |             |
//               | release                       | releasing   | send remove
//   lost        | release                       | idle        | ended (not_held)
//   releasing,  | removed, gone                 | idle        | ended, or refused
//   withdrawing | failed                        | same        | send remove, later each time
//               | failed: no right to it        | idle        | ended or refused; orphan
//   creating,   | cut                           | resolving   | send find: sync and list
//   listing,    |                               |             |
//   watching,   |                               |             |
//   resolving   |                               |             |
//   releasing,  | cut                           | same        | send remove
//   withdrawing |                               |             |
//   creating .. | cancel                        | withdrawing | send remove
//   waiting     | the session is lost           | creating    | new owner, send create
//   held        | the session is lost           | lost        | lost (timed_out)
//   releasing,  | the session is lost           | idle        | ended (outcome_unknown), or
//   withdrawing |                               |             | refused
//   an attempt, | wake, after an op-timeout     | idle        | refused (unavailable), or ended
//   releasing,  |                               |             | (outcome_unknown); orphan
//   withdrawing |                               |             |
//
// A waiter is never overdue: it waits through an outage.
#pragma once
#include "claim/recipes/session_recipe.hpp"

namespace holdfast::zookeeper {

using base::claim_event;
using base::duration;
using base::time_point;
using claims::session_recipe;
using claims::session_reply;

enum class sequential_operation : unsigned char {
  none,
  create,         // the own node, and a look at the parent
  join,           // the own node, and the nodes of the lock
  list,           // the nodes of the lock
  find,           // the same behind a sync: whether an unanswered create was executed
  watch,          // the nearest ahead that are not watched yet, and the own node
  watch_own,      // the own node
  check_waiters,  // are others there? And a watch for those that come
  downgrade,      // another node in the place of the own one, and a watch on it
  remove,         // the own node, also where its name is not known
};

enum class sequential_verdict : unsigned char {
  granted,    // create, join, list, find: no claim is before it
  created,    // create: others are there too
  no_parent,  // create, join: nothing was done
  behind,     // join, list, find: somebody is
  watched,    // watch, watch_own, check_waiters: it is there, and an event comes when it changes
  gone,       // what was asked about is not there, nor was what was to be removed
  done,       // downgrade, remove
  failed,     // see `why`
};

// The nodes ahead of a waiter, as known from its last list and the watch events since.
enum class what_is_ahead : unsigned char {
  unknown,  // only a list can tell
  watched,  // at least what is watched
  nothing,
};

struct sequential_reply : session_reply<sequential_operation, sequential_verdict> {
  bool is_watched = false;                       // behind: what is to be watched ahead is so
  what_is_ahead ahead = what_is_ahead::watched;  // watched
};

class sequential_recipe : public session_recipe<sequential_reply> {
 public:
  enum class state : unsigned char {
    idle,
    creating,
    resolving,
    listing,
    watching,
    waiting,
    held,
    lost,
    releasing,
    withdrawing,
  };

  step acquire(const seam::acquire_request&, time_point, const timing&) noexcept;
  step downgrade(time_point, const timing&) noexcept;
  step check_waiters(time_point, const timing&) noexcept;
  step on(const reply&, time_point, const timing&) noexcept;
  // The request for this, in that epoch, will not be answered.
  step on_cut(operation, std::uint32_t epoch, time_point, const timing&) noexcept;
  // A watch on a node ahead fired. This is left.
  step on_ahead(what_is_ahead, time_point deadline, duration term, time_point,
                const timing&) noexcept;
  step on_own_node(bool has_ended, time_point, const timing&) noexcept;
  step on_children() noexcept;  // a watch of check_waiters() fired
  step on_attached() noexcept;  // again, with the watches set again: some may have fired meanwhile
  step on_session_lost(time_point, const timing&) noexcept;
  step on_wake(time_point, const timing&) noexcept;

  state now_in() const noexcept;
  bool is_downgraded() const noexcept { return is_downgraded_; }

 private:
  step ask(state, time_point, const timing&) noexcept;
  step ask_again(state, const timing&) noexcept;
  step begin(time_point, const timing&) noexcept;
  step hold(const reply&, time_point) noexcept;
  step on_acquire_reply(const reply&, time_point, const timing&) noexcept;
  step on_create_reply(const reply&, time_point, const timing&) noexcept;
  step on_list_reply(const reply&, time_point, const timing&) noexcept;
  step wait_for_event() noexcept;
  step on_left(what_is_ahead, reply grant, time_point, const timing&) noexcept;
  step on_watch_reply(const reply&, time_point, const timing&) noexcept;
  step on_reply_while_held(const reply&) noexcept;

  state asks_in_ = state::creating;  // while the lock is acquired: creating .. waiting
  bool is_unbroken_ : 1 = false;     // the connection, since the list of those ahead
  bool met_others_ : 1 = false;      // when it last looked; also of an earlier attempt
  bool watches_own_ : 1 = false;     // of this node, since the session was attached
  bool is_downgrading_ : 1 = false;
  bool is_downgraded_ : 1 = false;  // of this grant, also before the server has answered
};

static_assert(claims::recipe<sequential_recipe>);

}  // namespace holdfast::zookeeper
