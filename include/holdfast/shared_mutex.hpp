// The distributed lock in the shape of std::shared_timed_mutex.
#pragma once
#include <holdfast/lockable.hpp>

#include <mutex>
#include <shared_mutex>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// A lock that one writer or any number of readers can hold. The verbs of lockable.hpp acquire it
// for a writer, the verbs named _shared for a reader, which is also called a share.
//
// On one name a mutex and a shared_mutex exclude each other, except in a layout family, where a
// name is one kind of lock (docs/layouts.md). Waiting clients are served in the order of their
// arrival where the layout keeps one (features().fifo). While a writer waits no later reader is
// admitted, unless features().writer_preference is false (redisson-rw; mysql: with strategy row). A
// share cannot be upgraded: release it and wait for the exclusive lock.
//
// Readers that hold the lock together have the same fencing token and, at a guard, the same owner.
// Where features().reader_tokens is `own` (zookeeper:; mysql: with strategy for-update), each
// client's readers have their own. The readers of one client share one grant: the first requests it
// from the store, the others are admitted without a request. Share one object between threads, as
// with std::shared_mutex; all members are safe to call from any thread.
//
// Moving and destroying are as for mutex; a share that is held through lock_shared() counts as
// locked.
//
//   void lock()
//   bool try_lock(), try_lock_for(duration), try_lock_until(time_point)
//   void unlock()
//   const lease& current()
//   void lock_shared()
//   bool try_lock_shared(), try_lock_shared_for(duration), try_lock_shared_until(time_point)
//   void unlock_shared()
//   const lease& current_shared()
//   lease acquire(const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire(const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire_for(duration, const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire_until(time_point, const acquire_options& = {}, std::stop_token = {})
//   the same with a final std::error_code&, and async_... for Boost.Asio
//   acquire_shared, try_acquire_shared, ... for a reader, with the same arguments
//   lease downgrade(lease&&), std::shared_lock<shared_mutex> downgrade(std::unique_lock<...>&&)
//   std::string_view name()
class HOLDFAST_CAPABILITY shared_mutex final : public exclusive_lockable {
 public:
  // Arguments and errors as for mutex.
  shared_mutex(const client& c, std::string_view name, const acquire_options& defaults = {})
      : exclusive_lockable(c, name, {.kind = lock_kind::shared_mutex}, defaults, sizeof defaults) {}
  shared_mutex(shared_mutex&&) noexcept = default;
  shared_mutex& operator=(shared_mutex&&) noexcept = default;

  // As the verbs without _shared (lockable.hpp), for a reader.
  //
  // errc::unsupported  also where the backend has no shares (features().shared is false), and on a
  //                    network file system
  template <class... E>
  requires detail::call_ending<E...> lease acquire_shared(E&&... ending)
  const { return take_share(detail::wait_bound::forever(), nullptr, ending...); }
  template <class... E>
  requires detail::call_ending<E...> lease acquire_shared(const acquire_options& o, E&&... ending)
  const { return take_share(detail::wait_bound::forever(), &o, ending...); }
  lease acquire_shared(const acquire_options& o, std::stop_token s, std::error_code& ec) const {
    return take_share(detail::wait_bound::forever(), &o, std::move(s), ec);
  }
  template <class... E>
  requires detail::call_ending<E...> lease try_acquire_shared(E&&... ending)
  const { return take_share(detail::wait_bound::one_attempt(), nullptr, ending...); }
  template <class... E>
  requires detail::call_ending<E...> lease try_acquire_shared(const acquire_options& o,
                                                              E&&... ending)
  const { return take_share(detail::wait_bound::one_attempt(), &o, ending...); }
  lease try_acquire_shared(const acquire_options& o, std::stop_token s, std::error_code& ec) const {
    return take_share(detail::wait_bound::one_attempt(), &o, std::move(s), ec);
  }
  template <class R, class P, class... E>
  requires detail::call_ending<E...> lease try_acquire_shared_for(std::chrono::duration<R, P> d,
                                                                  E&&... ending)
  const { return take_share(detail::within(d), nullptr, ending...); }
  template <class R, class P, class... E>
  requires detail::call_ending<E...> lease try_acquire_shared_for(std::chrono::duration<R, P> d,
                                                                  const acquire_options& o,
                                                                  E&&... ending)
  const { return take_share(detail::within(d), &o, ending...); }
  template <class R, class P>
  lease try_acquire_shared_for(std::chrono::duration<R, P> d, const acquire_options& o,
                               std::stop_token s, std::error_code& ec) const {
    return take_share(detail::within(d), &o, std::move(s), ec);
  }
  template <class C, class D, class... E>
  requires detail::call_ending<E...> lease try_acquire_shared_until(std::chrono::time_point<C, D> t,
                                                                    E&&... ending)
  const { return take_share(detail::within(detail::left_until(t)), nullptr, ending...); }
  template <class C, class D, class... E>
  requires detail::call_ending<E...> lease try_acquire_shared_until(std::chrono::time_point<C, D> t,
                                                                    const acquire_options& o,
                                                                    E&&... ending)
  const { return take_share(detail::within(detail::left_until(t)), &o, ending...); }
  template <class C, class D>
  lease try_acquire_shared_until(std::chrono::time_point<C, D> t, const acquire_options& o,
                                 std::stop_token s, std::error_code& ec) const {
    return take_share(detail::within(detail::left_until(t)), &o, std::move(s), ec);
  }

