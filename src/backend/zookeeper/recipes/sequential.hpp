// One claim on a lock that is a queue of ephemeral sequential nodes: it creates a node of its own,
// and while others stand before it, it watches the one that blocks it.
// Pure, as claim/recipe.hpp says: (state, event, now) -> effects.
//
// Source: the lock recipe of ZooKeeper's documentation ("ZooKeeper Recipes and Solutions", Locks),
// with a create whose reply was lost found again by its GUID as there, and three shortcuts: exists
// of the parent goes with the create and shows a claim that is alone; a claim that was next when
// it looked is granted by the end of its blocker; the own node is watched while it waits.
//
//   state       | event                         | next        | effects
//   ------------+-------------------------------+-------------+-----------------------------------
//   idle        | acquire                       | creating    | new owner, send create
//   creating    | granted: it is alone          | held        | granted
//               | created                       | listing     | send list
//               | no_parent                     | creating    | send create, with the parent
//               | failed                        | idle        | refused; orphan, if it was made
//   listing,    | granted: nobody is before it  | held        | granted
//   resolving   | behind                        | watching    | send watch
//               | behind, one attempt           | withdrawing | send remove; refused at its end
//               | gone                          | creating    | new owner, send create
//               | failed                        | idle        | refused; orphan
//   watching    | watched                       | waiting     |
//               | watched, an event came before | listing     | send list
//               | gone                          | listing     | send list
//   waiting     | the blocker has ended, it was | held        | granted
//               | the only one ahead, both are  |             |
//               | still watched                 |             |
//               | any other event               | listing     | send list
//               | attached again                | waiting     | the next event is looked at
//   held        | the own node has ended        | lost        | lost (not_held)
//               | the session's deadline moved  | held        | extended
//               | peek_line, children changed   | held        | send peek_line
//               | others are there              | held        | wanted, once
//               | the own node asks for release | held        | revocation, once
//               | after a while, unwatched      | held        | send watch_own
//               | downgrade                     | held        | send downgrade; cut: again
//               | done: it has another node     | held        | send watch_own
//               | release                       | releasing   | send remove
//   lost        | release                       | idle        | ended (not_held)
//   releasing,  | removed, gone                 | idle        | ended, or refused
//   withdrawing | failed                        | same        | send remove, later each time
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
#include <holdfast/error.hpp>

#include <cstdint>

#include "claim/recipe.hpp"

namespace holdfast::zookeeper {

using core::claim_event;
using core::duration;
using core::time_point;

enum class sequential_operation : unsigned char {
  none,
  create,     // the own node, and a look at the parent
  list,       // the nodes of the lock
  find,       // the same behind a sync: whether an unanswered create was executed
  watch,      // the blocker and the own node
  watch_own,  // the own node
  peek_line,  // are others there? And a watch for those that come
  downgrade,
  remove,  // the own node, also where its name is not known
};

struct sequential_reply {
  enum class verdict : unsigned char {
    granted,    // create, list, find: nobody is before it
    created,    // create: others are there too
    no_parent,  // create: nothing was done
    behind,     // list, find: somebody is
    watched,    // watch, watch_own, peek_line: it is there, and an event comes when it changes
    gone,       // what was asked about is not there, nor was what was to be removed
    done,       // downgrade, remove
    failed,     // for the reason that stands beside it
  };
  sequential_operation to = sequential_operation::none;
  verdict what = verdict::failed;
  bool others_wait = false;  // granted, behind, peek_line: nodes stand behind the own one
  bool is_next = false;      // behind: only the blocker is ahead
  bool is_revoked = false;   // watch, watch_own: the own node's data ask its owner to release
  errc why{};                // failed
  std::uint32_t epoch = 0;
  std::uint32_t ticket = 0;
  std::int64_t number = 0;            // of the own node, where it is there
  time_point deadline = core::never;  // of the session
  duration term{};                    // what one confirmation of it is worth
};

class sequential_recipe {
 public:
  using operation = sequential_operation;
  using reply = sequential_reply;
  using step = claims::effects<operation>;
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

