// The local lock's side towards its callers: they block here until the cohort has answered.
#include <optional>
#include <utility>

#include "cohort/checked_request.hpp"
#include "cohort/client_impl.hpp"
#include "cohort/local_lock.hpp"

namespace holdfast::inline v0::detail {

using core::failure;

void local_lock::fail(std::string_view operation, failure why) const {
  throw lock_error(why.code,
                   {std::string(operation), name_, client_.text(), std::move(why.text), {}});
}

void local_lock::fail_or_set(std::string_view operation, failure why, std::error_code* ec) const {
  if (!ec) fail(operation, std::move(why));
  *ec = why.code;
}

void local_lock::add_user() {
  const lock l(mutex_);
  if (users_++ > 0) return;
  client_.keep();
  keeps_ = true;
}

void local_lock::drop_user() noexcept {
  step([] {}, 1);
}

void local_lock::begin(core::waiter& w, wait_bound bound) noexcept {
  const bool timed = bound.what == wait_bound::kind::within;
  if (timed) w.until = core::saturating_add(client_.env().now(), bound.most);
  if (bound.what == wait_bound::kind::one_attempt) w.request.one_attempt = true;
  step([&] {
    ++users_;  // for the turn that may be granted
    const bool dated = timed || client_.rules().counts || !cohort_.is_idle();
    cohort_.enter(w, dated ? client_.env().now() : core::time_point{});
    enlist(&w);
  });
}

void local_lock::withdraw(core::waiter& w) noexcept {
  step([&] { cohort_.withdraw(w, errc::canceled, client_.env().now()); });
}

turn* local_lock::acquire(const checked_request& asked, wait_bound bound, std::stop_token stop,
                          failure& why) {
  core::blocked_waiter w;
  asked.put_into(w);
  begin(w, bound);
  const auto on_stop_request = [&] { withdraw(w); };
  std::optional<std::stop_callback<decltype(on_stop_request)>> on_stop;
  if (!w.parker.signalled() && stop.stop_possible())
    on_stop.emplace(std::move(stop), on_stop_request);
  core::wait(w.follower, client_.store());
  if (w.granted) return w.granted;
  drop_user();
  why = std::move(w.why);
  return nullptr;
}

void local_lock::leave(turn& t, core::confirmation* report) noexcept {
  lock l(mutex_);
  ++visits_;
  const core::time_point now = cohort_.needs_clock(t) ? client_.env().now() : core::time_point{};
  if (cohort_.should_poll(t, now)) {
    core::claim_record& c = *t.of;
    l.unlock();
    const bool others_wait = c.claim->others_wait();
    l.lock();
    cohort_.polled(c, others_wait, now);
  }
  cohort_.leave(t, report, now);
  run_effects(l, report ? 0 : 1);
}

void local_lock::unlock(turn& t) noexcept { leave(t, nullptr); }

void local_lock::begin_release(turn& t, core::confirmation& i) noexcept {
  i.until = core::saturating_add(client_.env().now(), client_.rules().options.op_timeout);
  leave(t, &i);
}

failure local_lock::release(turn& t) noexcept {
  const std::error_code lost = t.status();
  core::blocked_confirmation i;
  begin_release(t, i);
  return finish_release(i, lost);
}

failure local_lock::finish_release(core::blocked_confirmation& i, std::error_code lost) noexcept {
  core::wait(i.parker, client_.store());
  drop_user();
  if (lost) return {lost, {}};
  if (i.why.code == errc::not_held) return {errc::lost, std::move(i.why.text)};
  return std::move(i.why);
}

void local_lock::begin_extend(turn& t, core::duration ttl, core::confirmation& i) {
  const core::time_point now = client_.env().now();
  i.until = core::saturating_add(now, client_.rules().options.op_timeout);
  step([&] { cohort_.extend(t, ttl, i, now); });
}

failure local_lock::extend(turn& t, core::duration ttl) {
  core::blocked_confirmation i;
  begin_extend(t, ttl, i);
  core::wait(i.parker, client_.store());
  return std::move(i.why);
}

void local_lock::watch(turn& t, core::loss_watch& w) noexcept {
  step([&] { cohort_.watch(t, w); });
}

void local_lock::end_watch(core::loss_watch& w) noexcept {
  step([&] { cohort_.end_watch(w); });
}

failure local_lock::downgrade(turn& t) noexcept {
  failure why;
  const core::time_point now = client_.env().now();
  step([&] { why = cohort_.downgrade(t, now); });
  return why;
}

std::stop_token local_lock::token_of(turn& t, std::stop_source turn::*which) {
  const lock l(mutex_);
  std::stop_source& source = t.*which;
  if (!source.stop_possible()) {
    source = std::stop_source();
    const bool is_lost = t.now.load() != turn::fate::held;
    if (is_lost || (which == &turn::doubt && t.doubted)) source.request_stop();
  }
  return source.get_token();
}

std::stop_token local_lock::revocation_of(turn& t) {
  const lock l(mutex_);
  std::stop_source& source = t.more().revocation;
  if (!source.stop_possible()) {
    source = std::stop_source();
    if (t.of && t.of->is_revoked) source.request_stop();
  }
  return source.get_token();
}

int local_lock::native_handle(turn& t) noexcept {
  const lock l(mutex_);
  return t.of && t.of->claim ? t.of->claim->native_handle() : -1;
}

lock_mode local_lock::mode_of(const turn& t) noexcept {
  if (permits_ > 0) return lock_mode::permit;
  const lock l(mutex_);
  return t.is_share ? lock_mode::shared : lock_mode::exclusive;
}

std::uint32_t local_lock::permits_of(turn& t) noexcept {
  const lock l(mutex_);
  return t.is_plain() ? 1 : t.more().permits;
}

std::string local_lock::owner(turn& t) {
  const lock l(mutex_);
  return t.of && t.of->claim ? t.of->claim->owner() : std::string();
}

void local_lock::close() noexcept {
  step([&] { cohort_.close(); });
}

}  // namespace holdfast::inline v0::detail
