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
  // Throws bad_name and, for defaults that no acquire of it can have, bad_option or unsupported.
  shared_mutex(const client& c, std::string_view name, const acquire_options& defaults = {})
      : exclusive_lockable(c, name, {}, defaults, sizeof defaults) {}
  shared_mutex(shared_mutex&&) noexcept = default;
  shared_mutex& operator=(shared_mutex&&) noexcept = default;

  // As the verbs without _shared (lockable.hpp), for a share.
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

  // The same without blocking, for Boost.Asio: see holdfast/asio.hpp, which these need.
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

  // Makes a share of a writer's lease, at once and under the same token: readers are let in, no
  // other writer was in between. Readers of other processes follow where the backend can do it,
  // else once this process has given the lock back. Throws unless mine.held(): errc::lost,
  // not_held; mismatch when it is a lease of another lock or a share: then it stays as it was.
  lease downgrade(lease&& mine) const { return take_down(std::move(mine), nullptr); }
  lease downgrade(lease&& mine, std::error_code& ec) const {
    return take_down(std::move(mine), &ec);
  }

  // SharedLockable and SharedTimedLockable, for std::shared_lock. As in std, a thread that holds
  // a share gives it back itself. lock_shared() throws lock_error; the try_ forms are false when
  // busy and throw when broken.
  void lock_shared() { lock_shared_within(detail::wait_bound::forever()); }
  [[nodiscard]] bool try_lock_shared() {
    return lock_shared_within(detail::wait_bound::one_attempt());
  }
  void unlock_shared() noexcept { unlock_shared_of_this_thread(); }
  template <class R, class P>
  [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<R, P> d) {
    return lock_shared_within(detail::within(d));
  }
  template <class C, class D>
  [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<C, D> t) {
    return try_lock_shared_for(detail::left_until(t));
  }

 private:
  template <class... E>
  lease take_share(detail::wait_bound b, const acquire_options* o, E&&... ending) const {
    return lockable_base::take(lock_mode::shared, detail::acquire_call(b, o).with(ending...));
  }
  template <class... Token>
  auto start_share(detail::wait_bound b, const acquire_options* o, Token&&... token) const {
    return start_acquire_as(lock_mode::shared, *this, b, o, std::forward<Token>(token)...);
  }
};

}  // namespace v0
}  // namespace holdfast
