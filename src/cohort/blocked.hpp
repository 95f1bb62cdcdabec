// Callers that block until they are answered.
#pragma once
#include <utility>

#include "base/caller_driver.hpp"
#include "cohort/waiter.hpp"
#include "seam/connection.hpp"

namespace holdfast::cohort {
using namespace base;
using namespace seam;

struct blocked_waiter final : waiter {
  blocked_waiter() noexcept { thread = &follower; }
  base::parker parker;
  base::follower follower{parker};
  void complete() noexcept override { parker.signal(); }
};

struct blocked_confirmation final : confirmation {
  base::parker parker;
  void complete() noexcept override { parker.signal(); }
};

// Blocks until the follower's parker is signalled. Once the caller awaits the store, its thread
// meanwhile drives `loop`, that of the lock it waits for (null: it just blocks): it writes what was
// collected for the loop (loop_user::flush) and reads the replies. An enlisted thread must get here
// even when it has its answer: it may have been promoted since, and would otherwise leave the loop
// without a driver.
inline void wait(follower& f, caller_driver* loop) noexcept {
  if (f.parker.signalled() && !f.is_enlisted.load(std::memory_order_relaxed)) return;
  if (loop) {
    loop->sleep_until_signalled(f);
  } else {
    f.parker.park();
  }
}

// The same for a thread that awaits the store in any case.
inline void wait(parker& p, caller_driver* loop) noexcept {
  if (p.signalled()) return;
  if (loop) {
    loop->run_until_signalled(p);
  } else {
    p.park();
  }
}

// The result of an admin query, for a caller that blocks until it is there.
template <class T>
struct awaited final : result_handler<T> {
  base::parker parker;
  T result{};
  failure why;  // code {}: there is a result
  void on_result(T r) override {
    result = std::move(r);
    parker.signal();
  }
  void on_failed(failure f) override {
    why = std::move(f);
    parker.signal();
  }
  void wait_for(connection& over, caller_driver* loop) {
    if (!parker.signalled()) over.flush();
    wait(parker, loop);
  }
};

}  // namespace holdfast::cohort
