// What the lockable types share. Not for users to name or to derive from.
#pragma once
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>
#include <holdfast/verbs.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>
#include <system_error>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

struct lock_kind {
  bool recursive = false;
  std::uint32_t permits = 0;  // of a semaphore: how many there are
};

class lockable_base {
 public:
  lockable_base(const lockable_base&) = delete;
  lockable_base& operator=(const lockable_base&) = delete;
  std::string_view name() const noexcept;

 protected:
  friend class async_operation;
  friend class multi_access;
  // `size` is sizeof(acquire_options) as the caller knows it, so that members can be added.
  lockable_base(const client&, std::string_view name, lock_kind, const acquire_options& defaults,
                std::size_t size);
  lockable_base(lockable_base&&) noexcept;
  lockable_base& operator=(lockable_base&&) noexcept;
  ~lockable_base();  // terminates when locked: with std::mutex that is undefined

  lease take(lock_mode, acquire_call) const;
  lease take_again(const lease& mine, std::error_code*) const;
  lease take_down(lease&& exclusive, std::error_code*) const;
  bool lock_within(wait_bound);
  void unlock_current() noexcept;
  bool lock_shared_within(wait_bound);
  void unlock_shared_of_this_thread() noexcept;
  const lease& current_lease() const noexcept;
  std::uint32_t permits_in_all() const noexcept;

 private:
  turn* turn_of(const lease& mine, std::string_view operation, std::error_code*) const;
  std::unique_ptr<lockable_state> state_;
};

}  // namespace detail

// The verbs of a lock. Each takes, in this order and all optional, acquire_options, a
// std::stop_token and a std::error_code:
//
//   m.acquire()   m.acquire({.ttl = 10s})   m.acquire(stop)   m.try_acquire_for(1s, {}, stop, ec)
//
//   acquire               waits until it is granted
//   try_acquire           makes one attempt
//   try_acquire_for       waits at most that duration; 0 or less: one attempt
//   try_acquire_until     waits at most until that time of any clock
//   async_...             the same without blocking, for Boost.Asio: holdfast/asio.hpp
//
//   throwing form    : acquire throws lock_error when not granted; try_ verbs return an empty lease
//                      when busy, timed out or stopped, and throw when broken
//   error_code& form : ec is set exactly when the throwing form throws, else cleared
//
// Without options the lock's defaults hold. Of options that are given, what is left unset (ttl,
// renew, note, max_hold) comes from the lock's defaults; permits does not.
// A stop_token ends a wait, never a held lease. If stop was requested before the call, exactly one
// attempt is made, as with std::condition_variable_any, and a free lock is granted.
// Errors: bad_option, unsupported, mismatch, unavailable, refused, lost, closed, forked; of acquire
// canceled besides. A bound shorter than ?op-timeout= may pass before a silent backend counts as
// broken: then it is busy. A wait with a bound fails at once, unavailable, when no
// thread can be started for the timer that would end it. Safe from any thread.
template <lock_mode mode>
class acquirable : public detail::lockable_base,
                   public detail::acquire_verbs<acquirable<mode>, lease> {
 protected:
  using lockable_base::lockable_base;
  acquirable(acquirable&&) noexcept = default;
  acquirable& operator=(acquirable&&) noexcept = default;
  ~acquirable() = default;

 private:
  friend class detail::acquire_verbs<acquirable<mode>, lease>;
  lease take(detail::acquire_call c) const { return lockable_base::take(mode, std::move(c)); }
};

// A lock that one may hold alone.
class exclusive_lockable : public acquirable<lock_mode::exclusive> {
 public:
  // Lockable and TimedLockable, for std::lock_guard, unique_lock, scoped_lock and
  // condition_variable_any. The object stays occupied from lock() to its own unlock(), whether the
  // lease is lost or not, so that a stale holder can never unlock its successor. lock() throws
  // lock_error; try_lock and its timed forms are false when busy and throw when broken. The lease
  // has the options that were given as the lock's defaults.
  void lock() { lock_within(detail::wait_bound::forever()); }
  [[nodiscard]] bool try_lock() { return lock_within(detail::wait_bound::one_attempt()); }
  void unlock() noexcept { unlock_current(); }
  template <class R, class P>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<R, P> d) {
    return lock_within(detail::within(d));
  }
  template <class C, class D>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<C, D> t) {
    return try_lock_for(detail::left_until(t));
  }

  // The lease behind lock(), for whoever holds the lock: its token, its loss signal. Empty when
  // the lock is not held through lock().
  const lease& current() const noexcept { return current_lease(); }

 protected:
  using acquirable::acquirable;
  exclusive_lockable(exclusive_lockable&&) noexcept = default;
  exclusive_lockable& operator=(exclusive_lockable&&) noexcept = default;
  ~exclusive_lockable() = default;
};

}  // namespace v0
}  // namespace holdfast
