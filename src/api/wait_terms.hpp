// How long a caller waits for what it asked, and what it is told when that was in vain.
#pragma once
#include <stop_token>
#include <system_error>
#include <utility>

#include "cohort/local_lock.hpp"

namespace holdfast::inline v0::detail {

class wait_terms {
 public:
  // Who is stopped before it asks makes one attempt.
  wait_terms(wait_bound b, std::stop_token s) noexcept
      : is_try_(b.is_try()),
        is_stopped_(s.stop_requested()),
        bound_(is_stopped_ ? wait_bound::one_attempt() : b),
        stop_(is_stopped_ ? std::stop_token() : std::move(s)) {}

  wait_bound bound() const noexcept { return bound_; }
  const std::stop_token& stop() const noexcept { return stop_; }  // while it waits

  // Throws, or sets `ec`. A try that found it busy is told so by what it gets: nothing.
  void refuse(local_lock& at, core::failure why, std::error_code* ec) const {
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
