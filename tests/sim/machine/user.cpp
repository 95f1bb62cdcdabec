#include "tests/sim/machine/user.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cohort/turn.hpp"
#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;
using detail::wait_bound;

user::user(world& w, machine& m, int number)
    : world_(w),
      machine_(m),
      number_(number),
      rounds_left_(w.schedule.rounds),
      ttl_(w.schedule.ttl * w.chance.between(1, 2)) {}

void user::record(event what, std::string_view text, fact first, fact second) {
  world_.record(what, {number_, first, second},
                [&] { return "user " + std::to_string(number_) + ' ' + std::string(text); });
}

void user::after(moment wait, timeline::deed what) {
  machine_.post(world_.time.now() + wait, [this, w = std::move(what), n = attempt_] {
    if (!over_ && n == attempt_) w();
  });
}

void user::begin() {
  if (planned_ || over_) return;
  planned_ = true;
  ++attempt_;
  after(world_.chance.between(0ns, world_.schedule.think_max), [this] {
    planned_ = false;
    ask();
  });
}

void user::one_more() {
  rounds_left_ = std::max(rounds_left_, 0) + 1;
  if (!is_busy()) begin();
}

void user::goes_on() {
  if (rounds_left_ > 0) begin();
}

wait_bound user::how_long() {
  dice& d = world_.chance;
  const plan& p = world_.schedule;
  const bool calm = world_.is_healed();
  wait_bound how = wait_bound::forever();
  if (!calm && d.chance(p.timed_share)) how = wait_bound::within(d.between(1ms, p.ttl * 3 / 2));
  if (!calm && d.chance(p.attempt_share)) how = wait_bound::one_attempt();
  asked_ = world_.time.now();
  waits_on_ = how.what == wait_bound::kind::forever;
  return how;
}

void user::attempts() {
  const plan& p = world_.schedule;
  const bool is_quiet = p.faults.empty() && !p.parts_wait && !p.kill_forbidden;
  const moment most = p.op_timeout * (p.several ? 4 : 2) + (is_quiet ? 0s : 2s);
  after(most, [this] {
    if (is_waiting()) world_.complain("attempt: one attempt waits");
  });
}

bool user::withdraws() {
  return !world_.is_healed() && world_.chance.chance(world_.schedule.cancel_share);
}

void user::holds(detail::turn& t, int lock, lock_mode how, int permits) {
  world_.watch->begins({.turn = &t,
                        .where = &machine_,
                        .lock = lock,
                        .claim = world_.store->claim_of(t),
                        .how = how,
                        .permits = permits});
  record(event::user_holds, "holds, token " + std::to_string(t.token), t.token);
}

void user::refused(const core::failure& why) {
  record(event::user_refused,
         "was refused, " + std::to_string(why.code.value()) + ": " + why.code.message() + ' ' +
             why.text,
         why.code.value());
  world_.watch->gave_up(waits_on_, why);
}

moment user::waits(moment now, moment since) const noexcept {
  const bool waiting = !over_ && (is_waiting() || planned_ || rounds_left_ > 0);
  return waiting ? now - std::max(asked_, since) : moment{};
}

}  // namespace holdfast::sim
