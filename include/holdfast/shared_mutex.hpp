// The distributed lock in the shape of std::shared_timed_mutex.
#pragma once
#include <holdfast/lockable.hpp>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// Held by one writer, as mutex (a mutex is a shared_mutex that nobody shares: on one name they
// exclude each other), or by any number of readers. Who waits is served in the order of arrival as
// far as the backend keeps one, and a writer that waits lets no later reader in. There is no way
// from a share to the exclusive lock but to give it back and to wait like all others.
//
// All readers that hold it together have the same fencing token and, at a guard, the same owner.
// Those of one process share what it holds at the backend: the first asks for it, the others are
// let in without it. Share ONE object between threads, as with std::shared_mutex. Where a backend
// has no shares (features().shared), the shared verbs fail with errc::unsupported.
class shared_mutex final : public exclusive_lockable {
 public:
  shared_mutex(const client& c, std::string_view name) : exclusive_lockable(c, name, {}) {}
  shared_mutex(shared_mutex&&) noexcept = default;
  shared_mutex& operator=(shared_mutex&&) noexcept = default;

  // As the verbs without _shared, for a share.
  lease acquire_shared(const acquire_options& o = {}, std::stop_token s = {}) const {
    return take_shared(o, detail::wait_bound::forever(), std::move(s), nullptr);
  }
  lease acquire_shared(const acquire_options& o, std::stop_token s, std::error_code& ec) const {
    return take_shared(o, detail::wait_bound::forever(), std::move(s), &ec);
  }
  lease try_acquire_shared(const acquire_options& o = {}) const {
    return take_shared(o, detail::wait_bound::one_attempt(), {}, nullptr);
  }
  lease try_acquire_shared(const acquire_options& o, std::error_code& ec) const {
    return take_shared(o, detail::wait_bound::one_attempt(), {}, &ec);
  }
  template <class R, class P>
  lease try_acquire_shared_for(std::chrono::duration<R, P> d, const acquire_options& o = {},
                               std::stop_token s = {}) const {
    return take_shared(o, within(d), std::move(s), nullptr);
  }
  template <class R, class P>
  lease try_acquire_shared_for(std::chrono::duration<R, P> d, const acquire_options& o,
                               std::stop_token s, std::error_code& ec) const {
    return take_shared(o, within(d), std::move(s), &ec);
  }
  template <class C, class D>
  lease try_acquire_shared_until(std::chrono::time_point<C, D> t, const acquire_options& o = {},
                                 std::stop_token s = {}) const {
    return try_acquire_shared_for(detail::left_until(t), o, std::move(s));
  }
  template <class C, class D>
  lease try_acquire_shared_until(std::chrono::time_point<C, D> t, const acquire_options& o,
                                 std::stop_token s, std::error_code& ec) const {
    return try_acquire_shared_for(detail::left_until(t), o, std::move(s), ec);
  }

  // The same without blocking, for Boost.Asio: holdfast/asio.hpp, which defines them.
  template <class Token>
  auto async_acquire_shared(Token&& token) const;
  template <class Token>
  auto async_acquire_shared(const acquire_options& o, Token&& token) const;
  template <class Token>
  auto async_try_acquire_shared(const acquire_options& o, Token&& token) const;
  template <class R, class P, class Token>
  auto async_try_acquire_shared_for(std::chrono::duration<R, P> d, const acquire_options& o,
                                    Token&& token) const;

  // Makes a share of a writer's lease, at once and under the same token: readers are let in, no
  // other writer was in between. Readers of other processes follow where the backend can do it,
  // else once this process has given the lock back. Throws unless mine.held(): errc::lost,
  // not_held; mismatch when it is a lease of another lock or a share: then it stays as it was.
  lease downgrade(lease&& mine) const { return take_down(std::move(mine)); }

  // SharedLockable and SharedTimedLockable, for std::shared_lock. As in std, a thread that holds
  // a share gives it back itself. lock_shared() throws lock_error; the try_ forms are false when
  // busy and throw when broken.
  void lock_shared() { lock_shared_within(detail::wait_bound::forever()); }
  bool try_lock_shared() { return lock_shared_within(detail::wait_bound::one_attempt()); }
  void unlock_shared() noexcept { unlock_shared_of_this_thread(); }
  template <class R, class P>
  bool try_lock_shared_for(std::chrono::duration<R, P> d) {
    return lock_shared_within(within(d));
  }
  template <class C, class D>
  bool try_lock_shared_until(std::chrono::time_point<C, D> t) {
    return try_lock_shared_for(detail::left_until(t));
  }

 private:
  template <class R, class P>
  static detail::wait_bound within(std::chrono::duration<R, P> d) noexcept {
    return detail::wait_bound::within(detail::to_nanoseconds(d));
  }
  lease take_shared(const acquire_options& o, detail::wait_bound bound, std::stop_token s,
                    std::error_code* ec) const {
    return take(lock_mode::shared, o, sizeof o, bound, std::move(s), ec);
  }
};

}  // namespace v0
}  // namespace holdfast
