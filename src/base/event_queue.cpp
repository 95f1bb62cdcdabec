#include "base/event_queue.hpp"

namespace holdfast::base {

namespace {

constexpr std::uint16_t bit_of(claim_event e) noexcept { return static_cast<std::uint16_t>(e); }

constexpr std::uint16_t ends = bit_of(claim_event::refused) | bit_of(claim_event::ended);

thread_local constinit int dispatch_depth = 0;

}  // namespace

bool event_queue::dispatching_here() noexcept { return dispatch_depth != 0; }

bool event_source::post(claim_event event) noexcept {
  const std::uint16_t bits = bit_of(event);
  if (due_.load(std::memory_order_acquire) == 0) {  // then nobody else writes: no need for a swap
    due_.store(bits | dispatching, std::memory_order_relaxed);
    return true;
  }
  return !(due_.fetch_or(bits | dispatching, std::memory_order_acq_rel) & dispatching);
}

void event_source::dispatch() {
  for (;;) {
    const std::uint16_t due = due_.load(std::memory_order_acquire);
    const auto first = static_cast<std::uint16_t>(due & -due & (dispatching - 1));
    if (first == bit_of(claim_event::granted)) {
      // `granted` is not posted again before on_event() returned, so one swap clears both bits.
      on_event(claim_event::granted);
      std::uint16_t expected = first | dispatching;
      if (due_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel)) return;
      due_.fetch_and(static_cast<std::uint16_t>(~first), std::memory_order_acq_rel);
    } else if (first & ends) {
      due_.store(dispatching, std::memory_order_relaxed);  // the last event: nobody else posts now
      on_event(static_cast<claim_event>(first));
    } else if (first != 0) {
      due_.fetch_and(static_cast<std::uint16_t>(~first), std::memory_order_acq_rel);
      on_event(static_cast<claim_event>(first));
    } else {
      std::uint16_t expected = dispatching;
      if (due_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel)) return;
      if (expected & retired) return on_retired();
    }
  }
}

void event_queue::dispatch() {
  if (!first_) return;
  ++dispatch_depth;
  for (event_source* source = first_; source;) {
    // Read first: dispatch() may free the claim or queue it again.
    event_source* const next = source->next_;
    source->dispatch();
    source = next;
  }
  first_ = nullptr;
  end_ = &first_;
  --dispatch_depth;
}

}  // namespace holdfast::base
