// The cohort's record of one claim: its state, its grant, and the verbs that are pending.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "seam/claim.hpp"

namespace holdfast::inline v0::detail {
class local_lock;
class turn;
}

namespace holdfast::core {

//   state       | last verb  | next
//   ------------+------------+------------------------------------------------------------------
//   idle        | -          | requesting (acquire)
//   requesting  | acquire    | held (on_granted), idle (on_refused), withdrawing (cancel)
//   withdrawing | cancel     | idle (on_ended or on_refused), held (on_granted: too late)
//   held        | renew,     | releasing (release)
//               | downgrade, |
//               | peek_line  |
//   releasing   | release    | idle (on_ended)
//
// The cohort records verbs in `pending_verbs` under the local lock's mutex; the local lock runs
// them without it, each at most once, in the order acquire, cancel, downgrade, peek_line, then
// renew or release. A release makes peek_line and renew superfluous.
struct claim_record final : claim_sink {
  using short_time = std::chrono::duration<std::uint32_t, std::micro>;
  struct rare_details {  // rare arguments of an acquire
    std::string note;
    lock_group group;
  };
  enum class state : unsigned char { idle, requesting, withdrawing, held, releasing };
  enum verb : unsigned char {
    acquire = 1,
    cancel = 2,
    renew = 4,
    release = 8,
    downgrade = 16,
    peek_line = 32,
  };

  explicit claim_record(detail::local_lock& s) noexcept : home(s) {}

  void on_granted(const grant&) override;
  void on_refused(failure) override;
  void on_extended(time_point deadline, std::uint32_t ticket) override;
  void on_doubtful() override;
  void on_lost(std::error_code) override;
  void on_wanted() override;
  void on_revocation_requested() override;
  void on_ended(failure) override;

  detail::local_lock& home;
  std::unique_ptr<core::claim> claim;
  std::unique_ptr<const rare_details> extra;  // null: none of them is set
  duration ttl{};                             // to acquire or to renew with; of a grant: its term
  std::uint32_t ticket = 0;                   // of the last renewal
  std::uint32_t permits = 1;                  // that the claim requests or holds
  lock_mode mode = lock_mode::exclusive;      // likewise
  state now = state::idle;
  unsigned char pending_verbs = 0;
  bool is_scheduled = false;
  bool one_attempt = false;

  // While a grant is held.
  bool is_wanted = false;        // another client waits for the lock
  bool line_unseen = false;      // one may wait unseen: peek_line before the grant is kept for long
  bool is_lost = false;          // no turn may start under it any more
  bool shown : 1 = false;        // it was renewed once
  bool is_fresh : 1 = false;     // renewed for the turn that starts now: no second renewal first
  bool is_doubtful : 1 = false;  // the store was reported out of reach since the last confirmation
  bool is_revoked : 1 = false;   // somebody asks for it back
  bool waits_for_renewal = false;                // no turn starts before the renewal is confirmed
  lock_mode mode_inside = lock_mode::exclusive;  // the mode of the turns inside
  std::uint16_t turns = 0;                       // turns started under it
  std::uint16_t places = 0;       // turns with a token of their own: a group of readers counts once
  short_time provisional_rest{};  // of a provisional grant, until its first renewal: the time left
  std::uint32_t shortened_by = 0;  // the ticket that shortened it; earlier replies extend nothing
  std::int64_t number = 0;
  time_point deadline = never;
  time_point renew_at = never;
  // Held: when the turns' time budget is spent, or, with no turn inside, when lingering ends.
  // Asking: when the request was made, if known.
  time_point turns_end = never;
  detail::turn* inside_first = nullptr;  // the turns that hold it and have not ended

  // Releasing: the claim that acquires in the same write. Held: the cohort's list.
  claim_record* next = nullptr;
  claim_record* next_scheduled = nullptr;  // the cohort's list of records with pending verbs
  std::unique_ptr<claim_record> other;     // the cohort's list of all its records

  bool has_deadline() const noexcept { return deadline != never; }
  bool lingers() const noexcept {
    return now == state::held && !inside_first && !waits_for_renewal;
  }
};

}  // namespace holdfast::core
