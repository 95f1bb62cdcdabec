// One claim on a lock whose store keeps no queue: it tries, and while another owner has the lock it
// tries again, after a pause or when a message says that the lock may be free.
// Pure, as claim/recipe.hpp says: (state, event, now) -> effects.
//
// Source: RedissonLock.lock() of Redisson (try, subscribe, try, wait for a message or for the end
// of the holder's lease). Without a channel: exponential back-off with jitter (Metcalfe and Boggs,
// "Ethernet: Distributed Packet Switching for Local Computer Networks", CACM 19(7), 1976).
//
//   state       | event                       | next        | effects
//   ------------+-----------------------------+-------------+--------------------------------------
//   idle        | acquire                     | trying      | new owner, send try_lock
//               | acquire, just after it told | waiting     | new owner, sleep: a few ms, in which
//               | other clients               |             | they can get the lock
//               | acquire, after it used the  | waiting     | new owner, sleep for as long as it
//               | lock without a pause, where |             | used the lock, or longer
//               | peers poll                  |             |
//               | acquire, after it used the  | subscribing | new owner, send subscribe: behind
//               | lock without a pause, where |             | those that wait
//               | the channel is a queue      |             |
//   trying,     | next_step                   | same        | send the same: its next command
//   resolving,  |                             |             |
//   releasing,  |                             |             |
//   withdrawing |                             |             |
//   trying      | granted                     | held        | granted: its send + ttl - drift
//               | busy, one attempt           | idle        | refused (timed out)
//               | busy, a message came since  | trying      | send try_lock: busy may be older
//               | busy, has no subscription   | subscribing | send subscribe
//               | busy                        | waiting     | sleep
//               | failed                      | idle        | refused; orphan, if it may be ours
//               | not now                     | trying      | send it again, later each time
//               | cut                         | resolving   | send resolve
//   resolving   | granted                     | held        | granted: the resolve's send + ...
//               | busy, failed, not now, cut  |             | as trying. But a read that finds
//               |                             |             | another owner, or none: send
//               |                             |             | try_lock; under a new owner, if an
//               |                             |             | older request may arrive
//   subscribing | subscribed, message         | trying      | send try_lock: it may be free since
//               | wake, after an op-timeout   | trying      | send try_lock: polls meanwhile
//               | failed, before any try      | trying      | send try_lock
//               | failed, cut                 | waiting     | sleep: polls
//   waiting     | message, subscribed, wake   | trying      | send try_lock
//               | subscription lost           | waiting     | sleep: polls
//   held        | renew                       | held        | send renew
//               | done                        | held        | extended: its send + ttl - drift
//               | not owner                   | lost        | lost; orphan, if a place in a queue
//               |                             |             | may be left: a copy of the queue
//               |                             |             | from before its grant may have it
//               | downgrade                   | held        | send downgrade; again until done
//               | release                     | releasing   | send release
//   lost        | release                     | idle        | ended (not held); orphan, if an
//               |                             |             | older request may arrive
//   trying,     | cancel                      | withdrawing | send withdraw: compares the owner
//   resolving   |                             |             |
//   subscribing,| cancel                      | idle, or    | ended; as trying, if the lock or a
//   waiting     |                             | withdrawing | place in a queue may be ours
//   releasing,  | done, not owner             | idle        | ended; orphan, if an older request
//   withdrawing |                             |             | may arrive
//               | not now, failed, cut        | same        | send it again, later each time
//   an attempt, | wake, after an op-timeout   | idle        | refused (unavailable), or ended
//   releasing,  |                             |             | (outcome unknown); orphan
//   withdrawing |                             |             |
//
//   fact          | is set by                 | is cleared by             | while it is set
//   --------------+---------------------------+---------------------------+---------------------
//   is_subscribed | subscribed                | subscription lost, the    | it waits for a
//                 |                           | next acquire              | message or a nap
//   message_early | a message, while a reply  | the next request          | busy: send try_lock
//                 | is awaited                |                           |
//   polls         | subscribing failed, or is | the next acquire          | it does not
//                 | overdue                   |                           | subscribe again
//   is_untried    | acquire that subscribes   | busy; subscribing failed  | subscribing failed:
//                 | first                     |                           | send try_lock
//   may_be_ours   | cut                       | a reply after which no    | what it gives up is
//                 |                           | older request may arrive  | an orphan
//
// Sleeping, it wakes by the end of the holder's lease where the reply shows that, and at the latest
// after a nap (with a channel) or the back-off (without); within the heartbeat of a store that
// forgets a waiter which does not ask. A waiter is never overdue: it waits through an outage.
#pragma once
#include <holdfast/error.hpp>

#include <cstdint>

#include "claim/recipes/lease_recipe.hpp"

