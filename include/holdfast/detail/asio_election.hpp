// The operations of holdfast/asio.hpp on an election. Not for users to include.
#pragma once
#include <holdfast/detail/asio_entry.hpp>
#include <holdfast/detail/asio_lease.hpp>
#include <holdfast/election.hpp>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/compose.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

// One campaign: an acquire of the election's mutex whose lease becomes the term.
class election_access {
 public:
  election_access(election& e, std::string_view value, wait_bound b)
      : office_(&e), value_(value), bound_(b) {}

  template <class Self>
  void operator()(Self& self) {
    self.reset_cancellation_state(boost::asio::enable_total_cancellation());
    if (office_->is_leader())
      return begin_step(self, {}, [](const auto& entry) {
        answer_at_once(*entry, {});
        return async_op();
      });
    office_->take_term().unlock();  // a term that was lost ends before the next one
    acquire_options options;
    options.note = value_;
    const mutex& lock = office_->office_;
    const kept_options kept(&options);  // before `self`, which owns the value, is moved
    const wait_bound bound = bound_;
    boost::asio::async_initiate<Self, void(boost::system::error_code, lease)>(
        async_acquire_beginning{lock_mode::exclusive, bound, kept}, self, &lock);
  }
  template <class Self>
  void operator()(Self& self, boost::system::error_code failed) {  // it leads already
    self.complete(failed, !failed);
  }
  template <class Self>
  void operator()(Self& self, boost::system::error_code failed, lease next) {
    const bool leads = static_cast<bool>(next);
    office_->begin_term(std::move(next));
    self.complete(failed, leads);
  }

  static lease term_of(election& e) noexcept { return e.take_term(); }

 private:
  election* office_;
  std::string value_;
  wait_bound bound_;
};

template <class... Token>
auto start_campaign(election& office, std::string_view value, wait_bound b, Token&&... given) {
  auto&& token = token_of(given...);
  return boost::asio::async_compose<decltype(token), void(boost::system::error_code, bool)>(
      election_access(office, value, b), token);
}

}  // namespace detail

template <class... Token>
auto election::async_resign(Token&&... token) {
  return detail::election_access::term_of(*this).async_release(std::forward<Token>(token)...);
}

}  // namespace v0
}  // namespace holdfast
