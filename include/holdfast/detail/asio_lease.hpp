// The operations of holdfast/asio.hpp on one lock and on one lease. Not for users to include.
#pragma once
#include <holdfast/detail/asio_entry.hpp>
#include <holdfast/detail/async.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lockable.hpp>

#include <boost/asio/async_result.hpp>
#include <chrono>
#include <utility>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

struct async_acquire_beginning {
  lock_mode mode;
  wait_bound bound;
  kept_options options;

  template <class Handler>
  void operator()(Handler&& h, const lockable_base* from) const {
    const auto entry = entry_of<lease>(std::forward<Handler>(h));
    const auto client = client_of(*from);
    entry->start({&client, 1}, [&](bool may_be_withdrawn) {
      return options.with_call(bound, [&](const acquire_call& c) {
        return acquire_of(*from, mode, c, may_be_withdrawn, entry);
      });
    });
  }
};

template <class... Token>
auto start_acquire_as(lock_mode mode, const lockable_base& from, wait_bound b,
                      const acquire_options* o, Token&&... given) {
  auto&& token = token_of(given...);
  using type = decltype(token);
  return boost::asio::async_initiate<type, void(boost::system::error_code, lease)>(
      async_acquire_beginning{mode, b, kept_options(o)}, token, &from);
}

template <lock_mode mode, class... Token>
auto start_acquire(const acquirable<mode>& from, wait_bound b, const acquire_options* o,
                   Token&&... token) {
  return start_acquire_as(mode, from, b, o, std::forward<Token>(token)...);
}

struct async_release_beginning {
  template <class Handler>
  void operator()(Handler&& h, lease l) const {
    const auto entry = entry_of(std::forward<Handler>(h));
    const auto client = client_of(l);
    entry->start({&client, 1}, [&](bool) {
      begin_release(l, entry);
      return async_op();
    });
  }
};

struct async_extension_beginning {
  std::chrono::milliseconds ttl;
  template <class Handler>
  void operator()(Handler&& h, const lease* l) const {
    const auto entry = entry_of(std::forward<Handler>(h));
    const auto client = client_of(*l);
    entry->start({&client, 1}, [&](bool) {
      begin_extension(*l, ttl, entry);
      return async_op();
    });
  }
};

struct async_loss_beginning {
  template <class Handler>
  void operator()(Handler&& h, const lease* l) const {
    const auto entry = entry_of(std::forward<Handler>(h));
    entry->start({}, [&](bool) { return loss_wait_of(*l, entry); });
  }
};

}  // namespace detail

template <class... Token>
auto lease::async_release(Token&&... given) {
  auto&& token = detail::token_of(given...);
  return boost::asio::async_initiate<decltype(token), void(boost::system::error_code)>(
      detail::async_release_beginning(), token, std::move(*this));
}

template <class... Token>
auto lease::async_extend(std::chrono::milliseconds ttl, Token&&... given) {
  auto&& token = detail::token_of(given...);
  return boost::asio::async_initiate<decltype(token), void(boost::system::error_code)>(
      detail::async_extension_beginning{ttl}, token, static_cast<const lease*>(this));
}

template <class... Token>
auto lease::async_wait_lost(Token&&... given) const {
  auto&& token = detail::token_of(given...);
  return boost::asio::async_initiate<decltype(token), void(boost::system::error_code)>(
      detail::async_loss_beginning(), token, this);
}

}  // namespace v0
}  // namespace holdfast
