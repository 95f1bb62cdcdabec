// One claim on a lock of layout `string`: what it asks, when it asks again, what it may conclude.
// Pure: (state, event, now) -> effects. No socket, no thread, no clock, no allocation.
//
// Source: the single-instance lock of redis.io's "Distributed Locks with Redis" (SET NX PX, delete
// by owner), with a number for each grant, a line, and a release that hands the lock directly to
// the first in line: docs/safety.md. Readers and holders of permits are members of what has the
// lock: they ask by `join` from the start, one attempt or not, and release as the others do.
//
//   state     | event                         | next      | effects
//   ----------+-------------------------------+-----------+---------------------------------------
//   fresh     | acquire                       | asked     | send take, under a new id
//             |                               | joining   | send join, if somebody waited last time
//   asked     | granted                       | held      | tell granted: its send + ttl - drift
//             | busy                          | joining   | send join
//             | busy, one attempt             | glancing  | send glance: it may be another kind
//             | bad number                    | asked     | give the id up; send take, a new id,
//             |                               |           | from the second time on after a pause
//             | cut (the connection is gone)  | unsure    | send resolve
//   glancing  | busy, cut                     | fresh     | tell refused
//   unsure    | granted                       | held      | tell granted: the resolve's send + ...
//             | busy                          | asked     | send take
//   joining   | granted                       | held      | tell granted
//             | busy (one attempt, a member)  | fresh     | tell refused
//             | queued, next in line          | queued    | sleep until the holder's lease is over;
//             |                               |           | a foreign one: 5..250 ms, and ask
//             | queued                        | queued    | sleep until then, or for its own ttl,
//             |                               |           | and a little for each waiter before it
//   joining,  | a push with a deadline        | held      | tell granted, handed over
//   queued    | a push without one            | joining   | send join: the lock is ours by now
//             | look                          | same      | sleep until then
//             | cut, wake, subscribed anew    | joining   | send join, with its place in line
//   held      | renew                         | held      | send renew
//             | done                          | held      | tell moved: its send + ttl - drift
//             | not owner                     | lost      | tell lost
//             | wanted                        | held      | tell wanted, once
//   asked ... | wanted: it has overtaken the  | same      | tell it with the grant
//   queued    | grant                         |           |
//             | subscribed                    | held      | send peek_line: nobody could tell it
//             | done, and somebody waits      | held      | tell wanted, once
//             | peek line                     | held      | send peek_line: a take saw no line
//             | downgrade, cut                | held      | it is a reader; send downgrade
//             | release                       | releasing | send let go, or release when somebody
//             |                               |           | waits or the server has notes
//   lost      | release                       | fresh     | tell ended (not held)
//   asked ... | cancel                        | leaving   | send leave: it follows what was sent
//   queued    |                               |           |
//   releasing | done, not owner               | fresh     | tell ended
//   leaving   | done, not owner               | fresh     | tell ended
//   releasing,| again, cut                    | same      | send it again
//   leaving   | failed                        | same      | send it again, later each time
//   any of    | not now                       | same      | send it again, later each time
//   these     |                               |           |
//   any but a | overdue                       | fresh     | tell refused, or ended (outcome
//   waiter    |                               |           | unknown); it is an orphan
//
// A waiter, who asked for more than one attempt and has not been granted the lock, is never
// overdue: it waits through an outage as it would for a holder (server_errors.hpp has the table).
//
// Every change of what the claim is about starts a new epoch; replies to questions of an earlier
// one are discarded.
#pragma once
#include <holdfast/options.hpp>

#include "backend/redis/recipes/protocol.hpp"
#include "claim/recipe.hpp"
#include "seam/client_options.hpp"

namespace holdfast::redis {

using claims::timing;
using core::claim_event;
using core::worth;
using effects = claims::effects<operation>;

class recipe {
 public:
  using operation = redis::operation;
  using reply = redis::reply;
  enum class state : unsigned char {
    fresh,
    asked,
    glancing,
    unsure,
    joining,
    queued,
    held,
    lost,
    releasing,
    leaving,
  };

  // A request of a lock_group: together with other claims, all or none; exclusive, one attempt.
  effects acquire(const core::acquire_request&, time_point now, const timing&) noexcept;
  effects cancel(time_point now, const timing&) noexcept;
  effects renew(duration ttl, time_point now, const timing&) noexcept;
  effects downgrade(time_point now, const timing&) noexcept;
  effects peek_line(time_point now, const timing&) noexcept;
  effects release(time_point now, const timing&) noexcept;
  // The lock is asked for in the same step as another claim's release.
  effects succeed(const core::acquire_request&, time_point now, const timing&) noexcept;
  effects on(const reply&, time_point now, const timing&) noexcept;
  effects on(const push&, time_point now) noexcept;  // to the claim's id
  effects on_cut(std::uint32_t epoch) noexcept;      // what was asked then is not answered any more
  effects on_subscribed(time_point now) noexcept;
  effects on_wake(time_point now, const timing&) noexcept;
  effects on_overdue() noexcept;
  // Ends at once whatever waits for an answer: refused or ended, for the reason given.
  effects give_up(errc) noexcept;

