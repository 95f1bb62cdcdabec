// A grant in one client: its deadline and renewals, the turns inside, and how long it may be kept.
//
//   use       | event                                       | next
//   ----------+---------------------------------------------+--------------------------------------
//   in_use    | the last turn leaves, no caller is queued,  | lingering, with the option linger
//             | no other client waits                       |
//   in_use    | the last turn leaves, else                  | the next turn starts, or released
//   in_use    | deadline, or on_lost                        | lost; released with no turn inside
//   lingering | a caller enters                             | in_use
//   lingering | time over, or another client waits          | released
//   lost      | the last turn leaves                        | released
//
// A grant in use has turns inside, or awaits the renewal that the next turn needs.
//
//   fact            | is set by                  | is cleared by    | while it is set
//   ----------------+----------------------------+------------------+------------------------------
//   awaits_renewal  | a turn that would start on | on_extended; the | no turn starts, renewals are
//                   | a short lease              | last waiter left | repeated
//   is_contended    | grant, on_contended, poll  | a poll           | readers are not admitted, a
//                   |                            |                  | spent budget ends the grant
//   waiters_unknown | grant                      | check_waiters()  | the store is checked before
//                   |                            |                  | the grant is kept for long
//   is_doubtful     | on_doubtful                | on_extended      | each turn that starts is
//                   |                            |                  | notified
//   is_revoked      | on_revocation_requested    | the next grant   | the budget is spent
//   was_renewed     | on_extended with a ticket  | the next grant   | the store lists the holder:
//                   |                            |                  | no early renewal is needed
#pragma once
#include <chrono>
#include <cstdint>

#include "cohort/turn.hpp"
#include "seam/claim.hpp"

namespace holdfast::cohort {
using namespace base;
using namespace seam;

class cohort_effects;
struct lock_rules;
struct waiter;

// Passive, and guarded by the local lock's mutex: it leaves notices in the cohort's effects.
class held_grant {
 public:
  enum class due : unsigned char { nothing, renewal, release, loss };

  void prepare(const acquire_request&) noexcept;  // mode, permits and ttl are those requested
  void begin(const grant&, const lock_rules&) noexcept;

  lock_mode mode() const noexcept { return mode_; }
  std::uint32_t permits() const noexcept { return permits_; }
  duration ttl() const noexcept { return ttl_; }
  std::uint32_t ticket() const noexcept { return ticket_; }
  time_point deadline() const noexcept { return deadline_; }
  bool has_deadline() const noexcept { return deadline_ != never; }
  bool has_expired(time_point now) const noexcept { return deadline_ <= now; }
  bool has_turns() const noexcept { return first_turn_ != nullptr; }
  bool lingers() const noexcept { return use_ == use::lingering; }
  bool is_lost() const noexcept { return use_ == use::lost; }
  bool awaits_renewal() const noexcept { return awaits_renewal_; }
  bool is_contended() const noexcept { return is_contended_; }
  bool is_revoked() const noexcept { return is_revoked_; }
  bool are_waiters_unknown() const noexcept { return waiters_unknown_; }
  duration provisional_left() const noexcept { return provisional_left_; }

  // Whether the request may be served by this grant, next to the turns inside.
  bool has_room_for(const acquire_request&) const noexcept;
  bool is_admission_closed(time_point now, const lock_rules&) const noexcept;
  bool is_budget_spent(time_point now, const lock_rules&) const noexcept;
  bool is_spent(time_point now, const lock_rules&) const noexcept;  // no further turn: release it
  // Whether the next turn, for this ttl, must wait until a renewal is confirmed.
  bool needs_renewal_for(duration ttl, time_point now, const lock_rules&) const noexcept;
  bool may_linger(time_point now) const noexcept;

  // Turns.
  void start(detail::turn&, const waiter&, bool is_queue_empty, time_point now, cohort_effects&);
  void remove(detail::turn&) noexcept;
  void forget_turns() noexcept;  // the client was closed
  void start_budget(time_point now, const lock_rules&) noexcept;
  void close_admission() noexcept;
  // Returns the ttl to renew with.
  duration extend(detail::turn&, duration ttl, time_point now, const lock_rules&);
  bool downgrade(detail::turn&, time_point now, const lock_rules&);  // true: in the store too

