// What the lockable types share. Not for users to name or to derive from.
#pragma once
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

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

struct wait_bound {  // how long a verb waits
  enum class kind : unsigned char { forever, one_attempt, within } what = kind::forever;
  std::chrono::nanoseconds most{};

  static wait_bound forever() noexcept { return {}; }
  static wait_bound one_attempt() noexcept { return {kind::one_attempt, {}}; }
  static wait_bound within(std::chrono::nanoseconds d) noexcept {
    return d <= d.zero() ? one_attempt() : wait_bound{kind::within, d};
  }
  bool is_try() const noexcept { return what != kind::forever; }
};

template <class Rep, class Period>
std::chrono::nanoseconds to_nanoseconds(std::chrono::duration<Rep, Period> d) noexcept {
  using seconds = std::chrono::duration<double>;
  constexpr auto most = std::chrono::nanoseconds::max();
  if (std::chrono::duration_cast<seconds>(d) >= std::chrono::duration_cast<seconds>(most))
    return most;
  if (d <= d.zero()) return {};
  return std::chrono::ceil<std::chrono::nanoseconds>(d);
}

template <class Clock, class Duration>
std::chrono::nanoseconds left_until(const std::chrono::time_point<Clock, Duration>& t) noexcept {
  const auto now = Clock::now();
  return t <= now ? std::chrono::nanoseconds{} : to_nanoseconds(t - now);
}

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
  friend class together;
  lockable_base(const client&, std::string_view name, lock_kind);
  lockable_base(lockable_base&&) noexcept;
  lockable_base& operator=(lockable_base&&) noexcept;
  ~lockable_base();  // terminates when locked: with std::mutex that is undefined

  // `size` is sizeof(acquire_options) as the caller knows it, so that members can be added.
  lease take(lock_mode, const acquire_options&, std::size_t size, wait_bound, std::stop_token,
             std::error_code*) const;
  lease take_again(const lease& mine) const;
  lease take_down(lease&& exclusive) const;
  bool lock_within(wait_bound);
  void unlock_current() noexcept;
  bool lock_shared_within(wait_bound);
  void unlock_shared_of_this_thread() noexcept;
  const lease& current_lease() const noexcept;
  std::uint32_t permits_in_all() const noexcept;

 private:
  turn& turn_of(const lease& mine, std::string_view operation) const;
  std::unique_ptr<lockable_state> state_;
};

}  // namespace detail

// The verbs of a lock: `acquire` waits, `try_acquire` makes one attempt, `_for` and `_until` wait
// at most so long. A stop_token ends a wait, never a held lease; who is stopped before he asks
// makes one attempt, as with std::condition_variable_any, and gets the lock if it is free.
//   throwing form    : acquire throws lock_error when not granted; try_ verbs come back empty when
//                      busy, timed out or stopped, and throw when broken
//   error_code& form : ec is set exactly when the throwing form throws, else cleared
// A bound shorter than ?op-timeout= may pass before a silent backend counts as broken: then it is
// busy. Safe from any thread.
template <lock_mode mode>
class acquirable : public detail::lockable_base {
 public:
  lease acquire(const acquire_options& o = {}, std::stop_token s = {}) const {
    return take(mode, o, sizeof o, detail::wait_bound::forever(), std::move(s), nullptr);
  }
  lease acquire(const acquire_options& o, std::stop_token s, std::error_code& ec) const {
    return take(mode, o, sizeof o, detail::wait_bound::forever(), std::move(s), &ec);
  }
  lease try_acquire(const acquire_options& o = {}) const {
    return take(mode, o, sizeof o, detail::wait_bound::one_attempt(), {}, nullptr);
  }
  lease try_acquire(const acquire_options& o, std::error_code& ec) const {
    return take(mode, o, sizeof o, detail::wait_bound::one_attempt(), {}, &ec);
  }
  template <class R, class P>
  lease try_acquire_for(std::chrono::duration<R, P> d, const acquire_options& o = {},
                        std::stop_token s = {}) const {
    const auto bound = detail::wait_bound::within(detail::to_nanoseconds(d));
    return take(mode, o, sizeof o, bound, std::move(s), nullptr);
  }
  template <class R, class P>
  lease try_acquire_for(std::chrono::duration<R, P> d, const acquire_options& o, std::stop_token s,
                        std::error_code& ec) const {
    const auto bound = detail::wait_bound::within(detail::to_nanoseconds(d));
    return take(mode, o, sizeof o, bound, std::move(s), &ec);
  }
  template <class C, class D>
  lease try_acquire_until(std::chrono::time_point<C, D> t, const acquire_options& o = {},
                          std::stop_token s = {}) const {
    return try_acquire_for(detail::left_until(t), o, std::move(s));
  }
  template <class C, class D>
  lease try_acquire_until(std::chrono::time_point<C, D> t, const acquire_options& o,
                          std::stop_token s, std::error_code& ec) const {
    return try_acquire_for(detail::left_until(t), o, std::move(s), ec);
  }

  // The same without blocking, for Boost.Asio: holdfast/asio.hpp, which defines them.
  template <class Token>
  auto async_acquire(Token&& token) const;
  template <class Token>
  auto async_acquire(const acquire_options& o, Token&& token) const;
  template <class Token>
  auto async_try_acquire(const acquire_options& o, Token&& token) const;
  template <class R, class P, class Token>
  auto async_try_acquire_for(std::chrono::duration<R, P> d, const acquire_options& o,
                             Token&& token) const;

 protected:
  using lockable_base::lockable_base;
  acquirable(acquirable&&) noexcept = default;
  acquirable& operator=(acquirable&&) noexcept = default;
  ~acquirable() = default;
};

// A lock that one may hold alone.
class exclusive_lockable : public acquirable<lock_mode::exclusive> {
 public:
  // Lockable and TimedLockable, for std::lock_guard, unique_lock, scoped_lock and
  // condition_variable_any. The object stays occupied from lock() to its own unlock(), whether the
  // lease is lost or not, so that a stale holder can never unlock its successor. lock() throws
  // lock_error; try_lock and its timed forms are false when busy and throw when broken.
  void lock() { lock_within(detail::wait_bound::forever()); }
  bool try_lock() { return lock_within(detail::wait_bound::one_attempt()); }
  void unlock() noexcept { unlock_current(); }
  template <class R, class P>
  bool try_lock_for(std::chrono::duration<R, P> d) {
    return lock_within(detail::wait_bound::within(detail::to_nanoseconds(d)));
  }
  template <class C, class D>
  bool try_lock_until(std::chrono::time_point<C, D> t) {
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