namespace holdfast::claims {

enum class retrying_operation : unsigned char {
  none,
  try_lock,
  resolve,    // what became of an attempt that was never answered
  subscribe,  // to the lock's channel; answered by `subscribed`
  renew,
  downgrade,
  release,
  withdraw,  // a release by a claim that does not know whether it has the lock
};

struct retrying_reply {
  enum class verdict : unsigned char {
    granted,     // try_lock, resolve: it is ours
    busy,        // another's; resolve that reads the owner: not ours
    next_step,   // try_lock, resolve, release, withdraw: there is another command to send
    subscribed,  // subscribe
    done,        // renew, downgrade, release, withdraw
    not_owner,   // the same: another's, or nobody's
    failed,      // refused by the server; see `why`
    not_now,     // not executed, and to be sent again: the server is loading, or runs a long script
    start_over,  // try_lock: to be tried again from its first step, later
  };
  retrying_operation to = retrying_operation::none;
  verdict what = verdict::failed;
  bool final = true;             // no older request of this claim can arrive any more
  bool left = false;             // failed: something of this claim may be at the server
  bool notified_others = false;  // release: a waiter of another client got a message
  bool peers_poll = false;  // release: a client without a subscription has polled since the last
  errc why{};               // failed; not_owner: as claim_sink::on_lost() reports it
  std::uint32_t epoch = 0;
  std::uint32_t ticket = 0;         // of a renewal
  std::int64_t number = 0;          // granted; 0: the layout has none
  duration ttl{};                   // that was asked for
  duration rest = duration::max();  // busy: of the holder's lease; max(): not known
  time_point sent{};
};

enum class retrying_state : unsigned char {
  idle,
  trying,
  resolving,
  subscribing,
  waiting,
  held,
  lost,
  releasing,
  withdrawing,
};

class retrying_recipe : public lease_recipe<retrying_state, retrying_operation> {
 public:
  using reply = retrying_reply;
  struct rules {                  // of a layout, constant; outlives its recipes
    bool has_channel = false;     // else it polls
    bool keeps_messages = false;  // one that comes before the subscription is not lost
    // Subscribers get their messages in the order of their subscriptions, one for each release. A
    // claim that used the lock for queue_after without a pause subscribes before it tries, rather
    // than overtake waiters.
    bool channel_is_queue = false;
    duration queue_after{};
    bool has_queue = false;          // a busy claim may have left a place in a queue
    bool try_is_idempotent = false;  // granted to its own owner again: then resolve is a try_lock
    bool withdraws_always = false;   // also what was not granted: for study, it harms others
    duration back_off_min = std::chrono::milliseconds{5};  // between polls: doubled each time
    duration back_off_max = std::chrono::milliseconds{250};
    duration nap_max = std::chrono::seconds{30};  // with a channel: a message may get lost
    // Peers that poll are seen by nobody: a claim that used the lock for so long without a pause
    // leaves it free for as long, and for four times as long where it found the lock busy lately;
    // at most for share_max. Where the channel is a queue, only peers without a subscription poll,
    // and replies report them.
    duration share_after = duration::max();
    duration share_max{};
    duration queue_heartbeat = duration::max();  // a waiter asks again at least so often
  };

  explicit retrying_recipe(const rules& r) noexcept : rules_(&r) {}

  step acquire(const seam::acquire_request&, time_point, const timing&) noexcept;
  step cancel(time_point, const timing&) noexcept;
  step downgrade(time_point, const timing&) noexcept;
  step release(time_point, const timing&) noexcept;
  step on(const reply&, time_point, const timing&) noexcept;
  step on_message(time_point, const timing&) noexcept;  // the lock may be free
  step on_subscribed(time_point, const timing&) noexcept;
  step on_unsubscribed(time_point) noexcept;  // messages get lost: polls meanwhile
  // The request of that epoch will not be answered.
  step on_cut(std::uint32_t epoch, time_point, const timing&) noexcept;
  step on_wake(time_point, const timing&) noexcept;
  step give_up(errc) noexcept;

  time_point waits_since() const noexcept { return waits_since_; }  // a waiter: its acquire
  std::uint8_t step_of_attempt() const noexcept { return step_; }
  bool wants_messages() const noexcept { return is_acquiring(); }
  bool polls() const noexcept { return polls_ && is_waiter(); }  // it could not subscribe

 private:
  using verdict = reply::verdict;
  operation question() const noexcept;
  step ask(state, time_point, const timing&) noexcept;
  duration used(time_point) noexcept;
  duration share(time_point) noexcept;
  bool joins_queue(time_point) noexcept;
  step wait(duration remaining, time_point) noexcept;
  step take_next_step() noexcept;
  step leave_queue(step) const noexcept;
  step on_try_reply(const reply&, time_point, const timing&) noexcept;
  step on_busy(const reply&, time_point, const timing&) noexcept;
  step on_not_ours(const reply&, time_point, const timing&) noexcept;
  step on_subscribe_reply(const reply&, time_point, const timing&) noexcept;
  step on_leave_reply(const reply&, time_point, const timing&) noexcept;

  const rules* rules_;
  time_point waits_since_{};
  time_point yields_until_{};  // its release told other clients
  time_point in_use_since_{};  // without a pause
  time_point released_at_{};
  std::uint8_t busy_count_ = 0;  // of this wait
  std::uint8_t peers_seen_ = 0;  // as many of its pauses are longer
  std::uint8_t step_ = 0;        // of an attempt, a release or a withdrawal of several commands
  bool is_subscribed_ = false;
  bool message_early_ = false;  // it came while the reply to a try was awaited
  bool polls_ = false;          // it cannot subscribe
  bool is_untried_ = false;     // it subscribes before its first try
  bool may_be_ours_ = false;    // an attempt was never answered; held: it may still arrive
};

static_assert(recipe<retrying_recipe>);

}  // namespace holdfast::claims
