// The operations of holdfast/asio.hpp on several locks. Not for users to include.
#pragma once
#include <holdfast/detail/asio_entry.hpp>
#include <holdfast/detail/multi_access.hpp>
#include <holdfast/error.hpp>
#include <holdfast/multi_mutex.hpp>

#include <algorithm>
#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/compose.hpp>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

// Acquires several locks, in steps. `Make` returns the async_multi_acquire, or throws lock_error.
template <class Make>
class async_taking_all {
 public:
  async_taking_all(Make m, wait_bound b, const acquire_options* o)
      : make_(std::move(m)), bound_(b), options_(o) {}

  template <class Self>
  void operator()(Self& self) {
    self.reset_cancellation_state(boost::asio::enable_total_cancellation());
    try {
      all_ = options_.with_call(bound_, [&](const acquire_call& c) { return make_(c); });
    } catch (const lock_error& e) {
      return begin_step(self, {}, [code = e.code()](const auto& entry) {
        answer_at_once(*entry, code);
        return async_op();
      });
    }
    next_step(self);
  }
  template <class Self>
  void operator()(Self& self, boost::system::error_code failed) {
    if (!all_) return self.complete(failed, lease_set());
    if (!is_over(*all_)) return next_step(self);
    std::error_code code;
    lease_set got = result_of(*all_, code);
    self.complete(boost_code(code), std::move(got));
  }

 private:
  template <class Self>
  void next_step(Self& self) {
    if (self.cancelled() != boost::asio::cancellation_type::none) withdraw(*all_);
    begin_step(self, clients_of(*all_),
               [all = all_](const auto& entry) { return step_of(all, entry); });
  }

  Make make_;
  wait_bound bound_;
  kept_options options_;
  std::shared_ptr<async_multi_acquire> all_;  // null until it has begun
};

template <class Make, class... Token>
auto start_taking(Make make, wait_bound b, const acquire_options* o, Token&&... given) {
  auto&& token = token_of(given...);
  return boost::asio::async_compose<decltype(token), void(boost::system::error_code, lease_set)>(
      async_taking_all<Make>(std::move(make), b, o), token);
}

template <class... Token>
auto start_acquire(const multi_mutex& all, wait_bound b, const acquire_options* o,
                   Token&&... token) {
  return start_taking([from = &all](const acquire_call& c) { return taking_of(*from, c); }, b, o,
                      std::forward<Token>(token)...);
}

// One operation on each of several leases. Completes when all have, with the first failure.
template <class Leases, class Begin>
class async_for_each {
 public:
  async_for_each(Leases all, Begin b) : all_(std::move(all)), begin_(std::move(b)) {}

  template <class Self>
  void operator()(Self& self) {
    struct parting {
      explicit parting(Self&& s) : whose(std::move(s)) {}
      Self whose;
      std::atomic<std::size_t> left;
      std::atomic<int> first{0};
    };
    Leases all = std::move(all_);
    const Begin begin_one = begin_;
    const auto executor = self.get_executor();
    const auto shared = std::make_shared<parting>(std::move(self));
    const auto on_end = [shared](boost::system::error_code code) {
      int none = 0;
      if (code) shared->first.compare_exchange_strong(none, std::error_code(code).value());
      if (--shared->left > 0) return;
      const int why = shared->first;
      shared->whose.complete(boost_code(why ? make_error_code(errc{why}) : std::error_code()));
    };
    lease none;
    shared->left = std::max<std::size_t>(all.size(), 1);
    if (all.empty()) begin_one(none, boost::asio::bind_executor(executor, on_end));  // not_held
    for (auto& l : all) begin_one(l, boost::asio::bind_executor(executor, on_end));
  }

 private:
  Leases all_;
  Begin begin_;
};

template <class Leases, class Begin, class... Token>
auto start_for_each(Leases all, Begin begin, Token&&... given) {
  auto&& token = token_of(given...);
  return boost::asio::async_compose<decltype(token), void(boost::system::error_code)>(
      async_for_each<Leases, Begin>(std::move(all), std::move(begin)), token);
}

}  // namespace detail

template <class... Token>
auto lease_set::async_release(Token&&... token) {
  return detail::start_for_each(
      detail::multi_access::members_of(std::move(*this)),
      [](lease& l, auto handler) { l.async_release(std::move(handler)); },
      std::forward<Token>(token)...);
}

template <class... Token>
auto lease_set::async_extend(std::chrono::milliseconds ttl, Token&&... token) {
  return detail::start_for_each(
      std::span<lease>(members_),
      [ttl](lease& l, auto handler) { l.async_extend(ttl, std::move(handler)); },
      std::forward<Token>(token)...);
}

}  // namespace v0
}  // namespace holdfast
