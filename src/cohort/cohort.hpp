// The threads of one client that want the same lock: at most one claim of theirs waits at the
// backend, one grant is held, and it is passed round. (Lock cohorting: Dice, Marathe, Shavit, "Lock
// Cohorting: A General Technique for Designing NUMA Locks", PPoPP 2012.)
//
// A passive state machine: every member is called with the slot's lock held and does no I/O, reads
// no clock and calls nobody. What is to be done is left in three lists that the slot empties: verbs
// to say (todo), calls to complete (answered), notices to give (notices).
//
//   asking | held      | inside  | event                    | then
//   -------+-----------+---------+--------------------------+------------------------------------
//   no     | no        | -       | enter                    | acquire, as the first in line wants
//   yes    | no        | -       | granted                  | those first in line who may hold it
//          |           |         |                          | together get a turn: one, or readers
//   yes    | no        | -       | refused                  | all that wait are told; one-attempt
//          |           |         |                          | callers alone when it was only busy,
//          |           |         |                          | or when one attempt met an outage
//   yes    | no        | -       | the last waiter leaves   | cancel
//   no     | yes       | readers | a reader enters, nobody  | gets a turn, unless somebody else
//          |           |         | in line                  | waits: then the door is shut
//   no     | yes       | some    | leave, others inside     | nothing
//   no     | yes       | none    | leave, nobody in line    | release, or linger
//   no     | yes       | none    | leave, budget spent and  | release, and the next claim asks in
//          |           |         | somebody else waits, or  | the same write
//          |           |         | a share and a writer     |
//   no     | yes       | none    | leave, else              | next in line gets a turn, after a
//          |           |         |                          | renewal when the grant is too short
//   no     | yes       | some    | the deadline, or lost    | they are lost and stay inside
//   no     | lost      | none    | leave                    | release, and ask anew
//   no     | lingering | none    | enter                    | as after leave; else its time is up,
//          |           |         |                          | or somebody else waits: release
//
// Of a semaphore each holder has a grant of its own, and one claim asks while others hold. A grant
// is one conversation with the store; an exclusive one may be shared by readers of this process.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/intrusive_queue.hpp"
#include "cohort/claim_record.hpp"
#include "cohort/counters.hpp"
#include "cohort/turn.hpp"
#include "cohort/waiter.hpp"
#include "seam/backend.hpp"
#include "seam/client_options.hpp"

namespace holdfast::core {

inline constexpr std::int64_t turns_per_grant = 1024;  // a token is number * 1024 + turn
inline constexpr duration polled_every = std::chrono::milliseconds{1};  // while it lingers

struct lock_rules {  // of a client, for all its cohorts
  client_options options;
  capabilities can;
  backend* store = nullptr;
  environment* env = nullptr;
  counters* counts = nullptr;  // null: nothing is counted
  std::uint32_t phase = 0;     // drawn once, so that clients do not renew all at the same time
};

class cohort {
 public:
  cohort(detail::local_lock& home, const lock_rules& rules) noexcept
      : rules_(rules), first_record_(home) {}

  // Callers. The clock matters to enter() only when there is a turn already, or a bound.
  void enter(waiter&, time_point now);
  // Whose turn hangs on an answer of the store, or on a grant by push: the first in line while a
  // claim asks. All others wait for threads of this client. Null: nobody's.
  waiter* awaits_store() const noexcept { return requesting_ ? first_ : nullptr; }
  bool is_idle() const noexcept { return !requesting_ && !held_ && !first_; }
  void withdraw(waiter&, errc why, time_point now);  // does nothing when it has been answered
  // Answers whoever has a bound; the others go on waiting.
  void refuse_timed_waits(const failure&, time_point now);
  void leave(detail::turn&, confirmation* report, time_point now);  // ends the turn
  void extend(detail::turn&, duration ttl, confirmation&, time_point now);
  failure downgrade(detail::turn&, time_point now);
  void watch(detail::turn&, loss_watch&);
  void end_watch(loss_watch&);  // does nothing when it has been answered
  void close();                 // every wait ends, every lease is lost; claims are given back

  // Whether leave() reads the clock; whether the store is to be asked first if others wait.
  bool needs_clock(const detail::turn& t) const noexcept {
    const bool polls = t.is_share && rules_.can.wanted == wanted_by::poll;
    return first_ || polls || rules_.options.linger > duration::zero() || rules_.counts;
  }
  bool should_poll(const detail::turn&, time_point now) const noexcept;
  void polled(claim_record&, bool others_wait, time_point now);
  // A lingering grant of a store that tells of nobody who waits: to be polled, else null.
  claim_record* lingering_unseen() const noexcept;

  // The backend, through a conversation.
  void on_granted(claim_record&, const grant&);
  void on_refused(claim_record&, const failure&);
  void on_extended(claim_record&, time_point deadline, std::uint32_t ticket, time_point now);
  void on_lost(claim_record&, std::error_code why);
  void on_wanted(claim_record&);
  void on_ended(claim_record&, const failure&);

  // Time. tick() does what is due; next_tick() tells when it must be called again.
  void tick(time_point now);
  time_point next_tick() const noexcept;

