// The verbs of a lock, which mutex, recursive_mutex, shared_mutex and semaphore share.
#pragma once
#include <holdfast/detail/annotations.hpp>
#include <holdfast/detail/lockable_base.hpp>
#include <holdfast/detail/verbs.hpp>
#include <holdfast/lease.hpp>

#include <chrono>
#include <utility>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// The verbs of a lock: each acquires it in `mode` and returns a lease. Users call them on mutex,
// recursive_mutex, shared_mutex or semaphore; this class is not for users to derive from.
//
//   verb              | waits
//   ------------------+--------------------------------------------------------------------------
//   acquire           | until the lock is granted
//   try_acquire       | not at all: it makes one attempt
//   try_acquire_for   | at most that duration; 0 or less: one attempt
//   try_acquire_until | at most until that time of any clock
//   async_...         | the same without blocking, for Boost.Asio: holdfast/asio.hpp
//
// Each verb takes, in this order and all optional, acquire_options, a std::stop_token and a
// std::error_code&:
//
//   m.acquire()   m.acquire({.ttl = 10s})   m.acquire(stop)   m.try_acquire_for(1s, {}, stop, ec)
//
// acquire_options  default: the lock's defaults. Of options that are given, what is unset (ttl,
//                  renew, note, max_hold) comes from the lock's defaults; permits does not.
// std::stop_token  ends the wait, never a held lease. If stop was requested before the call,
//                  exactly one attempt is made, as with std::condition_variable_any, so a free lock
//                  is granted.
// std::error_code  set exactly when the form without it throws lock_error, else cleared.
//
// Returns the lease. The try_ verbs return an empty lease when the lock is busy, the time has
// passed, or stop was requested: that is not an error.
//
// errc::bad_option   ttl, max_hold, note or permits is out of range
// errc::unsupported  the backend has no such mode; manual renewal, or with ?strict=1 a ttl, where
//                    locks do not expire; shares and permits in a directory on a network file
//                    system
// errc::mismatch     the name is in use for another kind of lock or another number of permits; its
//                    key or file holds something else
// errc::canceled     of acquire only: stop was requested, and the lock was not granted
// errc::unavailable  try_acquire: no reply within the op-timeout (default 5 s) or the ttl, or
//                    nothing listens. try_acquire_for, _until: the store is out of reach when the
//                    time has passed, or no thread can be started for the timer. acquire: the store
//                    was out of reach for longer than ?outage-timeout= (default: none, so acquire
//                    waits through outages), or no thread can be started to wait for a file lock.
// errc::refused      the server or the file system denied it: rights, authentication, disk full
// errc::exhausted    a range of numbers of the store is used up: no lock can be granted there
// errc::no_quorum    with redlock: too few of its servers can be reached, or may vote
// errc::lost         of several locks only (multi_mutex, acquire_all): three times one of them was
//                    lost while the call waited for the others; raise the ttl
// errc::closed       the client was closed, before or during the call
// errc::forked       the lock was made before fork(), and this is the child
//
// The verbs are const and lock() is not: a const lock object can be acquired but not locked. To
// hold several locks use multi_mutex or client::acquire_all() instead of std::scoped_lock, which
// tries one lock after another and starts again when one is busy.
//
// A bound shorter than ?op-timeout= may pass before a silent store counts as out of reach: then the
// lock counts as busy. Blocks as the table says. Safe to call from any thread.
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
  lease acquire_impl(detail::acquire_call c) const {
    return lockable_base::acquire_impl(mode, std::move(c));
  }
};

// A lock that one holder can have alone: the Lockable side of mutex, recursive_mutex and
// shared_mutex. Not for users to derive from; multi_mutex takes pointers to it.
class HOLDFAST_CAPABILITY exclusive_lockable : public acquirable<lock_mode::exclusive> {
 public:
  // Lockable and TimedLockable, for std::lock_guard, unique_lock, scoped_lock and
  // condition_variable_any. The lease behind lock() has the lock's default options. The object
  // stays occupied from lock() to its own unlock(), whether the lease is lost or not, so that a
  // stale holder can never unlock its successor.
  //
  // The try_ forms return false when the lock is busy, and when the calling thread holds this
  // name already; else they throw as lock() does.
  // errc::would_self_deadlock  of lock() only: the calling thread holds this name already through
  //                            lock() or lock_shared(), of this object or of another one of the
  //                            same client; recursive_mutex allows its own lock() again. Leases
  //                            have no thread: one that the thread holds is not detected.
  // The others are those of acquire() and the try_acquire verbs, except errc::canceled.
  // Block as acquire(), try_acquire() and try_acquire_for(). Safe to call from any thread; unlock()
  // is for the thread that locked, and does not block.
  //
  // Clang's -Wthread-safety checks calls of these members; docs/guides/threads-and-clients.md says
  // what it can see.
  void lock() HOLDFAST_LOCKS { lock_within(detail::wait_bound::forever()); }
  [[nodiscard]] bool try_lock() HOLDFAST_TRIES {
    return lock_within(detail::wait_bound::one_attempt());
  }
  void unlock() noexcept HOLDFAST_UNLOCKS { unlock_current(); }
  template <class R, class P>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<R, P> d) HOLDFAST_TRIES {
    return lock_within(detail::within(d));
  }
  template <class C, class D>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<C, D> t) HOLDFAST_TRIES {
    return try_lock_for(detail::left_until(t));
  }

  // The lease behind lock(): its token, its loss signal. Empty when the lock is not held through
  // lock(). Only for the holder: other threads may change it at any time.
  const lease& current() const noexcept { return current_lease(); }

 protected:
  using acquirable::acquirable;
  exclusive_lockable(exclusive_lockable&&) noexcept = default;
  exclusive_lockable& operator=(exclusive_lockable&&) noexcept = default;
  ~exclusive_lockable() = default;
};

}  // namespace v0
}  // namespace holdfast
