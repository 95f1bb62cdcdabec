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

  // Extends all of them, as lease::extend(), whatever becomes of the others, and reports the first
  // fault. All are requested before the first answer is awaited, in one write where the store is
  // one: a store that does not answer takes one op-timeout in all.
  void extend(std::chrono::milliseconds ttl);
  void extend(std::chrono::milliseconds ttl, std::error_code&);
  // Gives all back and reports the first fault, as lease::release().
  void release();
  void release(std::error_code&) noexcept;
  void unlock() noexcept;

  // The same without blocking, for Boost.Asio: see holdfast/asio.hpp, which these need.
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
  std::unique_ptr<watch> watch_;  // before the members are given back it is gone
};

namespace detail {

// The library's side of multi_mutex. Not for users to name.
class multi_access {
 public:
  static lease_set take(std::span<exclusive_lockable* const>, acquire_call);
  static std::error_code release(std::vector<lease>&) noexcept;
  static void extend(std::span<const lease>, std::chrono::milliseconds ttl, std::error_code*);
  static void refuse_none_or_twins(std::span<exclusive_lockable* const>);
  static std::vector<std::pair<local_lock*, acquire_options>> asked_of(
      std::span<exclusive_lockable* const>, const acquire_call&);
  static lease_set set_of(multi_acquire&);
  static std::vector<lease> members_of(lease_set&&) noexcept;
  static const std::vector<exclusive_lockable*>& locks_of(const multi_mutex&) noexcept;
};

}  // namespace detail

// Refers to its locks, which must outlive it: mutexes, shared and recursive ones, of any clients.
// All or nothing. They are taken in one step where they are in one place that can do it and are
// free; else one after the other in the order of (name, backend), whatever the order given, so that
// two of them never wait for each other; all programs must spell a backend's URL alike, but for its
// options. Throws errc::bad_option when there is none or the same one twice.
//
// The verbs of every lock (lockable.hpp), for all at once: acquire, try_acquire, their timed and
// async forms; each gives a lease_set. The options hold for each of the locks; what they leave
// unset comes from each lock's own defaults.
class multi_mutex final : public detail::acquire_verbs<multi_mutex, lease_set> {
 public:
  template <class... Locks>
  explicit multi_mutex(Locks&... locks) : members_{&locks...} {
    check();
  }
  explicit multi_mutex(std::vector<exclusive_lockable*> locks) : members_(std::move(locks)) {
    check();
  }

  // Lockable and TimedLockable. For one thread at a time: what is locked is in this object.
  // lock() of one that is locked throws errc::would_self_deadlock, the try_ forms are false.
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
  const lease_set& current() const noexcept { return current_; }

 private:
  friend class detail::acquire_verbs<multi_mutex, lease_set>;
  friend class detail::multi_access;
  void check() const;
  bool lock_within(detail::wait_bound);
  lease_set take(detail::acquire_call) const;
  std::vector<exclusive_lockable*> members_;
  lease_set current_;
};

}  // namespace v0
}  // namespace holdfast
