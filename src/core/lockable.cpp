#include <holdfast/lockable.hpp>

#include <exception>
#include <thread>

#include "core/client_impl.hpp"
#include "core/fail.hpp"
#include "core/lockable_state.hpp"
#include "core/request.hpp"

namespace holdfast::inline v0::detail {
namespace {

using core::failure;

[[noreturn]] void raise(slot& s, std::string_view operation, failure why) {
  throw lock_error(why.code,
                   {std::string(operation), s.name(), s.client().text(), std::move(why.text), {}});
}

slot& home_of(client_impl* c, std::string_view name) {
  if (!c) core::fail(errc::closed, "mutex", "the client is empty: open() failed", name);
  return c->slot_for(name);
}

}  // namespace

lockable_state::~lockable_state() {
  if (home.client().is_of_this_process()) home.drop_user();
}

lockable_base::lockable_base(const holdfast::client& c, std::string_view name, bool recursive)
    : state_(std::make_unique<lockable_state>(home_of(c.impl_.get(), name), recursive)) {}

lockable_base::lockable_base(lockable_base&&) noexcept = default;

lockable_base& lockable_base::operator=(lockable_base&& other) noexcept {
  if (state_ && state_->current) std::terminate();
  state_ = std::move(other.state_);
  return *this;
}

lockable_base::~lockable_base() {
  const bool of_this_process = state_ && state_->home.client().is_of_this_process();
  if (of_this_process && state_->current) std::terminate();
}

std::string_view lockable_base::name() const noexcept { return state_->home.name(); }

lease lockable_base::take(const acquire_options& given, std::size_t size, wait_bound bound,
                          std::stop_token stop, std::error_code* ec) const {
  slot& home = state_->home;
  if (ec) ec->clear();
  request asked;
  failure why = asked.read(given, size, bound, home.client());
  if (!why.code) {
    turn* const t = home.acquire(asked.how, asked.renews, bound, std::move(stop), why);
    if (t) return lease(t);
  }
  const bool is_try = bound.what != wait_bound::kind::forever;
  if (is_try && why.code == outcome::busy) return {};
  if (!ec) raise(home, is_try ? "try_acquire" : "acquire", std::move(why));
  *ec = why.code;
  return {};
}

lease lockable_base::take_again(const lease& mine) const {
  const std::error_code lost = mine.status();
  if (lost) raise(state_->home, "reacquire", {lost, {}});
  if (&mine.turn_->home != &state_->home)
    raise(state_->home, "reacquire",
          {errc::mismatch, "the lease is of \"" + mine.turn_->home.name() + '"'});
  mine.turn_->leases.fetch_add(1, std::memory_order_relaxed);
  return lease(mine.turn_);
}

bool lockable_base::lock_within(wait_bound bound) {
  lockable_state& s = *state_;
  if (!s.home.client().is_of_this_process()) raise(s.home, "lock", {errc::forked, {}});
  const std::thread::id me = std::this_thread::get_id();
  if (s.owner.load(std::memory_order_relaxed) == me) {
    if (s.recursive) {
      ++s.depth;
      return true;
    }
    if (bound.what != wait_bound::kind::forever) return false;
    raise(s.home, "lock", {errc::would_self_deadlock, "unlock() it first, or use recursive_mutex"});
  }
  lease taken = take({}, sizeof(acquire_options), bound, {}, nullptr);
  if (!taken) return false;
  s.current = std::move(taken);
  s.depth = 1;
  s.owner.store(me, std::memory_order_relaxed);
  return true;
}

void lockable_base::unlock_current() noexcept {
  lockable_state& s = *state_;
  if (s.depth > 1) {
    --s.depth;
    return;
  }
  s.depth = 0;
  s.owner.store(std::thread::id{}, std::memory_order_relaxed);
  lease leaving = std::move(s.current);  // first: the next holder writes it as soon as this is left
  leaving.unlock();
}

const lease& lockable_base::current_lease() const noexcept { return state_->current; }

}  // namespace holdfast::inline v0::detail
