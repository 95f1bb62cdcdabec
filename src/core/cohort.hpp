// The threads of one client that want the same lock: at most one claim of theirs waits at the
// backend, one grant is held, and it is passed round. (Lock cohorting: Dice, Marathe, Shavit, "Lock
// Cohorting: A General Technique for Designing NUMA Locks", PPoPP 2012.)
//
// A passive state machine: every member is called with the slot's lock held and does no I/O, reads
// no clock and calls nobody. What is to be done is left in three lists that the slot empties: verbs
// to say (todo), calls to complete (answered), notices to give (notices).
//
//   live claim       | turn      | event                    | then
//   -----------------+-----------+--------------------------+--------------------------------------
//   none             | none      | enter                    | acquire
//   asking           | none      | granted                  | first in line gets a turn
//   asking           | none      | refused                  | all that wait are told; one-attempt
//                    |           |                          | callers alone when it was only busy
//   asking           | none      | the last waiter leaves   | cancel
//   held             | one       | leave, nobody in line    | release
//   held             | one       | leave, budget spent and  | release, and the next claim asks in
//                    |           | somebody else waits      | the same write
//   held             | one       | leave, else              | next in line gets a turn, after a
//                    |           |                          | renewal when the grant is too short
//   held             | one       | the deadline, or lost    | the turn is lost and stays occupied
//   held, turn lost  | one       | leave                    | release, and ask anew
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/chain.hpp"
#include "core/client_options.hpp"
#include "core/conversation.hpp"
#include "core/turn.hpp"
#include "core/waiter.hpp"

namespace holdfast::core {

inline constexpr std::int64_t turns_per_grant = 1024;  // a token is number * 1024 + turn

struct lock_rules {  // of a client, for all its cohorts
  client_options options;
  capabilities can;
  backend* store = nullptr;
  environment* env = nullptr;
  std::uint32_t phase = 0;  // drawn once, so that clients do not renew all at the same time
};

class cohort {
 public:
  cohort(detail::slot& home, const lock_rules& rules) noexcept : home_(home), rules_(rules) {}

  // Callers. The clock matters to enter() only when there is a turn already, or a bound.
  void enter(waiter&, time_point now);
  bool is_idle() const noexcept { return !live_ && !current_ && !first_; }
  void withdraw(waiter&, errc why);                     // does nothing when it has been answered
  bool budget_is_spent(time_point now) const noexcept;  // then others_wait decides
  bool wanted() const noexcept { return wanted_; }      // as the backend told
  void leave(detail::turn&, bool others_wait, inquiry* report, time_point now);  // ends the turn
  void extend(detail::turn&, duration ttl, inquiry&, time_point now);
  void close();  // every wait ends, every lease is lost; claims are given back

  // The backend, through a conversation.
  void on_granted(conversation&, const grant&);
  void on_refused(conversation&, failure);
  void on_moved(conversation&, time_point deadline, std::uint32_t ticket, time_point now);
  void on_lost(conversation&, time_point now);
  void on_wanted(conversation&);
  void on_ended(conversation&, failure);

  // Time. tick() does what is due; next_tick() tells when it must be called again.
  void tick(time_point now);
  time_point next_tick() const noexcept;

  conversation* take_todo() noexcept;  // unlinked one by one; its `todo` says what
  call* take_answered() noexcept;      // the whole list
  using notices = std::vector<std::stop_source>;
  std::unique_ptr<notices> take_notices() noexcept { return std::move(notices_); }  // or null
  bool busy() const noexcept { return busy_ > 0; }  // has claims that are not idle
  bool has_todo() const noexcept { return !todo_.empty(); }
  bool has_line() const noexcept { return first_ != nullptr; }
  bool has_crowd() const noexcept { return first_ != last_; }  // a line of two or more
  bool is_live(const detail::turn& t) const noexcept { return live_ && t.of == live_; }

 private:
  void answer(call&) noexcept;  // that it went well
  void answer(call&, failure);
  void await(inquiry&, const conversation& about, std::uint32_t ticket) noexcept;
  void answer_renewals(const conversation&, std::uint32_t up_to_ticket, const failure&);
  void answer_releases(const conversation&, const failure&);
  void answer_overdue(time_point now);
  template <class Which>
  void answer_inquiries(const failure&, Which);
  void answer_line(const failure&, bool only_one_attempt);
  void push(waiter&) noexcept;
  void unlink(waiter&) noexcept;
  void say(conversation&, conversation::verb) noexcept;
  conversation& idle_conversation();
  void idle(conversation&) noexcept;
  conversation* ask_if_wanted();
  void release_live();
  void release_and_ask();
  void start_turn(time_point now);
  detail::turn& new_turn();
  bool grant_is_spent(time_point now, bool others_wait) const noexcept;
  void lose(detail::turn::fate);
  void plan_renewal() noexcept;
  time_point together(time_point) const noexcept;
  void renew(duration ttl, time_point now);
  void shorten(time_point end) noexcept;
  void tell(std::stop_source&);
  void tick_grant(time_point now);
  duration notice() const noexcept;
  bool leased() const noexcept { return deadline_ != never; }

  detail::slot& home_;
  const lock_rules& rules_;

  waiter* first_ = nullptr;  // the line: first in, first served
  waiter* last_ = nullptr;
  inquiry* inquiries_ = nullptr;
  chain<call, &call::next_answered> answered_;
  chain<conversation, &conversation::next_todo> todo_;
  std::unique_ptr<notices> notices_;
  conversation conversation_{home_};  // the first of its list

  conversation* live_ = nullptr;     // asking, withdrawing or held
  detail::turn* current_ = nullptr;  // of the grant held, or lost and not yet left
  std::unique_ptr<detail::turn> spare_turn_;
  std::int64_t number_ = 0;      // of the grant
  time_point deadline_ = never;  // of the grant
  time_point renew_at_ = never;
  time_point turns_end_ = never;       // the turns' budget of time is spent: set when a line forms
  time_point earliest_until_ = never;  // of the callers: never too late, perhaps too early
  duration ttl_{};                     // the grant was last asked to run so long
  duration handed_rest_{};  // of a grant handed over, until it is renewed: what is left then
  std::uint32_t ticket_ = 0;
  std::uint32_t shortened_by_ = 0;  // its ticket; answers to earlier ones lengthen nothing
  std::uint16_t turns_ = 0;         // started under this grant
  std::uint16_t busy_ = 0;
  bool wanted_ = false;
  bool shown_ = false;  // the grant was renewed
  bool turn_waits_for_renewal_ = false;
  bool closed_ = false;
};

}  // namespace holdfast::core
