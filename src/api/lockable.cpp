#include <holdfast/lockable.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "api/lockable_state.hpp"
#include "api/wait_terms.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "cohort/checked_request.hpp"
#include "cohort/client_impl.hpp"

namespace holdfast::inline v0::detail {
namespace {

using base::failure;

local_lock& home_of(client_impl* c, std::string_view name, lockable_traits traits) {
  if (!c) base::fail(errc::closed, "mutex", "the client is empty: open() it first", name);
  return c->local_lock_for(name, traits.kind, traits.permits);
}

bool has_only_defaults(const acquire_options& o) noexcept {
  return !o.ttl && o.renew == renewal::client_default && o.note.empty() && o.permits == 1 &&
         !o.max_hold;
}

// A share that this thread holds through lock_shared(). Released when the thread ends.
class share {
 public:
  // `held` empty: the thread joined the common share.
  share(lockable_state& of, lease held) noexcept : of_(&of), held_(std::move(held)) {
    if (held_) of.shares.fetch_add(1, std::memory_order_relaxed);
  }
  share(share&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)),
        held_(std::move(other.held_)),
        view_(std::move(other.view_)) {}
  share& operator=(share&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(held_, other.held_);
    std::swap(view_, other.view_);
    std::swap(process_, other.process_);
    return *this;
  }
  ~share() {
    if (!is_of_this_process()) return;
    view_.reset();
    if (held_) {
      of_->shares.fetch_sub(1, std::memory_order_relaxed);
    } else {
      of_->common.leave();
    }
  }
  const lease& held() const noexcept { return held_; }
  // The lease of this share for its user: another reference to the same turn. Made when it is
  // requested, because most readers need none.
  std::unique_ptr<lease>& view() noexcept { return view_; }
  bool is_of(const lockable_state& s) const noexcept { return is_of_this_process() && of_ == &s; }
  bool is_of(const local_lock& home) const noexcept {
    return is_of_this_process() && &of_->home == &home;
  }

 private:
  // In a fork's child the object may be gone, and another one may be in its place.
  bool is_of_this_process() const noexcept { return of_ && process_ == base::fork_generation(); }

  lockable_state* of_;
  lease held_;
  std::unique_ptr<lease> view_;  // released before the share is left
  unsigned process_ = base::fork_generation();
};
thread_local std::vector<share> shares_here;

auto share_here_of(const lockable_state& s) noexcept {
  return std::find_if(shares_here.rbegin(), shares_here.rend(),
                      [&s](const share& h) { return h.is_of(s); });
}

// Also a share that was taken through another object of the same name.
bool holds_share_here(const local_lock& home) noexcept {
  return std::ranges::any_of(shares_here, [&](const share& h) { return h.is_of(home); });
}

constexpr const char* held_by_another_object =
    "this thread holds it through another lock object; unlock() that one first";

// A wait that this thread itself would have to end: a try returns false at once.
bool refuse_wait(const local_lock& home, wait_bound bound, std::string_view operation,
                 const char* why) {
  if (!bound.is_try()) home.fail(operation, {errc::would_self_deadlock, why});
  return false;
}

bool is_locked(const lockable_state& s) noexcept { return s.current || s.is_shared(); }

// As std::thread does: a caller that relies on the lock cannot be notified that it is gone.
[[noreturn]] void end_program(const lockable_state& s) noexcept {
  base::log(s.home.rules().options.log, log_level::error,
            "the locked lock \"" + std::string(s.home.name()) +
                "\" is destroyed: unlock it first; the program is terminated");
  std::terminate();
}

// A fork's child has its parent's locks as they were, and they are the parent's to unlock.
void expect_unlocked(const lockable_state* s) noexcept {
  if (s && s->home.client().is_of_this_process() && is_locked(*s)) end_program(*s);
}

}  // namespace

lockable_state::~lockable_state() {
  if (home.client().is_of_this_process()) home.drop_user();
}

