// Several locks as one.
#pragma once
#include <holdfast/detail/fwd.hpp>
#include <holdfast/lockable.hpp>

#include <chrono>
#include <memory>
#include <span>
#include <stop_token>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// The leases of several locks, held and released together. The set has no token of its own: pass
// each resource the token of its own member. Thread safety as for lease.
//
// The destructor and the assignment release the locks as unlock() does and do not block. A
// moved-from set is empty.
class [[nodiscard]] lease_set {
 public:
  lease_set() noexcept;
  lease_set(lease_set&&) noexcept;
  lease_set& operator=(lease_set&&) noexcept;  // first unlock()s the leases it had
  ~lease_set();

  // True from the grant to the release, even after a loss.
  explicit operator bool() const noexcept { return !members_.empty(); }
  bool held() const noexcept;  // whether all members are
  // As lease::check() and lease::status(), for the first member that is not held.
  void check() const;
  std::error_code status() const noexcept;
  // Requested as soon as the token of one member is; of an empty set, requested already.
  std::stop_token doubt_token() const;
  std::stop_token loss_token() const;
  // The earliest deadline of all members; time_point::min() when empty.
  lease_clock::time_point expires() const noexcept;
  // The leases, in the order of the locks as the caller gave them.
  std::span<const lease> members() const noexcept { return members_; }

  // Extends every member, whatever the outcome of the others, and reports the first failure. All
  // are requested before the first reply is awaited.
  //
  // ttl     as for lease::extend()
  // Errors  those of lease::extend()
  // Blocks until every store has replied. All requests are sent first, so a store that does not
  // reply costs one op-timeout (default 5 s) in all.
  void extend(std::chrono::milliseconds ttl);
  void extend(std::chrono::milliseconds ttl, std::error_code&);
  // Releases every member and reports the first failure. The set is empty afterwards in every case.
  //
  // Errors  those of lease::release()
  // Blocks as extend().
  void release();
  void release(std::error_code&) noexcept;
  // Releases every member without waiting for the replies. Does nothing when empty.
  void unlock() noexcept;

  // The same without blocking, for Boost.Asio; include holdfast/asio.hpp, which documents them.
  template <class... Token>
  auto async_extend(std::chrono::milliseconds ttl, Token&&... token);
  template <class... Token>
  auto async_release(Token&&... token);

 private:
  friend class detail::multi_access;
  enum class signal : unsigned char { doubt, loss };
  struct watch;
  std::stop_token first_of(signal) const;
  std::vector<lease> members_;
  std::unique_ptr<watch> watch_;  // destroyed before the members are released
};

// Acquires several locks, all or none of them: mutexes, shared and recursive ones, of any clients.
// Refers to its locks, which must outlive it.
//
// Where all locks are of one client whose store can grant them in one step, they are taken in one
// step if they are free. Else they are taken one by one in the order of (name, backend), whatever
// the order given, so that two multi_mutexes never deadlock. (This is Dijkstra's resource
// hierarchy: EWD 310, https://www.cs.utexas.edu/~EWD/transcriptions/EWD03xx/EWD310.html.) For that
// all programs must spell the URL of a backend alike, except for its options.
//
// The verbs are those of every lock (lockable.hpp): acquire, try_acquire, their timed and async
// forms. Each returns a lease_set. The options apply to each of the locks; what they leave unset
// comes from that lock's own defaults. Errors: those of the verbs; also errc::bad_option for a
// multi_mutex that was moved from. The verbs are safe to call from any thread.
//
// Destroying a locked object, or assigning to it, releases its locks as unlock() does and does not
// block. Move it only while no thread waits; the leases behind lock() move with it. A moved-from
// object has no locks.
//
//   void lock()
//   bool try_lock(), try_lock_for(duration), try_lock_until(time_point)
//   void unlock()
//   const lease_set& current()
//   lease_set acquire(const acquire_options& = {}, std::stop_token = {})
//   lease_set try_acquire, try_acquire_for(duration, ...), try_acquire_until(time_point, ...)
//   the same with a final std::error_code&, and async_... for Boost.Asio
class multi_mutex final : public detail::acquire_verbs<multi_mutex, lease_set> {
 public:
  // errc::bad_option  no lock is given, or one is given twice (the same name at the same backend)
  template <class... Locks>
  explicit multi_mutex(Locks&... locks) : members_{&locks...} {
    check();
  }
  explicit multi_mutex(std::vector<exclusive_lockable*> locks) : members_(std::move(locks)) {
    check();
  }

  // Lockable and TimedLockable, for one thread at a time, because this object holds the leases. The
  // try_ forms return false when a lock is busy or this object is locked already.
  //
  // errc::would_self_deadlock  of lock() only: this object is locked already
  // The others are those of the verbs, except errc::canceled.
  // Block as acquire(), try_acquire() and try_acquire_for(); unlock() does not block.
  void lock() { (void)lock_within(detail::wait_bound::forever()); }
  [[nodiscard]] bool try_lock() { return lock_within(detail::wait_bound::one_attempt()); }
  template <class R, class P>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<R, P> d) {
    return lock_within(detail::within(d));
  }
  template <class C, class D>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<C, D> t) {
    return try_lock_for(detail::left_until(t));
  }
  void unlock() noexcept { current_.unlock(); }
  // The leases behind lock(); empty when the locks are not held through lock().
  const lease_set& current() const noexcept { return current_; }

 private:
  friend class detail::acquire_verbs<multi_mutex, lease_set>;
  friend class detail::multi_access;
  void check() const;
  bool lock_within(detail::wait_bound);
  lease_set acquire_impl(detail::acquire_call) const;
  std::vector<exclusive_lockable*> members_;
  lease_set current_;
};

}  // namespace v0
}  // namespace holdfast
