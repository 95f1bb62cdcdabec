#include "tests/sim/machine/user_of_one.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;
using detail::wait_bound;

user_of_one::user_of_one(world& w, machine& m, detail::local_lock& s, int number, int lock)
    : user(w, m, number), slot_(s), lock_(lock) {}

void user_of_one::ask() {
  dice& d = world_.chance;
  const plan& p = world_.schedule;
  const wait_bound how = how_long(0ns);
  answered_ = false;
  call_.emplace(*this);
  call_->request.one_attempt = how.what == wait_bound::kind::one_attempt;
  call_->request.ttl = ttl_;
  if (p.locks_are == kind::shared && d.chance(0.7)) call_->request.mode = lock_mode::shared;
  if (p.locks_are == kind::semaphore) {
    call_->request.mode = lock_mode::permit;
    call_->request.total_permits = static_cast<std::uint32_t>(p.permits);
    call_->request.permits =
        static_cast<std::uint32_t>(d.chance(0.6) ? 1 : d.between(1, p.permits));
  }
  constexpr const char* ways[] = {"requests", "requests a share", "requests permits"};
  const auto way = static_cast<std::size_t>(call_->request.mode);
  record(event::user_asks, ways[way] + (": " + std::to_string(call_->request.permits)), way,
         call_->request.permits);
  if (withdraws()) {
    after(d.between(0ns, p.ttl * 3 / 2), [this] {
      if (!is_waiting()) return;
      record(event::user_withdraws, "withdraws");
      slot_.withdraw(*call_);
    });
  }
  if (call_->request.one_attempt) attempts();
  slot_.begin(*call_, how);
}

moment user_of_one::waits_alone_since(int lock) const noexcept {
  const bool waits = !over_ && lock == lock_ && is_waiting() && !call_->request.one_attempt;
  return waits ? asked_ : moment::max();
}

// Inside the core: what follows comes as an event of its own.
void user_of_one::answered() noexcept {
  answered_ = true;
  if (over_) return;
  if (call_->granted) {
    turn_ = call_->granted;
    const bool counts = call_->request.mode == lock_mode::permit;
    holds(*turn_, lock_, call_->request.mode, counts ? static_cast<int>(call_->request.permits) : 0,
          call_->request.one_attempt ? moment(-1) : asked_);
  }
  after(0ns, [this] { hear(); });
}

void user_of_one::hear() {
  if (turn_) {
    awaits_notices(*turn_);
    const bool writes = call_->request.mode == lock_mode::exclusive;
    call_.reset();
    --rounds_left_;
    const bool reads_on =
        writes && world_.schedule.locks_are == kind::shared && world_.chance.chance(0.4);
    return after(world_.chance.between(0ns, world_.hold_max()),
                 [this, reads_on] { reads_on ? downgrade() : leave(); });
  }
  refused(call_->why);
  call_.reset();
  slot_.drop_user();
  goes_on();
}

void user_of_one::downgrade() {
  record(event::user_downgrades, "downgrades");
  world_.watch->reads_on(turn_);  // first: others may come in before the call is back
  (void)slot_.downgrade(*turn_);  // one that was lost meanwhile is not held either way
  after(world_.chance.between(0ns, world_.hold_max()), [this] { leave(); });
}

void user_of_one::leave() {
  record(event::user_leaves, "leaves");
  detail::turn& t = *std::exchange(turn_, nullptr);
  world_.watch->ends(&t);
  // In some schedules only: a lock whose release is awaited is not kept for the next user.
  const bool may_wait = world_.schedule.seed % 8 == 2 && number_ % 2 == 1;
  const bool is_awaited = may_wait && (!release_ || release_->is_answered);
  if (is_awaited) {
    release_.emplace(*this, world_.time.now());
    slot_.begin_release(t, *release_);
  } else {
    slot_.unlock(t);
  }
  goes_on();
}

// An error that a caller gets is not logged.
void user_of_one::releasing::complete() noexcept {
  is_answered = true;
  if (why.code) home.world_.warned("a release: " + why.text);
  home.slot_.drop_user();
}

// By the slowest clock, and by an alarm that may be late.
moment user_of_one::release_exceeds(moment now) const noexcept {
  constexpr moment alarm_max = 5ms;
  if (over_ || !release_ || release_->is_answered || machine_.is_paused()) return 0ns;
  const moment since = std::max(release_->began, machine_.resumed_at());
  const moment most = world_.schedule.op_timeout * 102 / 100 + alarm_max;
  return std::max<moment>(0ns, now - since - most);
}

void user_of_one::end() noexcept {
  if (over_) return;
  over_ = true;
  if (call_) {
    if (!answered_) slot_.withdraw(*call_);
    if (call_->granted) {
      turn_ = call_->granted;
    } else {
      slot_.drop_user();
    }
    call_.reset();
  }
  if (turn_) {
    world_.watch->ends(turn_);
    slot_.unlock(*std::exchange(turn_, nullptr));
  }
  slot_.drop_user();
}

}  // namespace holdfast::sim
