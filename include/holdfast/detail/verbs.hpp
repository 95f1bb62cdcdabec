// The verbs that every lock has; lockable.hpp documents them. Not for users to name.
#pragma once
#include <holdfast/detail/export.hpp>
#include <holdfast/options.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <stop_token>
#include <system_error>
#include <type_traits>
#include <utility>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

// The time limit of a verb.
struct wait_bound {
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

template <class Rep, class Period>
wait_bound within(std::chrono::duration<Rep, Period> d) noexcept {
  return wait_bound::within(to_nanoseconds(d));
}

// The arguments of one call of a verb.
struct acquire_call {
  wait_bound bound;
  const acquire_options* options = nullptr;  // null: the caller gave none
  // The size of the caller's acquire_options, so that members can be added in a later version.
  std::size_t options_size = sizeof(acquire_options);
  std::stop_token stop{};
  std::error_code* ec = nullptr;  // null: the throwing form

  acquire_call(wait_bound b, const acquire_options* o) noexcept : bound(b), options(o) {}
  acquire_call&& with() && noexcept { return std::move(*this); }
  acquire_call&& with(std::error_code& to) && noexcept {
    ec = &to;
    return std::move(*this);
  }
  acquire_call&& with(std::stop_token s) && noexcept {
    stop = std::move(s);
    return std::move(*this);
  }
  acquire_call&& with(std::stop_token s, std::error_code& to) && noexcept {
    ec = &to;
    return std::move(*this).with(std::move(s));
  }
};

// The arguments that may follow the options of a verb: a stop_token, a std::error_code, both, or
// none.
template <class... E>
concept call_ending = requires(acquire_call c, E&&... e) {
  std::move(c).with(std::forward<E>(e)...);
};

// No argument, or one that may be a completion token of Boost.Asio: this header cannot know them.
template <class... T>
concept perhaps_a_token = sizeof...(T) <= 1 &&
                          (!std::same_as<std::remove_cvref_t<T>, acquire_options> && ...) &&
                          (!std::same_as<std::remove_cvref_t<T>, open_options> && ...);

// Gives `Lock` its verbs, each of which returns a `Lease`. `Lock` provides
// acquire_impl(acquire_call), and holdfast/asio.hpp provides start_acquire(lock, bound, options,
// tokens...), which is found by argument-dependent lookup.
template <class Lock, class Lease>
class acquire_verbs {
 public:
  template <class... E>
  requires call_ending<E...> Lease acquire(E&&... ending)
  const { return acquire_impl(wait_bound::forever(), nullptr, ending...); }
  template <class... E>
  requires call_ending<E...> Lease acquire(const acquire_options& o, E&&... ending)
  const { return acquire_impl(wait_bound::forever(), &o, ending...); }
  Lease acquire(const acquire_options& o, std::stop_token s, std::error_code& ec) const {
    return acquire_impl(wait_bound::forever(), &o, std::move(s), ec);
  }

  template <class... E>
  requires call_ending<E...> Lease try_acquire(E&&... ending)
  const { return acquire_impl(wait_bound::one_attempt(), nullptr, ending...); }
  template <class... E>
  requires call_ending<E...> Lease try_acquire(const acquire_options& o, E&&... ending)
  const { return acquire_impl(wait_bound::one_attempt(), &o, ending...); }
  Lease try_acquire(const acquire_options& o, std::stop_token s, std::error_code& ec) const {
    return acquire_impl(wait_bound::one_attempt(), &o, std::move(s), ec);
  }

  template <class R, class P, class... E>
  requires call_ending<E...> Lease try_acquire_for(std::chrono::duration<R, P> d, E&&... ending)
  const { return acquire_impl(within(d), nullptr, ending...); }
  template <class R, class P, class... E>
  requires call_ending<E...> Lease try_acquire_for(std::chrono::duration<R, P> d,
                                                   const acquire_options& o, E&&... ending)
  const { return acquire_impl(within(d), &o, ending...); }
  template <class R, class P>
  Lease try_acquire_for(std::chrono::duration<R, P> d, const acquire_options& o, std::stop_token s,
                        std::error_code& ec) const {
    return acquire_impl(within(d), &o, std::move(s), ec);
  }

  template <class C, class D, class... E>
  requires call_ending<E...> Lease try_acquire_until(std::chrono::time_point<C, D> t, E&&... ending)
  const { return acquire_impl(within(left_until(t)), nullptr, ending...); }
  template <class C, class D, class... E>
  requires call_ending<E...> Lease try_acquire_until(std::chrono::time_point<C, D> t,
                                                     const acquire_options& o, E&&... ending)
  const { return acquire_impl(within(left_until(t)), &o, ending...); }
  template <class C, class D>
  Lease try_acquire_until(std::chrono::time_point<C, D> t, const acquire_options& o,
                          std::stop_token s, std::error_code& ec) const {
    return acquire_impl(within(left_until(t)), &o, std::move(s), ec);
  }

  // The same without blocking, for Boost.Asio; include holdfast/asio.hpp, which documents them.
  template <class... Token>
  requires perhaps_a_token<Token...>
  auto async_acquire(Token&&... token) const {
    return start(wait_bound::forever(), nullptr, std::forward<Token>(token)...);
  }
  template <class... Token>
  requires perhaps_a_token<Token...>
  auto async_acquire(const acquire_options& o, Token&&... token) const {
    return start(wait_bound::forever(), &o, std::forward<Token>(token)...);
  }
  template <class... Token>
  requires perhaps_a_token<Token...>
  auto async_try_acquire(Token&&... token) const {
    return start(wait_bound::one_attempt(), nullptr, std::forward<Token>(token)...);
  }
  template <class... Token>
  requires perhaps_a_token<Token...>
  auto async_try_acquire(const acquire_options& o, Token&&... token) const {
    return start(wait_bound::one_attempt(), &o, std::forward<Token>(token)...);
  }
  template <class R, class P, class... Token>
  requires perhaps_a_token<Token...>
  auto async_try_acquire_for(std::chrono::duration<R, P> d, Token&&... token) const {
    return start(within(d), nullptr, std::forward<Token>(token)...);
  }
  template <class R, class P, class... Token>
  requires perhaps_a_token<Token...>
  auto async_try_acquire_for(std::chrono::duration<R, P> d, const acquire_options& o,
                             Token&&... token) const {
    return start(within(d), &o, std::forward<Token>(token)...);
  }
  template <class C, class D, class... Token>
  requires perhaps_a_token<Token...>
  auto async_try_acquire_until(std::chrono::time_point<C, D> t, Token&&... token) const {
    return start(within(left_until(t)), nullptr, std::forward<Token>(token)...);
  }
  template <class C, class D, class... Token>
  requires perhaps_a_token<Token...>
  auto async_try_acquire_until(std::chrono::time_point<C, D> t, const acquire_options& o,
                               Token&&... token) const {
    return start(within(left_until(t)), &o, std::forward<Token>(token)...);
  }

 protected:
  acquire_verbs() = default;
  ~acquire_verbs() = default;

 private:
  const Lock& lock() const noexcept { return static_cast<const Lock&>(*this); }
  template <class... E>
  Lease acquire_impl(wait_bound b, const acquire_options* o, E&&... ending) const {
    return lock().acquire_impl(acquire_call(b, o).with(ending...));
  }
  template <class... Token>
  auto start(wait_bound b, const acquire_options* o, Token&&... token) const {
    return start_acquire(lock(), b, o, std::forward<Token>(token)...);
  }
};

}  // namespace detail
}  // namespace v0
}  // namespace holdfast
