// The distributed lock in the shape of std::recursive_mutex.
#pragma once
#include <holdfast/lockable.hpp>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// As mutex, and whoever holds it may take it again: through lock() the owner is the calling thread,
// through reacquire() it is a lease. Re-entry asks no server and keeps the token; the lock is given
// back with the last release. acquire() is never a re-entry. lock() by the owner is a re-entry also
// when the lease was lost meanwhile: ask current().held(). reacquire() refuses then.
class recursive_mutex final : public exclusive_lockable {
 public:
  // Throws bad_name and, for defaults that no acquire of it can have, bad_option or unsupported.
  recursive_mutex(const client& c, std::string_view name, const acquire_options& defaults = {})
      : exclusive_lockable(c, name, {.recursive = true}, defaults, sizeof defaults) {}
  recursive_mutex(recursive_mutex&&) noexcept = default;
  recursive_mutex& operator=(recursive_mutex&&) noexcept = default;

  // Another lease on what `mine` holds: same token, same deadline. For coroutines and leases that
  // move between threads. Throws errc::lost or not_held unless mine.held(), and mismatch when
  // `mine` is a lease of another lock.
  lease reacquire(const lease& mine) const { return take_again(mine, nullptr); }
  lease reacquire(const lease& mine, std::error_code& ec) const { return take_again(mine, &ec); }
};

}  // namespace v0
}  // namespace holdfast
