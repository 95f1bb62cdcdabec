#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include <holdfast/detail/multi_access.hpp>
#include <holdfast/multi_mutex.hpp>

#include "multi/multi_acquire.hpp"

namespace holdfast::inline v0 {

// Requests stop when any member's token does. Made when a token is requested.
struct lease_set::watch {
  struct combined {
    std::stop_source any{std::nostopstate};
    std::deque<std::stop_callback<std::function<void()>>> callbacks;
  };
  std::mutex mutex;
  combined doubt, loss;
};

lease_set::lease_set() noexcept = default;
lease_set::~lease_set() = default;
lease_set::lease_set(lease_set&&) noexcept = default;

lease_set& lease_set::operator=(lease_set&& other) noexcept {
  if (this == &other) return *this;
  watch_ = std::move(other.watch_);
  members_ = std::move(other.members_);
  return *this;
}

std::error_code lease_set::status() const noexcept {
  if (members_.empty()) return errc::not_held;
  for (const lease& l : members_)
    if (const auto code = l.status()) return code;
  return {};
}

bool lease_set::held() const noexcept { return !status(); }

void lease_set::check() const {
  if (members_.empty()) lease().check();
  for (const lease& l : members_) l.check();
}

lease_clock::time_point lease_set::expires() const noexcept {
  auto first = members_.empty() ? lease_clock::time_point::min() : lease_clock::time_point::max();
  for (const lease& l : members_) first = std::min(first, l.expires());
  return first;
}

std::stop_token lease_set::first_of(signal which) const {
  if (members_.empty()) return which == signal::loss ? lease().loss_token() : lease().doubt_token();
  const std::lock_guard guard(watch_->mutex);
  watch::combined& e = which == signal::loss ? watch_->loss : watch_->doubt;
  if (e.any.stop_possible()) return e.any.get_token();
  e.any = std::stop_source();
  for (const lease& l : members_)
    e.callbacks.emplace_back(which == signal::loss ? l.loss_token() : l.doubt_token(),
                             [any = e.any]() mutable { any.request_stop(); });
  return e.any.get_token();
}

std::stop_token lease_set::doubt_token() const { return first_of(signal::doubt); }
std::stop_token lease_set::loss_token() const { return first_of(signal::loss); }

void lease_set::extend(std::chrono::milliseconds ttl) {
  if (members_.empty()) lease().extend(ttl);
  detail::multi_access::extend(members_, ttl, nullptr);
}

void lease_set::extend(std::chrono::milliseconds ttl, std::error_code& ec) {
  if (members_.empty()) return lease().extend(ttl, ec);
  detail::multi_access::extend(members_, ttl, &ec);
}

void lease_set::release(std::error_code& ec) noexcept {
  ec = members_.empty() ? make_error_code(errc::not_held) : std::error_code();
  if (ec) return;
  watch_.reset();
  ec = detail::multi_access::release(members_);
}

void lease_set::release() {
  if (members_.empty()) lease().release();
  auto details = detail::multi_access::details_of("release", members_);
  watch_.reset();
  std::size_t failed = 0;
  const auto ec = detail::multi_access::release(members_, &failed);
  if (!ec) return;
  if (ec != errc::lost) details[failed].text.clear();
  throw lock_error(ec, std::move(details[failed]));
}

void lease_set::unlock() noexcept {
  watch_.reset();
  members_.clear();
}

// Allocates before it takes the turns out: a turn without an owner would never be released.
lease_set detail::multi_access::set_of(multi_acquire& all) {
  lease_set out;
  out.watch_ = std::make_unique<lease_set::watch>();
  out.members_.reserve(all.size());
  for (turn* const t : all.take()) out.members_.push_back(lease(t));
  return out;
}

std::vector<lease> detail::multi_access::members_of(lease_set&& all) noexcept {
  all.watch_.reset();
  return std::move(all.members_);
}

}  // namespace holdfast::inline v0
