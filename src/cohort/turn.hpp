// One holder's stay in a cohort: what a lease points to.
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

namespace holdfast::core {
struct claim_record;
struct failure;
struct loss_watch;
}

namespace holdfast::inline v0::detail {

class local_lock;

// The atomics are read by any thread; everything else is guarded by the slot's lock.
class turn {
 public:
  enum class fate : unsigned char {
    held,
    ran_out,     // no renewal was confirmed before the deadline
    hold_ended,  // max_hold
    taken,       // the store: somebody else has the lock
    forgotten,   // the store: nobody has it
    closed,      // with the client
  };
  static bool is_loss(fate f) noexcept { return f != fate::held && f != fate::closed; }

  explicit turn(local_lock& s) noexcept : home(s) {}
  void start_anew() noexcept;  // as freshly made

  bool is_of_this_process() const noexcept;
  bool held() const noexcept;
  std::error_code status() const noexcept;
  // What has ended, or ends, a turn at its deadline.
  fate fate_at_deadline() const noexcept;
  // Whether a reader may join its holder: it is open and held, with half of its ttl left.
  bool admits_readers() const noexcept;
  bool is_held_by_word() const noexcept { return now.load() == fate::held; }  // clock not asked

  // What few turns have: limits of their own, and neighbours.
  struct rare_details {
    core::time_point hold_end = core::never;  // max_hold
    core::time_point own_end = core::never;   // a share that the others' renewals do not extend
    core::time_point began{};                 // where holds are counted, and as what it began
    lock_mode mode{};
    std::uint32_t permits = 1;
    core::loss_watch* watches = nullptr;
    turn* before = nullptr;  // those who hold the same grant
    turn* after = nullptr;
  };
  rare_details& more() {
    if (!more_) more_ = std::make_unique<rare_details>();
    return *more_;
  }
  bool is_plain() const noexcept { return !more_; }
  core::time_point own_limit() const noexcept {
    return more_ ? std::min(more_->hold_end, more_->own_end) : core::never;
  }
  turn* next_inside() const noexcept { return more_ ? more_->after : nullptr; }

  local_lock& home;
  std::atomic<std::uint32_t> leases{1};  // reacquired leases share their turn
  std::atomic<fate> now{fate::held};
  std::atomic<bool> is_admitting{false};  // a share whose holder may let other readers in
  bool renews : 1 = true;
  bool doubted : 1 = false;
  bool is_share : 1 = false;
  std::atomic<core::time_point> deadline{core::never};
  std::int64_t token = 0;
  core::duration ttl{};
  core::claim_record* of = nullptr;
  std::stop_source doubt{std::nostopstate};  // made when somebody asks for the token
  std::stop_source loss{std::nostopstate};

 private:
  std::unique_ptr<rare_details> more_;
};

// Why a lease with this turn, or with none, cannot be extended so; code {} when nothing speaks
// against it.
core::failure extension_fault(const turn*, std::chrono::milliseconds ttl);

}  // namespace holdfast::inline v0::detail
