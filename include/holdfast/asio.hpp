// Locks for Boost.Asio: coroutines, callbacks, futures. The one header that includes Boost.
//
//   auto lease = co_await m.async_acquire({.ttl = 10s});
//   co_await (work() || lease.async_wait_lost());
//   co_await lease.async_release();
//
//   call                               | completes with
//   -----------------------------------+---------------------------------------------------------
//   m.async_acquire(o, token)          | (error_code, lease): waits as acquire()
//   m.async_try_acquire(o, token)      | (error_code, lease): one attempt; busy: no error, no lease
//   m.async_try_acquire_for(d, o, t)   | (error_code, lease): waits at most that duration
//   m.async_try_acquire_until(tp, o, t)| (error_code, lease): waits at most until that time
//   s.async_acquire_shared(...) etc.   | the same for a share of a shared_mutex
//   multi.async_acquire(...) etc.      | (error_code, lease_set): all of them or none;
//                                      | the locks must live until it completes
//   client.async_acquire_all(names,..) | the same for mutexes by name; async_try_acquire_all, its
//                                      | _for(d, names, ...) and _until(tp, names, ...)
//   lease.async_extend(ttl, token)     | (error_code): as extend(), also of a lease_set
//   lease.async_wait_lost(token)       | (error_code): success once it is lost, not_held when
//                                      | it is released first, or empty
//   lease.async_release(token)         | (error_code): as release(); it is empty at once; also
//                                      | of a lease_set
//   client::async_open(url, o, token)  | (error_code, client): as open()
//   client.async_holders(name, token)  | (error_code, std::vector<holder>): as holders()
//   client.async_inspect(prefix, token)| the same as inspect()
//   client.async_break_lock(n, h, t)   | (error_code, bool): as break_lock()
//   client.async_close(token)          | (error_code, bool): as close(); never an error
//
// Options may be left out everywhere, and so may the token: then the call is awaitable, as with
// boost::asio::use_awaitable.
//
// The error_code is Boost's, which a std::error_code takes as it is and which compares with
// holdfast::errc, holdfast::outcome and std::errc; on success it equals error_code{}. Options and
// names are copied before the call returns. The handler runs on its associated executor, never on a
// thread of the library and never inside the call. Its cancellation slot ends a wait (and open),
// with errc::canceled, never a held lease; a grant that was faster completes. The mutex or lease
// must live until the operation has begun, the context until it has completed; when the context
// ends first, what is granted later is given back.
#pragma once
#include <holdfast/asio_client.hpp>
#include <holdfast/asio_entry.hpp>
#include <holdfast/asio_several.hpp>
#include <holdfast/async.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

#include <boost/asio/async_result.hpp>
#include <chrono>
#include <memory>
#include <utility>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

struct async_acquire_beginning {
  lock_mode how;
  wait_bound bound;
  kept_options options;

  template <class Handler>
  void operator()(Handler&& h, const lockable_base* from) const {
    const auto entry = entry_of<lease>(std::forward<Handler>(h));
    const auto client = client_of(*from);
    entry->start({&client, 1}, [&](bool may_be_withdrawn) {
      return options.with_call(bound, [&](const acquire_call& c) {
        return acquire_of(*from, how, c, may_be_withdrawn, entry);
      });
    });
  }
};

template <class... Token>
auto start_acquire_as(lock_mode how, const lockable_base& from, wait_bound b,
                      const acquire_options* o, Token&&... given) {
  auto&& token = token_of(given...);
  using type = decltype(token);
  return boost::asio::async_initiate<type, void(boost::system::error_code, lease)>(
      async_acquire_beginning{how, b, kept_options(o)}, token, &from);
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