  claim_record* take_scheduled() noexcept;  // unlinked one by one; its `todo` says what
  completion* take_answered() noexcept;     // the whole list
  struct notices {
    std::vector<std::stop_source> sources;
    std::vector<detail::turn::fate> fates;  // for the log: `held` is a doubt
  };
  bool has_notices() const noexcept { return notices_ != nullptr; }
  std::unique_ptr<notices> take_notices() noexcept { return std::move(notices_); }  // or null
  bool busy() const noexcept { return busy_ > 0; }  // has claims that are not idle
  bool has_scheduled() const noexcept { return !scheduled_.empty(); }
  bool clock_matters() const noexcept;  // to on_granted(), where the grant has no deadline

 private:
  void answer(completion&) noexcept;  // that it went well
  void answer(completion&, failure);
  void answer(waiter&, failure);
  void end_wait(waiter&, failure, time_point now);
  failure in_vain(errc) const;
  bool is_held_here() const noexcept { return held_ && !held_->is_lost && held_->inside_first; }
  void plan_hurry(const waiter&, time_point now) noexcept;
  void hurry(time_point now);
  void answer(confirmation&, failure);
  void await(confirmation&, const claim_record& about, std::uint32_t ticket) noexcept;
  void answer_renewals(const claim_record&, std::uint32_t up_to_ticket, const failure&);
  bool answer_releases(const claim_record&, const failure&);  // false: nobody asked
  void answer_overdue(time_point now);
  void answer_watches(detail::turn&, std::error_code);
  template <class Which>
  bool answer_confirmations(const failure&, Which);
  void answer_line(const failure&, bool only_one_attempt);
  void push(waiter&) noexcept;
  void unlink(waiter&) noexcept;
  void schedule(claim_record&, claim_record::verb) noexcept;
  claim_record& idle_record();
  void idle(claim_record&) noexcept;
  void add_holder(claim_record&, detail::turn&);
  void remove_holder(claim_record&, detail::turn&) noexcept;
  void hold(claim_record&) noexcept;
  void drop_grant(claim_record&) noexcept;
  bool is_held(const claim_record&) const noexcept;

  bool is_free_for(const waiter&) const noexcept;
  bool has_room_for(const claim_record&, const waiter&) const noexcept;
  bool is_admission_closed(const claim_record&, time_point now) const noexcept;
  bool budget_is_spent(const claim_record&, time_point now) const noexcept;
  bool is_spent(const claim_record&, time_point now) const noexcept;
  claim_record* request_if_wanted() {
    return first_ && !requesting_ && !closed_ ? request_next() : nullptr;
  }
  claim_record* request_next();
  void stop_requesting();
  void release(claim_record&);
  void release_and_request(claim_record&);
  void peek_line(claim_record&) noexcept;
  bool may_linger(const claim_record&, time_point now) const noexcept;
  static time_point linger_end(const claim_record&) noexcept;
  void grant_turns(claim_record&, time_point now);
  bool start_turn(claim_record&, time_point now);
  detail::turn& new_turn();
  void lose(claim_record&, detail::turn::fate);
  void lose(detail::turn&, detail::turn::fate);
  void publish(claim_record&) noexcept;
  bool is_admitting(const claim_record&) const noexcept;
  static void close_admission(claim_record&) noexcept;
  void plan_renewal(claim_record&) noexcept;
  time_point renewal_due(const claim_record&) const noexcept;
  time_point aligned(const claim_record&, time_point) const noexcept;
  duration ttl_needed(const claim_record&, time_point now) const noexcept;
  duration worth(duration ttl) const noexcept {
    return core::worth(ttl, rules_.options.clock_skew);
  }
  void renew(claim_record&, duration ttl, time_point now);
  void shorten(claim_record&, time_point end) noexcept;
  notices& notices_of_now();
  void tell(std::stop_source&);
  void count(counters::counter) const noexcept;
  void count_turn(const claim_record&, const waiter&, detail::turn&, time_point now) const;
  void count_hold(detail::turn&, time_point now) const;
  void count_renewal(const claim_record&, std::uint32_t ticket, time_point now) const;
  void doubt(detail::turn&);
  void tick_grant(claim_record&, time_point now);
  void tick_lingering(claim_record&, time_point now);
  void tick_turn(claim_record&, detail::turn&, time_point now);
  time_point next_tick_of(const claim_record&) const noexcept;
  duration notice(const claim_record&, const detail::turn&) const noexcept;

  const lock_rules& rules_;

  waiter* first_ = nullptr;  // the line: first in, first served
  waiter* last_ = nullptr;
  confirmation* confirmations_ = nullptr;
  intrusive_queue<completion, &completion::next_answered> answered_;
  intrusive_queue<claim_record, &claim_record::next_scheduled> scheduled_;
  std::unique_ptr<notices> notices_;
  claim_record first_record_;  // the first of its list

  claim_record* requesting_ = nullptr;  // asking or withdrawing
  claim_record* held_ = nullptr;        // the grants; of a lock one at most
  std::unique_ptr<detail::turn> spare_turn_;
  time_point earliest_until_ = never;  // of the callers: never too late, perhaps too early
  time_point hurry_at_ = never;        // shortly before the first of these
  std::uint16_t busy_ = 0;
  bool closed_ = false;
};

}  // namespace holdfast::core
