#include "base/short_lock.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace holdfast::base {

void short_lock::lock_slowly() noexcept {
  while (state_.exchange(is_wanted, std::memory_order_acquire) != is_free)
    ::syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, is_wanted, nullptr, nullptr, 0);
}

void short_lock::wake_one() noexcept {
  ::syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace holdfast::base
