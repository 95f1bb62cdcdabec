// Several locks as one.
#pragma once
#include <holdfast/lockable.hpp>

#include <chrono>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// The leases of several locks, held and given back together. There is no token of all: pass each
// resource that of its own member. As lease, one object is for one thread at a time but for the
// const members.
class [[nodiscard]] lease_set {
 public:
  lease_set() noexcept;
  lease_set(lease_set&&) noexcept;
  lease_set& operator=(lease_set&&) noexcept;  // unlock()s what it had
  ~lease_set();

  explicit operator bool() const noexcept { return !members_.empty(); }
  bool held() const noexcept;  // all are
  void check() const;          // throws for the first that is not held, as lease::check()
  std::error_code status() const noexcept;
  // Requested when the first of them is.
  std::stop_token doubtful() const;
  std::stop_token lost() const;
  lease_clock::time_point expires() const noexcept;                     // the earliest
  std::span<const lease> members() const noexcept { return members_; }  // in the caller's order

  // Extends one after the other, as lease::extend(), whatever became of those before it, and
  // reports the first fault. A store that does not answer takes an op-timeout for each.
  void extend(std::chrono::milliseconds ttl);
  void extend(std::chrono::milliseconds ttl, std::error_code&);
  // Gives all back and reports the first fault, as lease::release().
  void release();
  void release(std::error_code&) noexcept;
  template <class Token>
  auto async_release(Token&& token);  // the same without blocking: holdfast/asio.hpp
  void unlock() noexcept;

 private:
  friend class detail::together;
  enum class signal : unsigned char { doubt, loss };
  struct watch;
  std::stop_token first_of(signal) const;
  std::vector<lease> members_;
  std::unique_ptr<watch> watch_;  // before the members are given back it is gone
};

namespace detail {

// The library's side of multi_mutex. Not for users to name.
class together {
 public:
  static lease_set take(std::span<exclusive_lockable* const>, const acquire_options&,
                        std::size_t size, wait_bound, std::stop_token, std::error_code*);
  static std::error_code release(std::vector<lease>&) noexcept;
  static void refuse_none_or_twins(std::span<exclusive_lockable* const>);
  static std::vector<slot*> homes_of(std::span<exclusive_lockable* const>);
  static lease_set set_of(several&);
  static std::vector<lease> members_of(lease_set&&) noexcept;
};

}  // namespace detail

// Refers to its locks, which must outlive it: mutexes, shared and recursive ones, of any clients.
// All or nothing. They are taken in one step where they are in one place that can do it and are
// free; else one after the other in the order of (name, backend), whatever the order given, so that
// two of them never wait for each other; all programs must spell a backend's URL alike, but for its
// options. Throws errc::bad_option when there is none or the same one twice.
class multi_mutex final {
 public:
  template <class... Locks>
  explicit multi_mutex(Locks&... locks) : members_{&locks...} {
    check();
  }
  explicit multi_mutex(std::vector<exclusive_lockable*> locks) : members_(std::move(locks)) {
    check();
  }

  // The verbs of every lock (lockable.hpp), for all at once; the options hold for each.
  lease_set acquire(const acquire_options& o = {}, std::stop_token s = {}) const {
    return take(o, detail::wait_bound::forever(), std::move(s), nullptr);
  }
  lease_set acquire(const acquire_options& o, std::stop_token s, std::error_code& ec) const {
    return take(o, detail::wait_bound::forever(), std::move(s), &ec);
  }
  lease_set try_acquire(const acquire_options& o = {}) const {
    return take(o, detail::wait_bound::one_attempt(), {}, nullptr);
  }
  lease_set try_acquire(const acquire_options& o, std::error_code& ec) const {
    return take(o, detail::wait_bound::one_attempt(), {}, &ec);
  }
  template <class R, class P>
  lease_set try_acquire_for(std::chrono::duration<R, P> d, const acquire_options& o = {},
                            std::stop_token s = {}) const {
    return take(o, detail::wait_bound::within(detail::to_nanoseconds(d)), std::move(s), nullptr);
  }
  template <class R, class P>
  lease_set try_acquire_for(std::chrono::duration<R, P> d, const acquire_options& o,
                            std::stop_token s, std::error_code& ec) const {
    return take(o, detail::wait_bound::within(detail::to_nanoseconds(d)), std::move(s), &ec);
  }

  // The same without blocking, for Boost.Asio: holdfast/asio.hpp, which defines them.
  template <class Token>
  auto async_acquire(const acquire_options& o, Token&& token) const;
  template <class Token>
  auto async_acquire(Token&& token) const;
  template <class Token>
  auto async_try_acquire(const acquire_options& o, Token&& token) const;
  template <class R, class P, class Token>
  auto async_try_acquire_for(std::chrono::duration<R, P> d, const acquire_options& o,
                             Token&& token) const;

  // Lockable. For one thread at a time: what is locked is in this object.
  // lock() of one that is locked throws errc::would_self_deadlock, try_lock() is false.
  void lock();
  bool try_lock();
  void unlock() noexcept { current_.unlock(); }
  const lease_set& current() const noexcept { return current_; }

 private:
  void check() const;
  lease_set take(const acquire_options&, detail::wait_bound, std::stop_token,
                 std::error_code*) const;
  std::vector<exclusive_lockable*> members_;
  lease_set current_;
};

}  // namespace v0
}  // namespace holdfast
