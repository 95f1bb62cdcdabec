// Callers that a cohort answers: one who wants the lock, and one who wants an answer of the store.
#pragma once
#include <cstdint>
#include <string_view>

#include "seam/claim.hpp"

namespace holdfast::inline v0::detail {
class turn;
}

namespace holdfast::core {

struct follower;

// Answered exactly once: the cohort puts it on its list of answered calls under the slot's lock,
// and the slot calls complete() after it has let go of the lock. From then on the call may be gone.
struct completion {
  time_point until = never;  // answered by then in any case
  failure why;               // code {} when it went well
  completion* next_answered = nullptr;

  virtual void complete() noexcept = 0;

 protected:
  ~completion() = default;
};

struct waiter : completion {  // wants a turn
  acquire_request request;
  bool renews = true;
  duration max_hold = duration::max();
  time_point asked{};  // when it entered, where that is counted
  detail::turn* granted = nullptr;
  follower* thread = nullptr;      // the one that blocks until it is answered; null: none does
  bool is_known_to_await = false;  // the store, rather than another thread: its driver was told

  waiter* before = nullptr;  // its place in the cohort's line
  waiter* after = nullptr;
  bool in_line = false;

 protected:
  ~waiter() = default;
};

struct claim_record;

struct confirmation : completion {  // wants to know how a renewal or a release went
  const claim_record* about = nullptr;
  std::uint32_t ticket = 0;  // of the renewal; 0: the release
  confirmation* after = nullptr;

 protected:
  ~confirmation() = default;
};

struct loss_watch
    : completion {  // wants to know when a turn is lost; answered with not_held when it ends
  detail::turn* on = nullptr;  // while it is in the turn's list
  loss_watch* after = nullptr;

 protected:
  ~loss_watch() = default;
};

}  // namespace holdfast::core
