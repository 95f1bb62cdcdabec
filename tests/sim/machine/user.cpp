#include "tests/sim/machine/user.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cohort/local_lock.hpp"
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

void user::after(moment wait, deed what) {
  machine_.post(world_.time.now() + wait, [this, w = std::move(what), n = attempt_] {
    if (!over_ && n == attempt_) w();
  });
}

void user::begin() {
  if (planned_ || over_) return;
  planned_ = true;
  ++attempt_;
  const moment think = world_.chance.between(0ns, world_.think_max());
  after(std::exchange(until_next_, 0ns) + think, [this] {
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

wait_bound user::how_long(moment last_attempt) {
  dice& d = world_.chance;
  const plan& p = world_.schedule;
  const bool calm = world_.is_healed();
  wait_bound how = wait_bound::forever();
  if (!calm && d.chance(p.timed_share)) how = wait_bound::within(d.between(1ms, p.ttl * 3 / 2));
  if (!calm && d.chance(p.attempt_share)) how = wait_bound::one_attempt();
  asked_ = world_.time.now();
  stood_then_ = machine_.stood();
  waits_on_ = how.what == wait_bound::kind::forever;
  const bool is_timed = how.what == wait_bound::kind::within;
  bound_ = is_timed ? how.most * 102 / 100 : moment::max();  // by the slowest clock
  last_attempt_ = last_attempt;
  return how;
}

moment user::attempt_max() const {
  const plan& p = world_.schedule;
  return p.op_timeout * (p.several ? 4 : 2) + (p.is_quiet() ? 0s : 2s);
}

void user::attempts() {
  after(attempt_max(), [this] {
    if (world_.judges(rule::attempt) && is_waiting())
      world_.complain(rule::attempt, "one attempt waits");
  });
}

// A process that was stopped may need all of the rest after it goes on.
moment user::exceeds(moment now) const noexcept {
  constexpr moment alarm_max = 5ms;
  if (over_ || bound_ == moment::max() || !is_waiting() || machine_.is_paused()) return 0ns;
  const moment over =
      std::max(asked_ + bound_ + machine_.stood() - stood_then_, machine_.resumed_at());
  return std::max<moment>(0ns, now - over - last_attempt_ - alarm_max);
}

bool user::withdraws() {
  return !world_.is_healed() && world_.chance.chance(world_.schedule.cancel_share);
}

void user::holds(detail::turn& t, int lock, lock_mode how, int permits, moment asked) {
  world_.watch->begins({.turn = &t,
                        .where = &machine_,
                        .lock = lock,
                        .claim = world_.store->claim_of(t),
                        .how = how,
                        .permits = permits,
                        .asked = asked});
  if (how == lock_mode::exclusive) world_.send_writes(lock, t);
  record(event::user_holds, "holds, token " + std::to_string(t.token), t.token);
}

void user::awaits_notices(detail::turn& t) {
  using fields = detail::turn::extra_fields;
  world_.watch->awaits_notices(&t, t.home.token_of(t, &fields::doubt),
                               t.home.token_of(t, &fields::loss));
}

void user::refused(const base::failure& why) {
  record(event::user_refused,
         "was refused, " + std::to_string(why.code.value()) + ": " + why.code.message() + ' ' +
             why.text,
         why.code.value());
  world_.watch->gave_up(waits_on_, asked_, why);
  if (why.code == errc::exhausted) until_next_ = 20ms;
}

moment user::waits(moment now, moment since) const noexcept {
  const bool waiting = !over_ && (is_waiting() || planned_ || rounds_left_ > 0);
  return waiting ? now - std::max(asked_, since) : moment{};
}

}  // namespace holdfast::sim
