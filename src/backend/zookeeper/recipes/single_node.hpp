// One claim on a lock that is one ephemeral node: whoever creates it has the lock, all others watch
// it, and at its end all of them try again at once. For study.
// Pure, as claim/recipe.hpp says: (state, event, now) -> effects.
//
// Source: the simple lock of ZooKeeper's paper (Hunt and others, "ZooKeeper: Wait-free coordination
// for Internet-scale systems", 2.4), with its herd of waiters. Beyond it: a create whose reply was
// lost is found again by what it wrote, and a removal never ends another client's node.
//
//   state     | event                     | next      | effects
//   ----------+---------------------------+-----------+-----------------------------------------
//   idle      | acquire                   | creating  | new owner, send create
//   creating, | granted: it is ours       | held      | granted
//   resolving | busy, watched             | waiting   |
//             | busy, one attempt         | idle      | refused (timed_out)
//             | gone                      | creating  | send create
//             | failed                    | idle      | refused; orphan where it may be there
//             | cut                       | resolving | send find: sync and look
//   waiting   | the node changed or ended | creating  | send create
//             | cancel                    | idle      | ended
//   held      | the node changed          | held      | send find
//             | it ended, or is another's | lost      | lost (not_held)
//   any       | the session is lost       | creating, | new owner, send create; see
//             |                           | lost ...  | session_recipe.hpp
#pragma once
#include "claim/recipes/session_recipe.hpp"

namespace holdfast::zookeeper {

using base::claim_event;
using base::duration;
using base::time_point;
using claims::session_recipe;
using claims::session_reply;

enum class single_node_operation : unsigned char {
  none,
  create,  // and a look at the node, whoever created it, with a watch
  find,    // the same behind a sync, without the create: is it ours?
  remove,  // the node, if it is ours
};

enum class single_node_verdict : unsigned char {
  granted,  // create, find: the node is ours, and watched
  busy,     // create, find: it is another's, and watched
  done,     // remove
  gone,     // create, find: there is none; remove: there is none of ours
  failed,   // see `why`
};

class single_node_recipe
    : public session_recipe<session_reply<single_node_operation, single_node_verdict>> {
 public:
  step acquire(const seam::acquire_request&, time_point, const timing&) noexcept;
  step cancel(time_point, const timing&) noexcept;
  step on(const reply&, time_point, const timing&) noexcept;
  // The request for this, in that epoch, will not be answered.
  step on_cut(operation, std::uint32_t epoch, time_point, const timing&) noexcept;
  step on_node(bool has_ended, time_point, const timing&) noexcept;  // its watch fired
  static step on_attached() noexcept { return {}; }  // the watches were set again with it
  step on_session_lost(time_point, const timing&) noexcept;
  step on_wake(time_point now, const timing& t) noexcept { return on_time(now, t, is_leaving()); }

 private:
  enum class state : unsigned char { creating, resolving, waiting };

  step turn_to(state, const timing&) noexcept;
  step on_acquire_reply(const reply&, time_point, const timing&) noexcept;

  state state_ = state::creating;
};

static_assert(claims::recipe<single_node_recipe>);

}  // namespace holdfast::zookeeper
