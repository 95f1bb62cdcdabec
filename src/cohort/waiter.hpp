// Calls that a cohort answers: requests for a turn, and waits for a reply of the store.
#pragma once
#include <cstdint>

#include "seam/claim.hpp"

namespace holdfast::inline v0::detail {
class local_lock;
class turn;
}

namespace holdfast::base {
struct follower;
}

namespace holdfast::cohort {
using namespace base;
using namespace seam;

// Answered exactly once: the cohort leaves it in its effects under the local lock's mutex, and the
// local lock calls complete() after unlocking it. From then on the call may be gone.
struct completion {
  time_point until = never;  // it is answered by then in any case
  failure why;               // code {}: success
  completion* next_answered = nullptr;

  virtual void complete() noexcept = 0;

 protected:
  ~completion() = default;
};

struct waiter : completion {  // wants a turn
  acquire_request request;
  bool renews = true;
  duration max_hold = duration::max();
  time_point asked{};  // when it entered, with metrics on
  // With a recording: its lock, once it has entered, and when it was recorded as waiting.
  detail::local_lock* recorded_for = nullptr;
  time_point recorded{};
  detail::turn* granted = nullptr;
  follower* thread = nullptr;       // the thread that blocks until it is answered; null: none
  bool is_driver_notified = false;  // it awaits the store, not another thread, and the driver knows

  waiter* before = nullptr;  // its neighbours in the cohort's queue
  waiter* after = nullptr;
  bool is_queued = false;

 protected:
  ~waiter() = default;
};

struct claim_record;

struct confirmation : completion {      // awaits the result of a renewal or a release
  const claim_record* about = nullptr;  // that renews or releases
  std::uint32_t ticket = 0;             // of the renewal; 0: a release
  confirmation* after = nullptr;

 protected:
  ~confirmation() = default;
};

// Awaits the loss of a turn; answered with not_held when the turn ends.
struct loss_watch : completion {
  detail::turn* on = nullptr;  // while it is in the turn's list
  loss_watch* after = nullptr;

 protected:
  ~loss_watch() = default;
};

}  // namespace holdfast::cohort
