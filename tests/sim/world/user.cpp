#include "tests/sim/world/user.hpp"

#include "backend/redis/claim.hpp"
#include "backend/redis/naming.hpp"
#include "core/conversation.hpp"
#include "core/turn.hpp"
#include "tests/sim/world/machine.hpp"
#include "tests/sim/world/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;
using detail::wait_bound;

namespace {

std::string claim_of_turn(const detail::turn& t) {
  const auto& c = static_cast<const redis::claim&>(*t.of->claim);
  const redis::owner_text text = redis::text_of(0, c.id());
  return std::string(redis::view(text).substr(21));
}

}  // namespace

user::user(world& w, machine& m, detail::slot& s, int number, int lock)
    : world_(w),
      machine_(m),
      slot_(s),
      number_(number),
      lock_(lock),
      rounds_left_(w.schedule.rounds),
      ttl_(w.schedule.ttl * w.chance.between(1, 2)) {}

void user::after(moment wait, void (user::*what)()) {
  machine_.post(world_.time.now() + wait, [this, what, n = attempt_] {
    if (!over_ && n == attempt_) (this->*what)();
  });
}

void user::begin() {
  if (planned_ || over_) return;
  planned_ = true;
  ++attempt_;
  after(world_.chance.between(0ns, world_.schedule.think_max), &user::ask);
}

void user::one_more() {
  rounds_left_ = std::max(rounds_left_, 0) + 1;
  if (!is_busy()) begin();
}

void user::ask() {
  planned_ = false;
  dice& d = world_.chance;
  const plan& p = world_.schedule;
  const bool calm = world_.is_healed();
  wait_bound how = wait_bound::forever();
  if (!calm && d.chance(p.timed_share)) how = wait_bound::within(d.between(1ms, p.ttl * 3 / 2));
  if (!calm && d.chance(p.attempt_share)) how = wait_bound::one_attempt();
  answered_ = false;
  asked_ = world_.time.now();
  call_.emplace(*this);
  call_->how.one_attempt = how.what == wait_bound::kind::one_attempt;
  call_->how.ttl = ttl_;
  if (p.locks_are == kind::shared && d.chance(0.7)) call_->how.how = lock_mode::shared;
  if (p.locks_are == kind::semaphore) {
    call_->how.how = lock_mode::permit;
    call_->how.of = static_cast<std::uint32_t>(p.permits);
    call_->how.permits = static_cast<std::uint32_t>(d.chance(0.6) ? 1 : d.between(1, p.permits));
  }
  world_.note([&] {
    constexpr const char* ways[] = {" asks", " asks to read", " asks for permits: "};
    const auto way = static_cast<std::size_t>(call_->how.how);
    return "user " + std::to_string(number_) + ways[way] +
           (way == 2 ? std::to_string(call_->how.permits) : "");
  });
  if (!calm && d.chance(p.cancel_share)) {
    machine_.post(world_.time.now() + d.between(0ns, p.ttl * 3 / 2), [this, n = attempt_] {
      if (over_ || n != attempt_ || !call_ || answered_) return;
      world_.note([&] { return "user " + std::to_string(number_) + " withdraws"; });
      slot_.withdraw(*call_);
    });
  }
  slot_.begin(*call_, how);
}

// Inside the core: what follows comes as an event of its own.
void user::answered() noexcept {
  answered_ = true;
  if (over_) return;
  if (call_->granted) {
    turn_ = call_->granted;
    const bool counts = call_->how.how == lock_mode::permit;
    world_.watch.begins({.turn = turn_,
                         .where = &machine_,
                         .lock = lock_,
                         .claim = claim_of_turn(*turn_),
                         .how = call_->how.how,
                         .permits = counts ? static_cast<int>(call_->how.permits) : 0});
    world_.note([&] {
      return "user " + std::to_string(number_) + " holds, token " + std::to_string(turn_->token);
    });
  }
  after(0ns, &user::hear);
}

void user::hear() {
  if (turn_) {
    const bool writes = call_->how.how == lock_mode::exclusive;
    call_.reset();
    --rounds_left_;
    if (writes && world_.schedule.locks_are == kind::shared && world_.chance.chance(0.4))
      return after(world_.chance.between(0ns, world_.schedule.hold_max), &user::downgrade);
    return after(world_.chance.between(0ns, world_.schedule.hold_max), &user::leave);
  }
  world_.note([&] {
    return "user " + std::to_string(number_) + " was refused: " + call_->why.code.message() + ' ' +
           call_->why.text;
  });
  call_.reset();
  slot_.drop_user();
  if (rounds_left_ > 0) begin();
}

void user::downgrade() {
  world_.note([&] { return "user " + std::to_string(number_) + " goes on as a reader"; });
  world_.watch.reads_on(turn_);   // first: others may come in before the call is back
  (void)slot_.downgrade(*turn_);  // one that was lost meanwhile is not held either way
  after(world_.chance.between(0ns, world_.schedule.hold_max), &user::leave);
}

void user::leave() {
  world_.note([&] { return "user " + std::to_string(number_) + " leaves"; });
  detail::turn& t = *std::exchange(turn_, nullptr);
  world_.watch.ends(&t);
  slot_.unlock(t);
  if (rounds_left_ > 0) begin();
}

void user::end() noexcept {
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
    world_.watch.ends(turn_);
    slot_.unlock(*std::exchange(turn_, nullptr));
  }
  slot_.drop_user();
}

moment user::waits(moment now, moment since) const noexcept {
  const bool waiting = !over_ && ((call_ && !answered_) || planned_ || rounds_left_ > 0);
  return waiting ? now - std::max(asked_, since) : moment{};
}

}  // namespace holdfast::sim
