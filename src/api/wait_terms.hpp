// The time limit of a caller, and the report of a failed wait.
#pragma once
#include <stop_token>
#include <system_error>
#include <utility>

#include "cohort/local_lock.hpp"

namespace holdfast::inline v0::detail {

class wait_terms {
 public:
  // If stop was requested before the call, exactly one attempt is made.
  wait_terms(wait_bound b, std::stop_token s) noexcept
      : is_try_(b.is_try()),
        is_stopped_(s.stop_requested()),
        bound_(is_stopped_ ? wait_bound::one_attempt() : b),
        stop_(is_stopped_ ? std::stop_token() : std::move(s)) {}

  wait_bound bound() const noexcept { return bound_; }
  const std::stop_token& stop() const noexcept { return stop_; }  // for stopping during the wait

  // Throws, or sets `ec`. A try that found the lock busy reports that by its empty result only.
  void refuse(local_lock& at, base::failure why, std::error_code* ec) const {
    const bool is_busy = why.code == outcome::busy;
    if (is_busy && is_try_) return;
    if (is_busy && is_stopped_) why = {errc::canceled, {}};
    at.fail_or_set(is_try_ ? "try_acquire" : "acquire", std::move(why), ec);
  }

 private:
  const bool is_try_;
  const bool is_stopped_;
  const wait_bound bound_;
  const std::stop_token stop_;
};

}  // namespace holdfast::inline v0::detail
