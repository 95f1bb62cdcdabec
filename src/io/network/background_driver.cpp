#include "io/network/background_driver.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/quiet_thread.hpp"

namespace holdfast::io {

background_driver::background_driver(leader_followers& b, engine& e, const char* thread_name)
    : leaders_(b), engine_(e) {
  leaders_.set_background(this);
  base::require_quiet_thread(thread_, thread_name, [this] { run(); });
}

background_driver::~background_driver() {
  ending_.store(true, std::memory_order_seq_cst);
  engine_.interrupt();
  wake_from(napping);
  base::end_quiet_thread(thread_);
  leaders_.set_background(nullptr);
}

void background_driver::wake() noexcept { wake_from(asleep); }

void background_driver::attend() noexcept {
  attended_.store(true, std::memory_order_seq_cst);
  wake_from(callers_drive_.load(std::memory_order_relaxed) || leaders_.is_held() ? asleep
                                                                                 : napping);
}

void background_driver::wake_from(int state) noexcept {
  if (state_.load(std::memory_order_seq_cst) < state) return;
  if (state_.exchange(awake, std::memory_order_acq_rel) == awake) return;
  ::syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void background_driver::rest(int state) noexcept {
  state_.store(state, std::memory_order_seq_cst);
  const bool due = ending_ || attended_ ||
                   (state == asleep && (leaders_.has_collected() || leaders_.needs_driver()));
  if (!due) {
    const timespec least{0, next_nap_.count()};
    ::syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, state, state == asleep ? nullptr : &least,
              nullptr, 0);
  }
  state_.store(awake, std::memory_order_relaxed);
}

// Returns false when there was nothing to do.
bool background_driver::look() noexcept {
  const bool attended = attended_.exchange(false, std::memory_order_seq_cst);
  const bool wrote = leaders_.has_collected();
  leaders_.write_collected();
  const std::uint64_t taken = leaders_.taken_by_callers();
  const bool busy = taken != seen_;
  seen_ = taken;
  next_nap_ = busy ? std::min<base::duration>(next_nap_ * 2, longest_nap) : nap;
  callers_drive_.store(busy, std::memory_order_relaxed);
  if (!busy && !leaders_.promote()) leaders_.drive_in_background(ending_, nap, attended || wrote);
  return attended || wrote;
}

void background_driver::run() noexcept {
  unsigned idle = 0;
  while (!ending_) {
    idle = look() ? 0 : idle + 1;
    if (idle > naps_before_sleep) rest(asleep);
    // Collected requests are written together with those that follow.
    if (!attended_) rest(napping);
  }
}

}  // namespace holdfast::io
