#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/detail/multi_access.hpp>
#include <holdfast/multi_mutex.hpp>

#include "base/fail.hpp"
#include "multi/multi_acquire.hpp"

namespace holdfast::inline v0 {

void multi_mutex::check() const { detail::multi_access::refuse_none_or_twins(members_); }

bool multi_mutex::lock_within(detail::wait_bound bound) {
  if (current_) {
    if (bound.is_try()) return false;
    base::fail(errc::would_self_deadlock, "lock", "it is locked already: unlock() it first");
  }
  current_ = acquire_impl(detail::acquire_call(bound, nullptr));
  return static_cast<bool>(current_);
}

lease_set multi_mutex::acquire_impl(detail::acquire_call c) const {
  std::error_code* const ec = c.ec;
  return base::in_either_form(ec, [&] {
    return detail::multi_access::acquire_impl(members_, std::move(c));
  });
}

lease_set client::take_all(const lock_names& names, detail::acquire_call c) const {
  std::error_code* const ec = c.ec;
  return base::in_either_form(ec, [&] {
    const detail::named_locks locks(*this, names);
    return detail::multi_access::acquire_impl(locks.all(), std::move(c));
  });
}

}  // namespace holdfast::inline v0
