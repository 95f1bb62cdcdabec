#include "api/common_share.hpp"

#include <utility>

#include "cohort/local_lock.hpp"

namespace holdfast::inline v0::detail {

bool common_share::join() noexcept {
  std::uint32_t seen = word_.load(std::memory_order_relaxed);
  do {
    if (!(seen & open)) return false;
  } while (!word_.compare_exchange_weak(seen, seen + one, std::memory_order_acquire,
                                        std::memory_order_relaxed));
  if (lent_->admits_readers()) return true;  // checked after joining: before, it may be gone
  leave();
  return false;
}

bool common_share::lend(turn& mine) noexcept {
  if (!mine.admits_readers()) return false;
  std::uint32_t seen = none;
  if (!word_.compare_exchange_strong(seen, one, std::memory_order_acquire,
                                     std::memory_order_relaxed))
    return false;
  lent_ = &mine;
  word_.store(one | open, std::memory_order_release);
  return true;
}

void common_share::leave() noexcept {
  std::uint32_t seen = word_.load(std::memory_order_relaxed);
  bool is_last = false;
  do {
    is_last = seen == (one | open);
  } while (!word_.compare_exchange_weak(seen, is_last ? one : seen - one, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  if (!is_last) return;
  turn& leaving = *std::exchange(lent_, nullptr);
  word_.store(none, std::memory_order_release);
  if (leaving.is_of_this_process()) leaving.home.unlock(leaving);
}

}  // namespace holdfast::inline v0::detail
