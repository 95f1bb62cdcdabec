// The distributed lock in the shape of std::recursive_mutex.
#pragma once
#include <holdfast/lockable.hpp>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// A mutex that its holder may lock again: through lock() the owner is the calling thread, through
// reacquire() it is a lease.
//
// Re-entry sends no request and keeps the token; the lock is released with the last release.
// acquire() is never a re-entry. lock() by the owner is a re-entry even when the lease was lost in
// the meantime, so check current().held(); reacquire() fails then. Otherwise as mutex, moving and
// destroying included.
//
//   void lock()
//   bool try_lock(), try_lock_for(duration), try_lock_until(time_point)
//   void unlock()
//   const lease& current()
//   lease acquire(const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire(const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire_for(duration, const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire_until(time_point, const acquire_options& = {}, std::stop_token = {})
//   the same with a final std::error_code&, and async_... for Boost.Asio
//   lease reacquire(const lease&), reacquire(const lease&, std::error_code&)
//   std::string_view name()
class HOLDFAST_CAPABILITY recursive_mutex final : public exclusive_lockable {
 public:
  // Arguments and errors as for mutex.
  recursive_mutex(const client& c, std::string_view name, const acquire_options& defaults = {})
      : exclusive_lockable(c, name, {.recursive = true}, defaults, sizeof defaults) {}
  recursive_mutex(recursive_mutex&&) noexcept = default;
  recursive_mutex& operator=(recursive_mutex&&) noexcept = default;

  // Returns another lease on the grant of `mine`, with the same token and the same deadline: for
  // coroutines, and for leases that move between threads.
  //
  // errc::lost      `mine` was lost
  // errc::not_held  `mine` is empty
  // errc::mismatch  `mine` is a lease of another lock
  // errc::forked    `mine` was made before fork(), and this is the child
  // errc::closed    the client was closed
  // Does not block. Safe to call from any thread.
  lease reacquire(const lease& mine) const { return reacquire_impl(mine, nullptr); }
  lease reacquire(const lease& mine, std::error_code& ec) const {
    return reacquire_impl(mine, &ec);
  }
};

}  // namespace v0
}  // namespace holdfast
