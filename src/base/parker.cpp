#include "base/parker.hpp"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace holdfast::base {
namespace {

static_assert(sizeof(std::atomic<int>) == sizeof(int) && std::atomic<int>::is_always_lock_free);

thread_local wake_batch* batch_here = nullptr;

}  // namespace

// Only the address of an unshared word is used: a spurious wake-up of another sleeper is harmless.
void wake_target::wake() const noexcept {
  if (bit == 0) {
    ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    return;
  }
  word->fetch_add(1, std::memory_order_acq_rel);  // for those who are about to sleep
  ::syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, nullptr, nullptr, bit);
}

wake_batch::wake_batch(unsigned at_most) noexcept : at_most_(at_most), outer_(batch_here) {
  batch_here = this;
}

wake_batch::~wake_batch() {
  wake();
  batch_here = outer_;
  while (first_) std::exchange(first_, first_->next_)->batch_ended();
}

void wake_batch::then(end_of_batch& a) noexcept {
  if (!batch_here) return a.batch_ended();
  a.next_ = std::exchange(batch_here->first_, &a);
}

void wake_batch::add(const wake_target& b) noexcept {
  ++woken_;
  if (b.bit == 0) return b.wake();
  unsigned at = 0;
  while (at < places_ && targets_[at].word != b.word) ++at;
  if (at == std::size(targets_)) {
    wake();
    at = 0;
  }
  if (at == places_) targets_[places_++] = {b.word, 0};
  targets_[at].bit |= b.bit;
  if (++waiting_ == at_most_) wake();
}

void wake_batch::wake() noexcept {
  for (unsigned at = 0; at < places_; ++at) targets_[at].wake();
  places_ = 0;
  waiting_ = 0;
}

const loop_waker*& parker::loop_of_this_thread() noexcept {
  static thread_local const loop_waker* here = nullptr;
  return here;
}

// In state waking the owner must sleep on its own word: the signalling thread wakes that one, also
// when the owner was promoted and signalled before it came to park on the shared word.
void parker::park(const wake_target& shared) noexcept {
  const auto word = [this] {
    return sleeps_at_.bit ? sleeps_at_.word->load(std::memory_order_acquire) : is_parked;
  };
  int seen = state_.load(std::memory_order_acquire);
  int value = is_parked;
  while (seen == is_new || seen == is_waking) {
    sleeps_at_ = shared.word && seen == is_new ? shared : wake_target{&state_, 0};
    value = word();
    if (state_.compare_exchange_weak(seen, is_parked, std::memory_order_acq_rel)) break;
  }
  while (state_.load(std::memory_order_acquire) == is_parked) {
    const unsigned bit = sleeps_at_.bit ? sleeps_at_.bit : FUTEX_BITSET_MATCH_ANY;
    ::syscall(SYS_futex, sleeps_at_.word, FUTEX_WAIT_BITSET_PRIVATE, value, nullptr, nullptr, bit);
    value = word();
  }
}

bool parker::promote(loop_waker& b, wake_target* found) noexcept {
  waker_ = &b;
  int seen = state_.load(std::memory_order_acquire);
  while (seen == is_new || seen == is_parked) {
    if (found && seen == is_parked) *found = sleeps_at_;
    if (state_.compare_exchange_weak(seen, is_driving, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void parker::signal() noexcept {
  int seen = state_.load(std::memory_order_acquire);
  wake_target sleeper;
  for (;;) {
    const bool to_wake = seen == is_driving && waker_ != loop_of_this_thread();
    if (seen == is_parked) sleeper = sleeps_at_;
    const int next = to_wake ? is_waking : is_signalled;
    if (!state_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
      continue;
    if (!to_wake) break;
    waker_->wake();
    sleeper = {&state_, 0};
    seen = state_.exchange(is_signalled, std::memory_order_acq_rel);
    break;
  }
  if (seen != is_parked) return;
  if (batch_here)
    batch_here->add(sleeper);
  else
    sleeper.wake();
}

}  // namespace holdfast::base