  state now_in() const noexcept { return state_; }
  bool is_idle() const noexcept { return state_ == state::fresh; }
  bool waits() const noexcept {
    return state_ != state::fresh && state_ != state::held && state_ != state::lost;
  }
  bool may_be_pushed() const noexcept {
    return state_ == state::joining || state_ == state::queued;
  }
  // It would hear that somebody waits, or what became of its downgrade.
  bool listens() const noexcept { return state_ == state::held && (!others_wait_ || downgrading_); }
  std::uint32_t epoch() const noexcept { return epoch_; }
  lock_mode how() const noexcept { return how_; }
  bool one_attempt() const noexcept { return one_attempt_; }
  duration ttl() const noexcept { return ttl_; }
  std::int64_t arrival() const noexcept { return number_; }  // 0: never stood in line
  bool looks() const noexcept { return looks_; }             // it asks because its time has come
  // Makes one attempt, which is not answered yet.
  bool is_attempt() const noexcept {
    return one_attempt_ && waits() && state_ != state::releasing && state_ != state::leaving;
  }
  // Waits for the lock for as long as it takes.
  bool is_waiter() const noexcept {
    return !one_attempt_ && (state_ == state::asked || state_ == state::unsure ||
                             state_ == state::joining || state_ == state::queued);
  }
  // When it gives up what it asked, unless it is answered by then; never: it does not give up.
  time_point due(const timing&) const noexcept;
  // When to ask for the last time before that, rather than a pause after it.
  time_point last_try(const timing&) const noexcept;
  time_point waits_since() const noexcept { return waits_since_; }  // a waiter: its acquire
  bool others_wait() const noexcept { return others_wait_; }
  std::int64_t number() const noexcept { return number_; }  // of the last grant
  // With the deadline of the last renewal.
  core::grant granted() const noexcept {
    return {.number = number_,
            .deadline = deadline_,
            .seen = asked_since_,
            .others_wait = others_wait_,
            .provisional = handed_,
            .line_unseen = line_unseen_};
  }

 private:
  using verdict = reply::verdict;
  effects ask(state, operation, time_point now) noexcept;
  static effects send(operation) noexcept;
  effects look_at_line() noexcept;
  effects leave(state, operation, time_point now) noexcept;
  effects first_question(time_point now) noexcept;
  effects on_ask_reply(const reply&, time_point now, const timing&) noexcept;
  effects on_busy(const reply&, time_point now) noexcept;
  effects on_glance(const reply&) noexcept;
  effects on_downgrade_reply(const reply&, time_point now, const timing&) noexcept;
  effects on_line_reply(const reply&, time_point now, const timing&) noexcept;
  effects become_wanted() noexcept;
  effects on_bad_number(const reply&, time_point now, const timing&) noexcept;
  effects on_queued(const reply&, time_point now) noexcept;
  effects on_renew_reply(const reply&, time_point now, const timing&) noexcept;
  effects on_leave_reply(const reply&, time_point now, const timing&) noexcept;
  effects pause(time_point now, const timing&) noexcept;
  operation question() const noexcept;
  effects become_held(std::int64_t number, time_point deadline, bool others, bool handed,
                      time_point now) noexcept;
  effects become_fresh(claim_event, errc) noexcept;
  effects start_over(time_point now, bool clear) noexcept;

  duration ttl_{};
  std::int64_t number_ = 0;
  time_point deadline_ = core::never;
  time_point asked_since_{};  // while held: the grant arrived
  time_point waits_since_{};
  time_point look_at_ = core::never;  // a look that overtook the answer to its join
  std::uint32_t epoch_ = 0;
  std::uint8_t attempts_ = 0;  // at what is not answered yet
  state state_ = state::fresh;
  lock_mode how_ = lock_mode::exclusive;
  bool gathered_ = false;
  bool downgrading_ = false;  // not answered yet
  bool peeking_ = false;      // likewise
  bool peeks_again_ = false;  // once that is answered
  bool one_attempt_ = false;
  bool others_wait_ = false;
  bool wanted_early_ = false;  // before it heard of the grant
  bool handed_ = false;
  bool line_unseen_ = false;  // the grant did not tell whether somebody waits
  bool known_ = false;        // the server may keep notes on it
  bool looks_ = false;
  bool contended_ = false;       // somebody waited when it was released last
  bool saw_bad_number_ = false;  // since its acquire
};

}  // namespace holdfast::redis
