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
  tally* counts = nullptr;  // null: nothing is counted
  std::uint32_t phase = 0;  // drawn once, so that clients do not renew all at the same time
};

class cohort {
 public:
  cohort(detail::slot& home, const lock_rules& rules) noexcept
      : rules_(rules), conversation_(home) {}

  // Callers. The clock matters to enter() only when there is a turn already, or a bound.
  void enter(waiter&, time_point now);
  // Whose turn hangs on an answer of the store, or on a grant by push: the first in line while a
  // claim asks. All others wait for threads of this client. Null: nobody's.
  waiter* awaits_store() const noexcept { return asking_ ? first_ : nullptr; }
  bool is_idle() const noexcept { return !asking_ && !held_ && !first_; }
  void withdraw(waiter&, errc why, time_point now);  // does nothing when it has been answered
  // Answers whoever has a bound; the others go on waiting.
  void refuse_timed_waits(const failure&, time_point now);
  void leave(detail::turn&, inquiry* report, time_point now);  // ends the turn
  void extend(detail::turn&, duration ttl, inquiry&, time_point now);
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
  void polled(conversation&, bool others_wait, time_point now);
  // A lingering grant of a store that tells of nobody who waits: to be polled, else null.
  conversation* lingering_unseen() const noexcept;

  // The backend, through a conversation.
  void on_granted(conversation&, const grant&);
  void on_refused(conversation&, const failure&);
  void on_moved(conversation&, time_point deadline, std::uint32_t ticket, time_point now);
  void on_lost(conversation&, std::error_code why);
  void on_wanted(conversation&);
  void on_ended(conversation&, const failure&);

  // Time. tick() does what is due; next_tick() tells when it must be called again.
  void tick(time_point now);
  time_point next_tick() const noexcept;

  conversation* take_todo() noexcept;  // unlinked one by one; its `todo` says what
  call* take_answered() noexcept;      // the whole list
  struct notices {
    std::vector<std::stop_source> sources;
    std::vector<detail::turn::fate> fates;  // for the log: `held` is a doubt
  };
  bool has_notices() const noexcept { return notices_ != nullptr; }
  std::unique_ptr<notices> take_notices() noexcept { return std::move(notices_); }  // or null
  bool busy() const noexcept { return busy_ > 0; }  // has claims that are not idle
  bool has_todo() const noexcept { return !todo_.empty(); }
  bool clock_matters() const noexcept;  // to on_granted(), where the grant has no deadline

 private:
  void answer(call&) noexcept;  // that it went well
  void answer(call&, failure);
  void answer(waiter&, failure);
  void end_wait(waiter&, failure, time_point now);
  failure in_vain(errc) const;
  bool is_held_here() const noexcept { return held_ && !held_->is_lost && held_->inside_first; }
  void plan_hurry(const waiter&, time_point now) noexcept;
  void hurry(time_point now);
  void answer(inquiry&, failure);
  void await(inquiry&, const conversation& about, std::uint32_t ticket) noexcept;
  void answer_renewals(const conversation&, std::uint32_t up_to_ticket, const failure&);
  bool answer_releases(const conversation&, const failure&);  // false: nobody asked
  void answer_overdue(time_point now);
  void answer_watches(detail::turn&, std::error_code);
  template <class Which>
  bool answer_inquiries(const failure&, Which);
  void answer_line(const failure&, bool only_one_attempt);
  void push(waiter&) noexcept;
  void unlink(waiter&) noexcept;
  void say(conversation&, conversation::verb) noexcept;
  conversation& idle_conversation();
  void idle(conversation&) noexcept;
  void let_in(conversation&, detail::turn&);
  void let_out(conversation&, detail::turn&) noexcept;
  void hold(conversation&) noexcept;
  void let_go(conversation&) noexcept;
  bool is_held(const conversation&) const noexcept;

  bool is_free_for(const waiter&) const noexcept;
  bool has_room_for(const conversation&, const waiter&) const noexcept;
  bool is_shut(const conversation&, time_point now) const noexcept;
  bool budget_is_spent(const conversation&, time_point now) const noexcept;
  bool is_spent(const conversation&, time_point now) const noexcept;
  conversation* ask_if_wanted() { return first_ && !asking_ && !closed_ ? ask_next() : nullptr; }
  conversation* ask_next();
  void stop_asking();
  void release(conversation&);
  void release_and_ask(conversation&);
  void peek_line(conversation&) noexcept;
  bool may_linger(const conversation&, time_point now) const noexcept;
  static time_point linger_end(const conversation&) noexcept;
  void serve(conversation&, time_point now);
  bool start_turn(conversation&, time_point now);
  detail::turn& new_turn();
  void lose(conversation&, detail::turn::fate);
  void lose(detail::turn&, detail::turn::fate);
  void publish(conversation&) noexcept;
  bool is_open(const conversation&) const noexcept;
  static void shut(conversation&) noexcept;
  void plan_renewal(conversation&) noexcept;
  time_point renewal_due(const conversation&) const noexcept;
  time_point together(const conversation&, time_point) const noexcept;
  duration ttl_needed(const conversation&, time_point now) const noexcept;
  duration worth(duration ttl) const noexcept {
    return core::worth(ttl, rules_.options.clock_skew);
  }
  void renew(conversation&, duration ttl, time_point now);
  void shorten(conversation&, time_point end) noexcept;
  notices& notices_of_now();
  void tell(std::stop_source&);
  void count(tally::counter) const noexcept;
  void count_turn(const conversation&, const waiter&, detail::turn&, time_point now) const;
  void count_hold(detail::turn&, time_point now) const;
  void count_renewal(const conversation&, std::uint32_t ticket, time_point now) const;
  void doubt(detail::turn&);
  void tick_grant(conversation&, time_point now);
  void tick_lingering(conversation&, time_point now);
  void tick_turn(conversation&, detail::turn&, time_point now);
  time_point next_tick_of(const conversation&) const noexcept;
  duration notice(const conversation&, const detail::turn&) const noexcept;

  const lock_rules& rules_;

  waiter* first_ = nullptr;  // the line: first in, first served
  waiter* last_ = nullptr;
  inquiry* inquiries_ = nullptr;
  chain<call, &call::next_answered> answered_;
  chain<conversation, &conversation::next_todo> todo_;
  std::unique_ptr<notices> notices_;
  conversation conversation_;  // the first of its list

  conversation* asking_ = nullptr;  // asking or withdrawing
  conversation* held_ = nullptr;    // the grants; of a lock one at most
  std::unique_ptr<detail::turn> spare_turn_;
  time_point earliest_until_ = never;  // of the callers: never too late, perhaps too early
  time_point hurry_at_ = never;        // shortly before the first of these
  std::uint16_t busy_ = 0;
  bool closed_ = false;
};

}  // namespace holdfast::core
