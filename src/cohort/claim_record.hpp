// A cohort's record of one claim: its state, its request or grant, and the verbs that are pending;
// and the records of all its claims.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "cohort/held_grant.hpp"
#include "seam/claim.hpp"

namespace holdfast::inline v0::detail {
class local_lock;
}

namespace holdfast::cohort {
using namespace base;
using namespace seam;

//   state       | last verb     | next
//   ------------+---------------+---------------------------------------------------------------
//   idle        | -             | requesting (acquire)
//   requesting  | acquire       | held (on_granted), idle (on_refused), withdrawing (cancel)
//   withdrawing | cancel        | idle (on_ended or on_refused), held (on_granted: too late)
//   held        | renew,        | releasing (release)
//               | downgrade,    |
//               | check_waiters |
//   releasing   | release       | idle (on_ended)
//
// The cohort records verbs in `pending_verbs` under the local lock's mutex; the local lock runs
// them without it, each at most once, in the order acquire, cancel, downgrade, check_waiters, then
// renew or release. A release makes check_waiters and renew superfluous.
struct claim_record final : claim_sink {
  struct extra_arguments {  // of an acquire, rarely used
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
    check_waiters = 32,
  };

  explicit claim_record(detail::local_lock& l) noexcept : home(l) {}

  void on_granted(const seam::grant&) override;
  void on_refused(failure) override;
  void on_extended(time_point deadline, std::uint32_t ticket) override;
  void on_doubtful() override;
  void on_lost(std::error_code) override;
  void on_contended() override;
  void on_revocation_requested() override;
  void on_ended(failure) override;

  void prepare(const acquire_request&);  // for the next acquire

  detail::local_lock& home;
  std::unique_ptr<seam::claim> claim;            // opened with the first verb
  std::unique_ptr<const extra_arguments> extra;  // null: none of them is set
  // Requested, or held. The small members below use its tail padding.
  [[no_unique_address]] held_grant grant;
  unsigned char pending_verbs = 0;
  state now : 4 = state::idle;
  bool is_scheduled : 1 = false;   // in the cohort's list of records with pending verbs
  bool one_attempt : 1 = false;    // of the request
  bool has_successor : 1 = false;  // releasing: the claim that requests acquires in the same write

  claim_record* next_held = nullptr;       // the cohort's list of grants
  claim_record* next_scheduled = nullptr;  // the cohort's list of records with pending verbs
  std::unique_ptr<claim_record> other;     // the cohort's list of all its records
};

// One for a lock, several for a semaphore.
class claim_records {
 public:
  explicit claim_records(detail::local_lock& home) noexcept : first_(home) {}

  detail::local_lock& home() const noexcept { return first_.home; }
  claim_record& idle_one();  // made when there is none
  bool are_idle() const noexcept;

  // The claims that hold a grant, the latest first; for a lock at most one.
  claim_record* held() const noexcept { return held_; }
  bool is_held(const claim_record&) const noexcept;
  void add_held(claim_record&) noexcept;
  void remove_held(claim_record&) noexcept;  // it holds one

 private:
  claim_record first_;  // of the list of all records
  claim_record* held_ = nullptr;
};

}  // namespace holdfast::cohort
