// Callers that block until they are answered.
#pragma once
#include <utility>

#include "base/follower.hpp"
#include "cohort/waiter.hpp"
#include "seam/backend.hpp"

namespace holdfast::core {

struct blocked_waiter final : waiter {
  blocked_waiter() noexcept { thread = &follower; }
  core::parker parker;
  core::follower follower{parker};
  void complete() noexcept override { parker.signal(); }
};

struct blocked_confirmation final : confirmation {
  core::parker parker;
  void complete() noexcept override { parker.signal(); }
};

// Blocks until the follower's parker is signalled. Once the caller awaits the store, its thread
// meanwhile drives the backend's I/O where it can. An enlisted thread must get here even when it
// has its answer: it may have been promoted since, and would otherwise leave the loop without a
// driver.
inline void wait(follower& f, backend& store) noexcept {
  if (f.parker.signalled() && !f.is_enlisted.load(std::memory_order_relaxed)) return;
  if (caller_driver* const d = store.driver()) {
    d->sleep_until_signalled(f);
  } else {
    f.parker.park();
  }
}

// The same for a thread that awaits the store in any case.
inline void wait(parker& p, backend& store) noexcept {
  if (p.signalled()) return;
  if (caller_driver* const d = store.driver()) {
    d->run_until_signalled(p);
  } else {
    p.park();
  }
}

// Sends a backend an admin query and waits for the answer.
struct blocked_decision final : decision_handler {
  core::parker parker;
  bool yes = false;
  failure why;
  void on_decided(bool y) override {
    yes = y;
    parker.signal();
  }
  void on_failed(failure f) override {
    why = std::move(f);
    parker.signal();
  }
  void wait_for(backend& store) {
    if (!parker.signalled()) store.flush();
    wait(parker, store);
  }
};

}  // namespace holdfast::core