void lockable_state::set_defaults(const acquire_options& o) {
  if (has_only_defaults(o)) return;
  if (failure why = options_fault(o, traits.permits, home.rules()); why.code)
    home.fail(traits.permits > 0 ? "semaphore" : "mutex", std::move(why));
  defaults = std::make_unique<const lock_defaults>(o);
}

lockable_base::lockable_base(const holdfast::client& c, std::string_view name,
                             lockable_traits traits, const acquire_options& defaults,
                             std::size_t size)
    : state_(std::make_unique<lockable_state>(home_of(c.impl_.get(), name, traits), traits)) {
  state_->set_defaults(normalized(defaults, size));
}

lockable_base::lockable_base(lockable_base&&) noexcept = default;

lockable_base& lockable_base::operator=(lockable_base&& other) noexcept {
  expect_unlocked(state_.get());
  state_ = std::move(other.state_);
  return *this;
}

lockable_base::~lockable_base() { expect_unlocked(state_.get()); }

std::string_view lockable_base::name() const noexcept { return state_->home.name(); }

lease lockable_base::acquire_impl(lock_mode mode, acquire_call c) const {
  local_lock& home = state_->home;
  const wait_terms how_long(c.bound, std::move(c.stop));
  if (c.ec) c.ec->clear();
  checked_request asked;
  failure why = asked.read(mode, options_of(c, state_->defaults.get()), home);
  if (!why.code) {
    turn* const t = home.acquire(asked, how_long.bound(), how_long.stop(), why);
    if (t) return lease(t);
  }
  how_long.refuse(home, std::move(why), c.ec);
  return {};
}

turn* lockable_base::turn_of(const lease& mine, std::string_view operation,
                             std::error_code* ec) const {
  if (ec) ec->clear();
  failure why{mine.status(), {}};
  if (!why.code && &mine.turn_->home != &state_->home)
    why = {errc::mismatch, "the lease is of \"" + mine.turn_->home.name() + '"'};
  if (!why.code) return mine.turn_;
  state_->home.fail_or_set(operation, std::move(why), ec);
  return nullptr;
}

lease lockable_base::reacquire_impl(const lease& mine, std::error_code* ec) const {
  turn* const again = turn_of(mine, "reacquire", ec);
  if (again) again->leases.fetch_add(1, std::memory_order_relaxed);
  return lease(again);
}

lease lockable_base::downgrade_impl(lease&& mine, std::error_code* ec) const {
  turn* const t = turn_of(mine, "downgrade", ec);
  if (!t) return {};
  failure why = state_->home.downgrade(*t);
  if (!why.code) return std::move(mine);
  state_->home.fail_or_set("downgrade", std::move(why), ec);
  return {};
}

bool lockable_base::lock_shared_within(wait_bound bound) {
  if (!state_->home.client().is_of_this_process())
    state_->home.fail("lock_shared", {errc::forked, {}});
  if (state_->owner.load(std::memory_order_relaxed) == std::this_thread::get_id())
    return refuse_wait(state_->home, bound, "lock_shared",
                       "this thread holds it exclusively; unlock() it first");
  if (state_->home.locker.load(std::memory_order_relaxed) == std::this_thread::get_id())
    return refuse_wait(state_->home, bound, "lock_shared", held_by_another_object);
  if (state_->common.join()) {
    share mine(*state_, lease());
    shares_here.push_back(std::move(mine));
    return true;
  }
  lease taken = acquire_impl(lock_mode::shared, acquire_call(bound, nullptr));
  if (!taken) return false;
  if (state_->common.lend(*taken.turn_)) taken.turn_ = nullptr;
  share mine(*state_, std::move(taken));
  shares_here.push_back(std::move(mine));
  return true;
}

const lease& lockable_base::current_share() const {
  static const lease none;
  const auto mine = share_here_of(*state_);
  if (mine == shares_here.rend()) return none;
  if (auto& view = mine->view(); !view) {
    auto made = std::make_unique<lease>();
    turn& t = mine->held() ? *mine->held().turn_ : *state_->common.lent();
    t.leases.fetch_add(1, std::memory_order_relaxed);
    *made = lease(&t);
    view = std::move(made);
  }
  return *mine->view();
}

