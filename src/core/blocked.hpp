// Callers who block until they are answered.
#pragma once
#include <utility>

#include "core/parker.hpp"
#include "core/seam.hpp"
#include "core/waiter.hpp"

namespace holdfast::core {

struct blocked_waiter final : waiter {
  core::parker parker;
  void complete() noexcept override { parker.signal(); }
};

struct blocked_inquiry final : inquiry {
  core::parker parker;
  void complete() noexcept override { parker.signal(); }
};

// Until it is signalled. The caller's thread does the backend's work meanwhile, where it can.
inline void wait(parker& p, backend& store) noexcept {
  if (p.signalled()) return;
  if (driver* const d = store.lend()) {
    d->run_until_signalled(p);
  } else {
    p.park();
  }
}

// Asks a backend, and waits for its answer.
struct blocked_verdict final : verdict {
  core::parker parker;
  bool yes = false;
  failure why;
  void decided(bool y) override {
    yes = y;
    parker.signal();
  }
  void failed(failure f) override {
    why = std::move(f);
    parker.signal();
  }
  void wait_for(backend& store) {
    if (!parker.signalled()) store.flush();
    wait(parker, store);
  }
};

}  // namespace holdfast::core
