#include "base/event_queue.hpp"

namespace holdfast::core {

namespace {

constexpr unsigned char ends =
    static_cast<unsigned char>(tell::refused) | static_cast<unsigned char>(tell::ended);

thread_local constinit int telling_depth = 0;

}  // namespace

bool crier::telling_here() noexcept { return telling_depth != 0; }

bool news::post(tell what) noexcept {
  const auto bits = static_cast<unsigned char>(what);
  if (due_.load(std::memory_order_acquire) == 0) {  // then nobody else writes: no need for a swap
    due_.store(bits | telling, std::memory_order_relaxed);
    return true;
  }
  return !(due_.fetch_or(bits | telling, std::memory_order_acq_rel) & telling);
}

void news::tell_all() {
  for (;;) {
    const unsigned char due = due_.load(std::memory_order_acquire);
    const auto first = static_cast<unsigned char>(due & -due & (telling - 1));
    if (first == static_cast<unsigned char>(tell::granted)) {
      // Cannot come again before it was told, so one swap at the end does for both bits.
      say(tell::granted);
      unsigned char expected = first | telling;
      if (due_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel)) return;
      due_.fetch_and(static_cast<unsigned char>(~first), std::memory_order_acq_rel);
    } else if (first & ends) {
      due_.store(telling, std::memory_order_relaxed);  // the last news: nobody else writes now
      say(static_cast<tell>(first));
    } else if (first != 0) {
      due_.fetch_and(static_cast<unsigned char>(~first), std::memory_order_acq_rel);
      say(static_cast<tell>(first));
    } else {
      unsigned char expected = telling;
      if (due_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel)) return;
      if (expected & retired) return give_back();
    }
  }
}

void crier::tell_all() {
  if (!first_) return;
  ++telling_depth;
  for (news* who = first_; who;) {
    news* const next = who->next_;  // read first: then the claim may be gone, or told anew
    who->tell_all();
    who = next;
  }
  first_ = nullptr;
  end_ = &first_;
  --telling_depth;
}

}  // namespace holdfast::core
