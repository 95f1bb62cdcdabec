// A cohort's side of one claim.
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

//   state       | said last | next
//   ------------+-----------+-------------------------------------------------------------------
//   idle        | -         | asking (acquire)
//   asking      | acquire   | held (granted), idle (refused), withdrawing (cancel)
//   withdrawing | cancel    | idle (ended), held (granted: too late to withdraw)
//   held        | renew,    | releasing (release)
//               | downgrade,|
//               | peek_line |
//   releasing   | release   | idle (ended)
//
// Verbs are noted in `todo` under the slot's lock and said by the slot without it, each once, in
// the order acquire, cancel, downgrade, peek_line, renew, release.
struct claim_record final : claim_sink {
  using short_time = std::chrono::duration<std::uint32_t, std::micro>;
  struct rare_details {  // of an acquire
    std::string note;
    lock_group group;
  };
  enum class state : unsigned char { idle, asking, withdrawing, held, releasing };
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
  void on_lost(std::error_code) override;
  void on_wanted() override;
  void on_ended(failure) override;

  detail::local_lock& home;
  std::unique_ptr<core::claim> claim;
  std::unique_ptr<const rare_details> extra;  // null: nothing of it
  duration ttl{};                             // to acquire or to renew with
  std::uint32_t ticket = 0;                   // of the last renewal to say
  std::uint32_t permits = 1;                  // of what it asks for, or holds
  lock_mode mode = lock_mode::exclusive;      // likewise
  state now = state::idle;
  unsigned char pending_verbs = 0;
  bool is_scheduled = false;
  bool one_attempt = false;

  // While it holds a grant.
  bool is_wanted = false;          // somebody else waits for it
  bool line_unseen = false;        // or may wait: asked before it is kept for long
  bool shown = false;              // it was renewed
  bool is_lost = false;            // nothing may start under it any more
  bool is_fresh = false;           // renewed for who starts now: what is left has to do
  bool waits_for_renewal = false;  // before the next turn may start
  lock_mode mode_inside = lock_mode::exclusive;  // as what those who are inside hold it
  std::uint16_t turns = 0;                       // started under it
  std::uint16_t places = 0;        // of them with a token of their own: a group of readers is one
  short_time provisional_rest{};   // of a grant handed over, until it is renewed: what is left
  std::uint32_t shortened_by = 0;  // its ticket; answers to earlier ones lengthen nothing
  std::int64_t number = 0;
  time_point deadline = never;
  time_point renew_at = never;
  // When the turns' budget of time is spent; nobody inside: when its lingering ends. Asking: when
  // it began to, if that is known.
  time_point turns_end = never;
  detail::turn* inside_first = nullptr;  // those who hold it and have not left

  claim_record* next = nullptr;  // releasing: asks in the same write. Held: the cohort's list
  claim_record* next_scheduled = nullptr;  // the slot's list of those with something to say
  std::unique_ptr<claim_record> other;     // the cohort's list of conversations

  bool is_leased() const noexcept { return deadline != never; }
  bool lingers() const noexcept {
    return now == state::held && !inside_first && !waits_for_renewal;
  }
};

}  // namespace holdfast::core