  // The same without blocking, for Boost.Asio; include holdfast/asio.hpp, which documents them.
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_acquire_shared(Token&&... token) const {
    return start_share(detail::wait_bound::forever(), nullptr, std::forward<Token>(token)...);
  }
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_acquire_shared(const acquire_options& o, Token&&... token) const {
    return start_share(detail::wait_bound::forever(), &o, std::forward<Token>(token)...);
  }
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_shared(Token&&... token) const {
    return start_share(detail::wait_bound::one_attempt(), nullptr, std::forward<Token>(token)...);
  }
  template <class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_shared(const acquire_options& o, Token&&... token) const {
    return start_share(detail::wait_bound::one_attempt(), &o, std::forward<Token>(token)...);
  }
  template <class R, class P, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_shared_for(std::chrono::duration<R, P> d, Token&&... token) const {
    return start_share(detail::within(d), nullptr, std::forward<Token>(token)...);
  }
  template <class R, class P, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_shared_for(std::chrono::duration<R, P> d, const acquire_options& o,
                                    Token&&... token) const {
    return start_share(detail::within(d), &o, std::forward<Token>(token)...);
  }
  template <class C, class D, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_shared_until(std::chrono::time_point<C, D> t, Token&&... token) const {
    return start_share(detail::within(detail::left_until(t)), nullptr,
                       std::forward<Token>(token)...);
  }
  template <class C, class D, class... Token>
  requires detail::perhaps_a_token<Token...>
  auto async_try_acquire_shared_until(std::chrono::time_point<C, D> t, const acquire_options& o,
                                      Token&&... token) const {
    return start_share(detail::within(detail::left_until(t)), &o, std::forward<Token>(token)...);
  }

  // Turns a writer's lease into a share with the same token: readers are admitted, and no other
  // writer can have held the lock in between. Readers of other processes are admitted where the
  // backend supports it, else when this process has released the lock.
  //
  // Returns the lease; with an error an empty one, and `mine` stays as it was.
  // errc::lost         `mine` was lost
  // errc::not_held     `mine` is empty
  // errc::mismatch     `mine` is a lease of another lock, or a share already
  // errc::unsupported  the backend has no shares
  // errc::forked       `mine` was made before fork(), and this is the child
  // errc::closed       the client was closed
  // Does not block.
  lease downgrade(lease&& mine) const { return downgrade_impl(std::move(mine), nullptr); }
  lease downgrade(lease&& mine, std::error_code& ec) const {
    return downgrade_impl(std::move(mine), &ec);
  }

  // The same for a writer that locked with std::unique_lock: the returned lock is a reader's.
  //
  // mine  owns this object; afterwards it owns nothing. With an error it stays as it was
  // errc::not_held  also when `mine` does not own this object
  // The other errors, and blocking, as above. For the thread that locked.
  [[nodiscard]] std::shared_lock<shared_mutex> downgrade(std::unique_lock<shared_mutex>&& mine) {
    return lock_down(mine, nullptr);
  }
  [[nodiscard]] std::shared_lock<shared_mutex> downgrade(std::unique_lock<shared_mutex>&& mine,
                                                         std::error_code& ec) {
    return lock_down(mine, &ec);
  }

  // SharedLockable and SharedTimedLockable, for std::shared_lock. As in std, the thread that locked
  // a share unlocks it; a thread that ends releases its shares. The try_ forms return false when
  // the lock is busy, and when the calling thread holds this object exclusively.
  //
  // errc::would_self_deadlock  of lock_shared() only: the calling thread holds this object
  //                            exclusively
  // The others are those of acquire_shared() and the try_ verbs, except errc::canceled.
  // Block as those; unlock_shared() does not block.
  void lock_shared() HOLDFAST_LOCKS_SHARED { lock_shared_within(detail::wait_bound::forever()); }
  [[nodiscard]] bool try_lock_shared() HOLDFAST_TRIES_SHARED {
    return lock_shared_within(detail::wait_bound::one_attempt());
  }
  // The lease behind lock_shared() of the calling thread: its token, its loss signal. Empty when
  // the thread has none. Valid until the thread unlocks the share. The first call after a
  // lock_shared() allocates memory.
  const lease& current_shared() const { return current_share(); }
  void unlock_shared() noexcept HOLDFAST_UNLOCKS_SHARED { unlock_shared_of_this_thread(); }
  template <class R, class P>
  [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<R, P> d) HOLDFAST_TRIES_SHARED {
    return lock_shared_within(detail::within(d));
  }
  template <class C, class D>
  [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<C, D> t) HOLDFAST_TRIES_SHARED {
    return try_lock_shared_for(detail::left_until(t));
  }

 private:
  std::shared_lock<shared_mutex> lock_down(std::unique_lock<shared_mutex>& mine,
                                           std::error_code* ec);
  template <class... E>
  lease take_share(detail::wait_bound b, const acquire_options* o, E&&... ending) const {
    return lockable_base::acquire_impl(lock_mode::shared,
                                       detail::acquire_call(b, o).with(ending...));
  }
  template <class... Token>
  auto start_share(detail::wait_bound b, const acquire_options* o, Token&&... token) const {
    return start_acquire_as(lock_mode::shared, *this, b, o, std::forward<Token>(token)...);
  }
};

}  // namespace v0
}  // namespace holdfast