bool lockable_base::downgrade_current(std::error_code* ec) {
  lockable_state& s = *state_;
  if (ec) ec->clear();
  if (!s.current || s.depth != 1) {
    s.home.fail_or_set("downgrade", {errc::not_held, "it is not locked; lock() it first"}, ec);
    return false;
  }
  shares_here.reserve(shares_here.size() + 1);
  lease mine = downgrade_impl(std::move(s.current), ec);
  if (!mine) return false;
  unlock_current();  // empty by now: the object is free for its next holder
  shares_here.emplace_back(s, std::move(mine));
  return true;
}

void lockable_base::unlock_shared_of_this_thread() noexcept {
  const auto mine = share_here_of(*state_);
  if (mine == shares_here.rend()) return;
  std::swap(*mine, shares_here.back());
  shares_here.pop_back();
}

bool lockable_base::lock_within(wait_bound bound) {
  lockable_state& s = *state_;
  if (!s.home.client().is_of_this_process()) s.home.fail("lock", {errc::forked, {}});
  const std::thread::id me = std::this_thread::get_id();
  if (s.owner.load(std::memory_order_relaxed) == me) {
    if (s.traits.recursive) {
      ++s.depth;
      return true;
    }
    return refuse_wait(s.home, bound, "lock",
                       "this thread holds it; unlock() it first, or use recursive_mutex");
  }
  if (holds_share_here(s.home))
    return refuse_wait(s.home, bound, "lock",
                       "this thread holds a share of it; unlock_shared() it first");
  if (s.home.locker.load(std::memory_order_relaxed) == me)
    return refuse_wait(s.home, bound, "lock", held_by_another_object);
  lease taken = acquire_impl(lock_mode::exclusive, acquire_call(bound, nullptr));
  if (!taken) return false;
  s.current = std::move(taken);
  s.depth = 1;
  s.owner.store(me, std::memory_order_relaxed);
  s.home.locker.store(me, std::memory_order_relaxed);
  return true;
}

void lockable_base::unlock_current() noexcept {
  lockable_state& s = *state_;
  if (s.depth > 1) {
    --s.depth;
    return;
  }
  s.depth = 0;
  // Another thread has the mark where it locked another object after this lease was lost.
  std::thread::id mine = s.owner.exchange(std::thread::id{}, std::memory_order_relaxed);
  s.home.locker.compare_exchange_strong(mine, std::thread::id{}, std::memory_order_relaxed);
  // First: the next holder writes s.current as soon as this lease is released.
  lease leaving = std::move(s.current);
  leaving.unlock();
}

const lease& lockable_base::current_lease() const noexcept { return state_->current; }

std::uint32_t lockable_base::permits_in_all() const noexcept { return state_->traits.permits; }

}  // namespace holdfast::inline v0::detail

namespace holdfast::inline v0 {

std::shared_lock<shared_mutex> shared_mutex::lock_down(std::unique_lock<shared_mutex>& mine,
                                                       std::error_code* ec) {
  if (!mine.owns_lock() || mine.mutex() != this) {
    if (!ec)
      base::fail(errc::not_held, "downgrade",
                 "the unique_lock does not own this lock; lock() it first", name());
    *ec = errc::not_held;
    return {};
  }
  if (!downgrade_current(ec)) return {};
  mine.release();
  return std::shared_lock<shared_mutex>(*this, std::adopt_lock);
}

std::uint32_t semaphore::total_permits() const noexcept { return permits_in_all(); }

std::uint32_t semaphore::checked(std::uint32_t total_permits) {
  if (total_permits == 0 || total_permits > permits_max)
    base::fail(errc::bad_option, "semaphore",
               "it has " + std::to_string(total_permits) + " permits; give 1 to " +
                   std::to_string(permits_max));
  return total_permits;
}

}  // namespace holdfast::inline v0
