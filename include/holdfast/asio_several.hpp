// The part of holdfast/asio.hpp that is about several locks. Include that one.
#pragma once
#include <holdfast/asio.hpp>
#include <holdfast/error.hpp>
#include <holdfast/multi_mutex.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast {
inline namespace v0 {
namespace detail {

// One after the other, in the order in which all take them.
class async_taking_all {
 public:
  async_taking_all(const std::vector<exclusive_lockable*>& locks, wait_bound bound,
                   const acquire_options& o)
      : state_(std::make_unique<state>()) {
    state_->order = together::order_of(locks);
    for (const std::size_t i : state_->order) state_->locks.push_back(locks[i]);
    state_->bound = bound;
    state_->until = lease_clock::now() + std::min(bound.most, longest);
    state_->note = o.note;
    state_->options = o;
  }

  template <class Self>
  void operator()(Self& self) {
    if (state_->is_refused) return self.complete(make_error_code(errc::bad_option), lease_set());
    self.reset_cancellation_state(boost::asio::enable_total_cancellation());
    if (!state_->locks.empty()) return ask_next(self);
    state_->is_refused = true;
    const auto executor = self.get_executor();
    boost::asio::post(executor, std::move(self));
  }
  template <class Self>
  void operator()(Self& self, boost::system::error_code code, lease got) {
    const bool granted = static_cast<bool>(got);
    if (granted) state_->taken.push_back(std::move(got));
    const bool is_last = state_->taken.size() == state_->locks.size();
    if (granted && !is_last && self.cancelled() != boost::asio::cancellation_type::none)
      code = make_error_code(errc::canceled);
    if (code || !granted) {
      state_->taken.clear();
      return self.complete(code, lease_set());
    }
    if (!is_last) return ask_next(self);
    for (const lease& l : state_->taken)
      if (!l.held()) return ask_again(self);  // lost while the others were waited for
    std::vector<lease> as_given(state_->taken.size());
    for (std::size_t i = 0; i < as_given.size(); ++i)
      as_given[state_->order[i]] = std::move(state_->taken[i]);
    self.complete({}, together::set_of(std::move(as_given)));
  }

 private:
  static constexpr int rounds_max = 3;
  static constexpr std::chrono::nanoseconds longest = std::chrono::hours{24 * 366};
  struct state {
    std::vector<std::size_t> order;
    std::vector<const exclusive_lockable*> locks;
    std::vector<lease> taken;
    wait_bound bound;
    lease_clock::time_point until;
    acquire_options options;
    std::string note;
    int rounds = 0;
    bool is_refused = false;  // there is nothing to take
  };

  template <class Self>
  void ask_again(Self& self) {
    state& s = *state_;
    s.taken.clear();
    const bool is_over =
        s.bound.what == wait_bound::kind::one_attempt ||
        (s.bound.what == wait_bound::kind::within && s.until <= lease_clock::now());
    if (is_over) return self.complete({}, lease_set());
    if (++s.rounds < rounds_max) return ask_next(self);
    self.complete(make_error_code(errc::lost), lease_set());  // the ttl is too short for all
  }
  template <class Self>
  void ask_next(Self& self) {
    state& s = *state_;
    wait_bound bound = s.bound;
    if (bound.what == wait_bound::kind::within)
      bound = wait_bound::within(s.until - lease_clock::now());
    s.options.note = s.note;
    const exclusive_lockable* const next = s.locks[s.taken.size()];
    const acquire_options o = s.options;
    async_take(lock_mode::exclusive, next, bound, o, std::move(self));
  }

  std::unique_ptr<state> state_;
};

template <class Token>
auto async_take_all(const std::vector<exclusive_lockable*>& locks, wait_bound bound,
                    const acquire_options& o, Token&& token) {
  return boost::asio::async_compose<Token, void(boost::system::error_code, lease_set)>(
      async_taking_all(locks, bound, o), token);
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
