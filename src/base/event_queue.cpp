#include "base/event_queue.hpp"

namespace holdfast::core {

namespace {

constexpr unsigned char ends = static_cast<unsigned char>(claim_event::refused) |
                               static_cast<unsigned char>(claim_event::ended);

thread_local constinit int dispatch_depth = 0;

}  // namespace

bool event_queue::dispatching_here() noexcept { return dispatch_depth != 0; }

bool event_source::post(claim_event what) noexcept {
  const auto bits = static_cast<unsigned char>(what);
  if (due_.load(std::memory_order_acquire) == 0) {  // then nobody else writes: no need for a swap
    due_.store(bits | dispatching, std::memory_order_relaxed);
    return true;
  }
  return !(due_.fetch_or(bits | dispatching, std::memory_order_acq_rel) & dispatching);
}

void event_source::dispatch() {
  for (;;) {
    const unsigned char due = due_.load(std::memory_order_acquire);
    const auto first = static_cast<unsigned char>(due & -due & (dispatching - 1));
    if (first == static_cast<unsigned char>(claim_event::granted)) {
      // `granted` is not posted again before on_event() returned, so one swap clears both bits.
      on_event(claim_event::granted);
      unsigned char expected = first | dispatching;
      if (due_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel)) return;
      due_.fetch_and(static_cast<unsigned char>(~first), std::memory_order_acq_rel);
    } else if (first & ends) {
      due_.store(dispatching, std::memory_order_relaxed);  // the last event: nobody else posts now
      on_event(static_cast<claim_event>(first));
    } else if (first != 0) {
      due_.fetch_and(static_cast<unsigned char>(~first), std::memory_order_acq_rel);
      on_event(static_cast<claim_event>(first));
    } else {
      unsigned char expected = dispatching;
      if (due_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel)) return;
      if (expected & retired) return on_retired();
    }
  }
}

void event_queue::dispatch() {
  if (!first_) return;
  ++dispatch_depth;
  for (event_source* who = first_; who;) {
    // Read first: dispatch() may free the claim or queue it again.
    event_source* const next = who->next_;
    who->dispatch();
    who = next;
  }
  first_ = nullptr;
  end_ = &first_;
  --dispatch_depth;
}

}  // namespace holdfast::core