  step acquire(const core::acquire_request&, time_point, const claims::timing&) noexcept;
  step cancel(time_point, const claims::timing&) noexcept;
  static step renew(duration, time_point, const claims::timing&) noexcept { return {}; }
  step downgrade(time_point, const claims::timing&) noexcept;
  step peek_line(time_point, const claims::timing&) noexcept;
  step release(time_point, const claims::timing&) noexcept;
  step on(const reply&, time_point, const claims::timing&) noexcept;
  // What was sent for this, in that epoch, is not answered any more.
  step on_cut(operation, std::uint32_t epoch, time_point, const claims::timing&) noexcept;
  // A watch on the blocker fired. `has_ended`: it was deleted, and its transaction is older than
  // that of the own node.
  step on_blocker(bool has_ended, time_point deadline, duration term, time_point,
                  const claims::timing&) noexcept;
  step on_own_node(bool has_ended, time_point, const claims::timing&) noexcept;
  step on_children() noexcept;  // a watch of peek_line() fired
  step on_attached() noexcept;  // again, with the watches set again: some may have fired meanwhile
  step on_session_lost(time_point, const claims::timing&) noexcept;
  step on_deadline(time_point) noexcept;
  step on_doubtful() noexcept;
  step on_wake(time_point, const claims::timing&) noexcept;
  step give_up(errc) noexcept;

  std::uint32_t epoch() const noexcept { return epoch_; }
  bool waits() const noexcept { return is_acquiring() || is_leaving(); }
  bool is_idle() const noexcept { return state_ == state::idle; }
  core::grant granted() const noexcept;
  bool others_wait() const noexcept { return others_wait_; }
  bool is_doubtful() const noexcept { return is_doubtful_; }

  state now_in() const noexcept { return state_; }
  bool is_waiter() const noexcept { return !one_attempt_ && is_acquiring(); }
  bool is_attempt() const noexcept { return one_attempt_ && is_acquiring(); }
  bool is_held() const noexcept { return state_ == state::held; }
  bool is_downgraded() const noexcept { return is_downgraded_; }

 private:
  using verdict = reply::verdict;
  bool is_acquiring() const noexcept {
    return state_ >= state::creating && state_ <= state::waiting;
  }
  bool is_leaving() const noexcept { return state_ >= state::releasing; }
  operation question() const noexcept;
  time_point due(const claims::timing&) const noexcept;
  step ask(state, time_point, const claims::timing&) noexcept;
  step begin(time_point, const claims::timing&) noexcept;
  step leave(state, errc refusal, time_point, const claims::timing&) noexcept;
  step become_held(const reply&, time_point) noexcept;
  step become_idle(claim_event, errc) noexcept;
  step become_lost(errc) noexcept;
  step end_leaving(errc) noexcept;
  step overdue() noexcept;
  step on_create_reply(const reply&, time_point, const claims::timing&) noexcept;
  step on_list_reply(const reply&, time_point, const claims::timing&) noexcept;
  step on_watch_reply(const reply&, time_point, const claims::timing&) noexcept;
  step on_reply_while_held(const reply&, time_point) noexcept;
  step on_remove_reply(const reply&, time_point, const claims::timing&) noexcept;

  std::int64_t number_ = 0;
  time_point deadline_ = core::never;  // of the session
  time_point asked_since_{};           // held: the grant arrived
  duration term_{};
  std::uint32_t epoch_ = 0;
  errc refusal_{};             // withdrawing: why it is refused at the end; 0: it is ended
  std::uint8_t attempts_ = 0;  // at a removal that failed or was cut
  state state_ = state::idle;
  bool one_attempt_ : 1 = false;
  bool others_wait_ : 1 = false;
  bool is_next_ : 1 = false;      // only the blocker is ahead
  bool watches_own_ : 1 = false;  // of this node, since the session was attached
  bool event_early_ : 1 = false;  // watching: it came before the answer
  bool is_revoked_ : 1 = false;   // of this attempt or grant; reported once
  bool is_doubtful_ : 1 = false;
  bool is_downgrading_ : 1 = false;
  bool is_downgraded_ : 1 = false;  // of this grant, also before the server has answered
};

static_assert(claims::recipe<sequential_recipe>);

}  // namespace holdfast::zookeeper
