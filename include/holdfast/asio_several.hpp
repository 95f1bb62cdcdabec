// The part of holdfast/asio.hpp that is about several locks. Include that one.
#pragma once
#include <holdfast/asio.hpp>
#include <holdfast/error.hpp>
#include <holdfast/multi_mutex.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

struct async_step_beginning {
  template <class Handler>
  void operator()(Handler&& h, const std::shared_ptr<async_taking>& all) const {
    const auto entry = entry_of(std::forward<Handler>(h));
    entry->start(clients_of(*all), [&](bool) { return step_of(all, entry); });
  }
};

class async_taking_all {
 public:
  async_taking_all(std::vector<slot*> homes, wait_bound bound, const acquire_options& o)
      : homes_(std::move(homes)), bound_(bound), note_(o.note), options_(o) {}

  template <class Self>
  void operator()(Self& self) {
    self.reset_cancellation_state(boost::asio::enable_total_cancellation());
    options_.note = note_;
    all_ = taking_of(homes_, options_, sizeof options_, bound_);
    next_step(self);
  }
  template <class Self>
  void operator()(Self& self, boost::system::error_code) {
    if (!is_over(*all_)) return next_step(self);
    std::error_code code;
    lease_set got = result_of(*all_, code);
    self.complete(code, std::move(got));
  }

 private:
  template <class Self>
  void next_step(Self& self) {
    if (self.cancelled() != boost::asio::cancellation_type::none) withdraw(*all_);
    const auto all = all_;
    boost::asio::async_initiate<Self, void(boost::system::error_code)>(async_step_beginning(), self,
                                                                       all);
  }

  std::vector<slot*> homes_;
  wait_bound bound_;
  std::string note_;
  acquire_options options_;
  std::shared_ptr<async_taking> all_;  // once it has begun
};

template <class Token>
auto async_take_all(const std::vector<exclusive_lockable*>& locks, wait_bound bound,
                    const acquire_options& o, Token&& token) {
  return boost::asio::async_compose<Token, void(boost::system::error_code, lease_set)>(
      async_taking_all(together::homes_of(locks), bound, o), token);
}

class async_releasing_all {
 public:
  explicit async_releasing_all(std::vector<lease> all) : all_(std::move(all)) {}

  template <class Self>
  void operator()(Self& self) {
    struct parting {
      explicit parting(Self&& s) : whose(std::move(s)) {}
      Self whose;
      std::atomic<std::size_t> left;
      std::atomic<int> first{0};
    };
    std::vector<lease> all = std::move(all_);
    if (all.empty()) all.emplace_back();  // completes with not_held
    const auto executor = self.get_executor();
    const auto shared = std::make_shared<parting>(std::move(self));
    shared->left = all.size();
    for (lease& l : all)
      l.async_release(
          boost::asio::bind_executor(executor, [shared](boost::system::error_code code) {
            int none = 0;
            if (code) shared->first.compare_exchange_strong(none, std::error_code(code).value());
            if (--shared->left > 0) return;
            const int why = shared->first;
            shared->whose.complete(why ? make_error_code(errc{why}) : std::error_code());
          }));
  }

 private:
  std::vector<lease> all_;
};

}  // namespace detail

template <class Token>
auto multi_mutex::async_acquire(const acquire_options& o, Token&& token) const {
  return detail::async_take_all(members_, detail::wait_bound::forever(), o, token);
}

template <class Token>
auto multi_mutex::async_acquire(Token&& token) const {
  return detail::async_take_all(members_, detail::wait_bound::forever(), {}, token);
}

template <class Token>
auto multi_mutex::async_try_acquire(const acquire_options& o, Token&& token) const {
  return detail::async_take_all(members_, detail::wait_bound::one_attempt(), o, token);
}

template <class R, class P, class Token>
auto multi_mutex::async_try_acquire_for(std::chrono::duration<R, P> d, const acquire_options& o,
                                        Token&& token) const {
  const auto bound = detail::wait_bound::within(detail::to_nanoseconds(d));
  return detail::async_take_all(members_, bound, o, token);
}

template <class Token>
auto lease_set::async_release(Token&& token) {
  return boost::asio::async_compose<Token, void(boost::system::error_code)>(
      detail::async_releasing_all(detail::together::members_of(std::move(*this))), token);
}

}  // namespace v0
}  // namespace holdfast
