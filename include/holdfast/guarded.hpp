// A resource that can be used only through a live lease, with its fencing token.
#pragma once
#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include <concepts>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

namespace detail {
struct use_refusal {
  std::error_code code{};  // none: the use is permitted
  std::string_view text{};
};
// Raises last_token to that of a lease whose use is permitted.
HOLDFAST_API use_refusal check_use(const lease& by, std::string_view lock,
                                   std::int64_t& last_token) noexcept;
}  // namespace detail

// The proof that a write comes from a live lease: its fencing token and owner id. Only
// guarded<T>::with() makes one, and it cannot be copied or kept. A resource whose writing functions
// take a `const fence&` therefore has no unfenced write that compiles.
//
//   struct ledger {
//     bool book(int cents, const hf::fence& by);  // UPDATE ... SET token = ? WHERE token <= ?
//   };
//
// Valid during the call of with(). Not for several threads.
class fence {
 public:
  fence(const fence&) = delete;
  fence& operator=(const fence&) = delete;

  // lease::token(), 1 to 2^63-1.
  std::int64_t token() const noexcept { return by_.token(); }
  // lease::owner().
  std::string owner() const { return by_.owner(); }
  // The lease itself: for redis_guard, zookeeper_guard and mysql_guard.
  const lease& holder() const noexcept { return by_; }

 private:
  template <class T>
  friend class guarded;
  explicit fence(const lease& by) noexcept : by_(by) {}
  const lease& by_;
};

// A function that guarded<T>::with() can call. It takes the resource and the fence, and returns
// neither a reference nor a pointer to the resource, which would outlive the check.
template <class F, class T>
concept fenced_use =
    std::invocable<F, T&, const fence&> &&
    !std::is_reference_v<std::invoke_result_t<F, T&, const fence&>> &&
    !std::convertible_to<std::invoke_result_t<F, T&, const fence&>, const volatile T*>;

// A resource that only the holder of one lock can use: a connection to a database, a device, a
// table in memory. with() checks the lease and calls a function with the resource and the fence.
//
//   hf::guarded<ledger> accounts("accounts", connection);   // "accounts" is the name of the lock
//   const hf::lease lease = client.mutex("accounts").acquire();
//   const bool booked =
//       accounts.with(lease, [](ledger& l, const hf::fence& by) { return l.book(500, by); });
//
//   use                                             | result
//   ------------------------------------------------+----------------------------------------------
//   without a lease, or by a function that does not | does not compile
//   take the fence                                  |
//   with a lease that is lost, in doubt, empty, of  | lock_error; the function is not called
//   another lock, shared, or without a token        |
//   with a lease that is older than one seen before | lock_error; the function is not called
//   with a live lease                               | the result of the function
//
// Guarantee: calls through one object never overlap, and none with an earlier lease follows one
// with a later lease. Limit: that is inside one process. The lease can be lost while the function
// runs, and holders in other processes have objects of their own. Only the resource itself can
// refuse such a late write, so it must check the token (docs/guides/fencing.md).
//
// Thread safety: with() is safe to call from any thread; the function runs under a std::mutex of
// this object, so it must not call with() of the same object. Neither copyable nor movable.
template <class T>
class guarded {
 public:
  // lock      the name of the lock whose leases give access
  // resource  the arguments of T's constructor
  // Throws what that constructor throws.
  template <class... A>
  requires std::constructible_from<T, A...>
  explicit guarded(std::string_view lock, A&&... resource)
      : lock_(lock), resource_(std::forward<A>(resource)...) {}
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;

  // Calls f(resource, fence) if the lease is held and not in doubt.
  //
  // by  an exclusive lease of this object's lock; the caller keeps it during the call
  // f   takes (T&, const fence&); what it throws leaves with()
  // Returns what f returns; with a std::error_code& a std::optional of it, or whether f was called
  // if it returns void.
  // errc::lost         the lease was lost, or a later holder has used the resource: acquire again
  // errc::unavailable  the lease is in doubt: no renewal was confirmed in time. Passes when one is
  //                    confirmed; else the lease is lost
  // errc::mismatch     the lease is of another lock, or it is a share or a permit: several of these
  //                    are valid at once
  // errc::unsupported  the lease has no token (features().tokens is false)
  // errc::not_held     the lease is empty
  // errc::closed       the client was closed
  // errc::forked       the lease was made before fork(), and this is the child
  // Blocks while another thread is in with(), and for as long as f does.
  template <fenced_use<T> F>
  auto with(const lease& by, F&& f) {
    const std::lock_guard guard(mutex_);
    if (const auto why = detail::check_use(by, lock_, last_token_); why.code)
      throw lock_error(why.code, {"with", lock_, {}, std::string(why.text)});
    return std::forward<F>(f)(resource_, fence(by));
  }
  template <fenced_use<T> F>
  auto with(const lease& by, F&& f, std::error_code& ec) {
    using result = std::invoke_result_t<F, T&, const fence&>;
    const std::lock_guard guard(mutex_);
    ec = detail::check_use(by, lock_, last_token_).code;
    if constexpr (std::is_void_v<result>) {
      if (!ec) std::forward<F>(f)(resource_, fence(by));
      return !ec;
    } else {
      if (ec) return std::optional<result>();
      return std::optional<result>(std::forward<F>(f)(resource_, fence(by)));
    }
  }

  // The name of the lock.
  std::string_view name() const noexcept { return lock_; }

 private:
  const std::string lock_;
  std::mutex mutex_;  // guards everything below
  std::int64_t last_token_ = 0;
  T resource_;
};

}  // namespace v0
}  // namespace holdfast
