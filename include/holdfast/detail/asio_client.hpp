// The operations of holdfast/asio.hpp on a client. Not for users to include.
#pragma once
#include <holdfast/client.hpp>
#include <holdfast/detail/asio_entry.hpp>
#include <holdfast/detail/asio_multi.hpp>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/compose.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

// An operation that completes with a Result. `Begin` starts it and is given the place that receives
// the Result.
template <class Result, class Begin>
class async_question {
 public:
  async_question(std::shared_ptr<client_impl> about, Begin b)
      : about_(std::move(about)), begin_(std::move(b)) {}

  template <class Self>
  void operator()(Self& self) {
    self.reset_cancellation_state(boost::asio::enable_total_cancellation());
    into_ = std::make_shared<Result>();
    begin_step(self, {about_},
               [into = into_, ask = begin_](const auto& entry) { return ask(into, entry); });
  }
  template <class Self>
  void operator()(Self& self, boost::system::error_code code) {
    const auto into = std::move(into_);
    self.complete(code, std::move(*into));
  }

 private:
  std::shared_ptr<client_impl> about_;  // null: the client is empty, or being opened
  Begin begin_;
  std::shared_ptr<Result> into_;
};

template <class Result, class Begin, class... Token>
auto start_question(std::shared_ptr<client_impl> about, Begin begin, Token&&... given) {
  auto&& token = token_of(given...);
  return boost::asio::async_compose<decltype(token), void(boost::system::error_code, Result)>(
      async_question<Result, Begin>(std::move(about), std::move(begin)), token);
}

template <class... Token>
auto start_open(std::string_view url, const open_options& o, Token&&... token) {
  auto begin = [where = std::string(url), password = std::string(o.password),
                options = o](const std::shared_ptr<client>& into, const auto& entry) {
    open_options given = options;
    given.password = password;
    return opening_of(where, given, into, entry);
  };
  return start_question<client>(nullptr, std::move(begin), std::forward<Token>(token)...);
}

template <class... Token>
auto start_acquire_all(const client& c, lock_names names, wait_bound b, const acquire_options* o,
                       Token&&... token) {
  auto make = [c, all = std::move(names)](const acquire_call& call) {
    return taking_of(c, all, call);
  };
  return start_taking(std::move(make), b, o, std::forward<Token>(token)...);
}

}  // namespace detail

template <class... Token>
requires detail::perhaps_a_token<Token...>
auto client::async_open(std::string_view url, Token&&... token) {
  return detail::start_open(url, {}, std::forward<Token>(token)...);
}

template <class... Token>
requires detail::perhaps_a_token<Token...>
auto client::async_open(std::string_view url, const open_options& o, Token&&... token) {
  return detail::start_open(url, o, std::forward<Token>(token)...);
}

template <class... Token>
auto client::async_holders(std::string_view name, Token&&... token) const {
  auto begin = [c = *this, lock = std::string(name)](const auto& into, const auto& entry) {
    detail::begin_holders(c, lock, into, entry);
    return detail::async_op();
  };
  return detail::start_question<std::vector<holder>>(impl_, std::move(begin),
                                                     std::forward<Token>(token)...);
}

template <class... Token>
auto client::async_list(std::string_view prefix, Token&&... token) const {
  auto begin = [c = *this, start = std::string(prefix)](const auto& into, const auto& entry) {
    detail::begin_inspection(c, start, into, entry);
    return detail::async_op();
  };
  return detail::start_question<std::vector<holder>>(impl_, std::move(begin),
                                                     std::forward<Token>(token)...);
}

template <class... Token>
auto client::async_break_lock(std::string_view name, std::string_view holder_seen,
                              Token&&... token) const {
  auto begin = [c = *this, lock = std::string(name),
                seen = std::string(holder_seen)](const auto& into, const auto& entry) {
    detail::begin_breaking(c, lock, seen, into, entry);
    return detail::async_op();
  };
  return detail::start_question<bool>(impl_, std::move(begin), std::forward<Token>(token)...);
}

template <class... Token>
auto client::async_diagnose(Token&&... token) const {
  auto begin = [c = *this](const auto& into, const auto& entry) {
    detail::begin_examination(c, into, entry);
    return detail::async_op();
  };
  return detail::start_question<std::vector<finding>>(impl_, std::move(begin),
                                                      std::forward<Token>(token)...);
}

template <class... Token>
auto client::async_close(Token&&... token) const {
  auto begin = [c = *this](const auto& into, const auto& entry) {
    detail::begin_closing(c, into, entry);
    return detail::async_op();
  };
  return detail::start_question<bool>(impl_, std::move(begin), std::forward<Token>(token)...);
}

}  // namespace v0
}  // namespace holdfast
