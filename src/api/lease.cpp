#include <holdfast/lease.hpp>

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "cohort/client_impl.hpp"
#include "cohort/local_lock.hpp"
#include "cohort/turn.hpp"

namespace holdfast::inline v0 {
namespace {

[[noreturn]] void raise(const detail::turn* t, std::string_view operation, base::failure why) {
  if (t && why.code == errc::lost && why.text.empty()) why.text = t->home.why_lost(*t);
  if (t) t->home.fail(operation, std::move(why));
  base::fail(errc{why.code.value()}, operation, std::move(why.text));
}

bool is_of_this_process(const detail::turn& t) noexcept { return t.is_of_this_process(); }

base::failure extended(detail::turn* t, std::chrono::milliseconds ttl) {
  base::failure why = detail::extension_fault(t, ttl);
  return why.code ? why : t->home.extend(*t, ttl);
}

std::stop_token token_of_nothing() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

}  // namespace

lease& lease::operator=(lease&& other) noexcept {
  if (this == &other) return *this;
  unlock();
  turn_ = std::exchange(other.turn_, nullptr);
  return *this;
}

std::error_code lease::status() const noexcept {
  return turn_ ? turn_->status() : make_error_code(errc::not_held);
}

bool lease::held() const noexcept { return turn_ && turn_->held(); }

bool lease::in_doubt() const { return !held() || turn_->home.is_in_doubt(*turn_); }

void lease::check() const {
  if (const std::error_code code = status()) raise(turn_, "check", {code, {}});
}

std::string_view lease::name() const noexcept {
  return turn_ ? std::string_view(turn_->home.name()) : std::string_view();
}

lock_mode lease::mode() const noexcept {
  return turn_ && is_of_this_process(*turn_) ? turn_->home.mode_of(*turn_) : lock_mode::exclusive;
}

std::uint32_t lease::permits() const noexcept {
  return turn_ && is_of_this_process(*turn_) ? turn_->home.permits_of(*turn_) : 0;
}

std::int64_t lease::token() const noexcept { return turn_ ? turn_->token : 0; }

lease_clock::time_point lease::expires() const noexcept {
  if (!turn_) return lease_clock::time_point::min();
  const auto end = turn_->deadline.load(std::memory_order_acquire);
  return end == base::never ? end : end - turn_->home.client().env().ahead();
}

lease_clock::duration lease::remaining() const noexcept {
  const auto end = expires();
  if (!held()) return lease_clock::duration::zero();
  if (end == lease_clock::time_point::max()) return lease_clock::duration::max();
  return std::max(end - lease_clock::now(), lease_clock::duration::zero());
}

std::stop_token lease::doubt_token() const {
  if (!turn_ || !is_of_this_process(*turn_)) return token_of_nothing();
  return turn_->home.token_of(*turn_, &detail::turn::extra_fields::doubt);
}

std::stop_token lease::loss_token() const {
  if (!turn_ || !is_of_this_process(*turn_)) return token_of_nothing();
  return turn_->home.token_of(*turn_, &detail::turn::extra_fields::loss);
}

std::stop_token lease::revocation_token() const {
  if (!turn_ || !is_of_this_process(*turn_)) return {};
  return turn_->home.token_of(*turn_, &detail::turn::extra_fields::revocation);
}

std::string lease::owner() const {
  return turn_ && is_of_this_process(*turn_) ? turn_->home.owner(*turn_) : std::string();
}

int lease::native_handle() const noexcept {
  return turn_ && is_of_this_process(*turn_) ? turn_->home.native_handle(*turn_) : -1;
}

void lease::extend(std::chrono::milliseconds ttl, std::error_code& ec) {
  ec = extended(turn_, ttl).code;
}

void lease::extend(std::chrono::milliseconds ttl) {
  base::failure why = extended(turn_, ttl);
  if (why.code) raise(turn_, "extend", std::move(why));
}

void lease::release() {
  if (!turn_) raise(nullptr, "release", {errc::not_held, "the lease is empty"});
  const std::string lock = turn_->home.name();
  const std::string backend = turn_->home.client().text();
  std::string why = turn_->home.why_lost(*turn_);
  std::error_code ec;
  release(ec);
  if (ec != errc::lost) why.clear();
  if (ec) throw lock_error(ec, {"release", lock, backend, std::move(why)});
}

void lease::release(std::error_code& ec) noexcept {
  ec = status();
  if (!turn_) return;
  detail::turn& leaving = *std::exchange(turn_, nullptr);
  if (!is_of_this_process(leaving)) return;
  if (leaving.leases.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  ec = leaving.home.release(leaving).code;
}

void lease::unlock() noexcept {
  if (!turn_) return;
  detail::turn& leaving = *std::exchange(turn_, nullptr);
  if (!is_of_this_process(leaving)) return;  // of the parent process: left alone
  if (leaving.leases.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  leaving.home.unlock(leaving);
}

}  // namespace holdfast::inline v0
