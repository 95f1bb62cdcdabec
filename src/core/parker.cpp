#include "core/parker.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace holdfast::core {

static_assert(sizeof(std::atomic<int>) == sizeof(int) && std::atomic<int>::is_always_lock_free);

void parker::park() noexcept {
  int seen = is_new;
  if (!state_.compare_exchange_strong(seen, is_parked, std::memory_order_acq_rel)) return;
  while (!signalled())
    ::syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, is_parked, nullptr, nullptr, 0);
}

// After the exchange only the address is used: waking a stranger there is harmless.
void parker::signal() noexcept {
  if (state_.exchange(is_signalled, std::memory_order_acq_rel) == is_parked)
    ::syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace holdfast::core
