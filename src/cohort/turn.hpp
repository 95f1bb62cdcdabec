// One holder's time in a cohort: what a lease points to.
#pragma once
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <system_error>

#include "base/environment.hpp"

namespace holdfast::cohort {
struct claim_record;
struct loss_watch;
}
namespace holdfast::base {
struct failure;
}

namespace holdfast::inline v0::detail {

class local_lock;

// Any thread may read the atomics; everything else is guarded by the local lock's mutex.
class turn {
 public:
  enum class fate : unsigned char {
    held,
    ran_out,     // no renewal was confirmed before the deadline
    hold_ended,  // max_hold was reached
    taken,       // the store reports another owner
    forgotten,   // the store reports no owner
    closed,      // the client was closed
  };
  static bool is_loss(fate f) noexcept { return f != fate::held && f != fate::closed; }

  explicit turn(local_lock& s) noexcept : home(s) {}
  void reset() noexcept;  // to its initial state

  bool is_of_this_process() const noexcept;
  bool held() const noexcept;
  std::error_code status() const noexcept;
  // Why a turn ends, or ended, at its deadline.
  fate fate_at_deadline() const noexcept;
  // Whether a reader may join this turn: admitting, held, and with half of its ttl left.
  bool admits_readers() const noexcept;
  // Without reading the clock: its deadline may have passed.
  bool is_marked_held() const noexcept { return now.load() == fate::held; }

  // Fields that few turns need: limits of their own, tokens and neighbours.
  struct extra_fields {
    base::time_point hold_end = base::never;  // max_hold
    base::time_point own_end = base::never;   // of a share that the others' renewals do not extend
    base::duration confirmed_ttl{};           // of a turn whose extension awaits its reply
    base::time_point began{};                 // with metrics: when, and in which mode, it began
    lock_mode mode{};
    std::uint32_t permits = 1;
    cohort::loss_watch* watches = nullptr;
    // Made when their tokens are requested.
    std::stop_source doubt{std::nostopstate};
    std::stop_source loss{std::nostopstate};
    std::stop_source revocation{std::nostopstate};
    turn* before = nullptr;  // the turns that hold the same grant
    turn* after = nullptr;
  };
  extra_fields& extras() {
    if (!extras_) extras_ = std::make_unique<extra_fields>();
    return *extras_;
  }
  std::uint32_t permits() const noexcept { return extras_ ? extras_->permits : 1; }
  bool has_extras() const noexcept { return extras_ != nullptr; }
  base::time_point own_limit() const noexcept {
    return extras_ ? std::min(extras_->hold_end, extras_->own_end) : base::never;
  }
  // The inputs of its deadline.
  base::duration confirmed_ttl() const noexcept {
    const bool is_extending = extras_ && extras_->confirmed_ttl != base::duration{};
    return is_extending ? extras_->confirmed_ttl : ttl;
  }
  turn* next_inside() const noexcept { return extras_ ? extras_->after : nullptr; }

  local_lock& home;
  std::atomic<std::uint32_t> leases{1};   // reacquired leases share a turn
  std::atomic<fate> now{fate::held};      // as the cohort has marked it
  std::atomic<bool> is_admitting{false};  // a share that other readers may join
  bool renews : 1 = true;                 // by itself, else by extend() only
  bool doubted : 1 = false;               // its holder was notified since the last confirmation
  bool is_share : 1 = false;              // of a reader
  std::atomic<base::time_point> deadline{base::never};
  std::int64_t token = 0;
  base::duration ttl{};
  cohort::claim_record* of = nullptr;  // whose grant it holds; null: the client was closed

 private:
  std::unique_ptr<extra_fields> extras_;
};

// Why a lease with this turn (null: an empty lease) cannot be extended to that ttl; code {}: it
// can.
base::failure extension_fault(const turn*, std::chrono::milliseconds ttl);

}  // namespace holdfast::inline v0::detail