  // Keeping it without a turn.
  void linger(time_point now, const lock_rules&) noexcept;
  void poll_again(time_point now) noexcept;  // lingering
  void resume() noexcept { turn_to(use::in_use); }

  // Reports of the store.
  void set_contended(bool others_wait) noexcept { is_contended_ = others_wait; }
  void set_waiters_known() noexcept { waiters_unknown_ = false; }
  void confirm(time_point deadline, std::uint32_t ticket) noexcept;  // 0: unasked
  void record_confirmation(time_point now, cohort_effects&) const;
  void doubt(cohort_effects&);
  void revoke(cohort_effects&);
  void lose(detail::turn::fate, cohort_effects&);

  // Renewals and other timers.
  due tick(time_point now, cohort_effects&);
  // Whether the turn's deadline is so near that its holder is notified.
  bool is_notice_due(const detail::turn&, time_point now, const lock_rules&) const noexcept;
  time_point next_tick(const lock_rules&) const noexcept;
  void renew(duration ttl, time_point now, const lock_rules&);  // takes the next ticket
  // A caller waits for the reply: the renewal is repeated several times within the op-timeout.
  void repeat_for_caller(time_point now, const lock_rules&);
  void await_renewal() noexcept { awaits_renewal_ = true; }
  bool end_await() noexcept;  // true: it was awaiting one
  void plan_renewal(const lock_rules&) noexcept;
  time_point renewal_due(const lock_rules&) const noexcept;
  bool is_shortened_by(std::uint32_t ticket) const noexcept { return ticket == shortening_ticket_; }
  // The time for which the grant must last from now, for all turns that hold it.
  duration ttl_needed(time_point now) const noexcept;
  void publish() noexcept;  // passes the deadline to the turns, up to their own limits

 private:
  enum class use : unsigned char { in_use, lingering, lost };
  using short_time = std::chrono::duration<std::uint32_t, std::micro>;

  void turn_to(use next, time_point end = never) noexcept;
  bool is_provisional() const noexcept { return provisional_left_.count() > 0; }
  bool admits_readers(bool is_queue_empty, const lock_rules&) const noexcept;
  void add(detail::turn&);
  bool tick(detail::turn&, time_point now, cohort_effects&);  // true: the grant is lost with it
  time_point linger_end() const noexcept;
  void renew_at(time_point) noexcept;
  time_point aligned(time_point, const lock_rules&) const noexcept;
  void shorten(time_point end) noexcept;
  void end_extensions() noexcept;
  void end_doubt() noexcept;
  duration notice(const detail::turn&, const lock_rules&) const noexcept;

  std::int64_t number_ = 0;
  time_point deadline_ = never;
  duration ttl_{};                      // last requested, or the session's
  detail::turn* first_turn_ = nullptr;  // the turns inside, linked by turn::next_inside()
  // In use: the end of the turns' budget; never: no other caller has waited yet. Lingering: when
  // that ends.
  time_point end_of_use_ = never;
  // In use: the next renewal. Lingering: the next poll, where the store does not report waiters.
  time_point next_request_ = never;
  std::uint32_t ticket_ = 0;             // of the last renewal
  std::uint32_t shortening_ticket_ = 0;  // earlier tickets' replies extend nothing
  short_time provisional_left_{};        // of a provisional grant's window, until a renewal
  std::uint32_t permits_ = 1;
  std::uint16_t turns_ = 0;        // started
  std::uint16_t token_turns_ = 0;  // with a token of their own: a group of readers counts once
  use use_ : 2 = use::in_use;
  lock_mode mode_ : 2 = lock_mode::exclusive;
  lock_mode mode_inside_ : 2 = lock_mode::exclusive;  // of the turns inside
  bool awaits_renewal_ : 1 = false;
  bool is_contended_ : 1 = false;
  bool waiters_unknown_ : 1 = false;
  bool is_doubtful_ : 1 = false;
  bool is_revoked_ : 1 = false;
  bool was_renewed_ : 1 = false;
  bool has_note_ : 1 = false;  // of the holder
};

}  // namespace holdfast::cohort
