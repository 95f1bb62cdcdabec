// A link's outgoing side: what goes now, and what has to wait.
#include <algorithm>

#include "backend/redis/claim.hpp"
#include "backend/redis/link.hpp"
#include "backend/redis/link_answers.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

bool link::may_send(const claim& c, operation what) const noexcept {
  const grant_rules::readiness r{.commands = over_.is_ready(lane::commands),
                                 .messages = over_.is_ready(lane::messages),
                                 .floor = floor_.is_known(),
                                 .raising = raising_};
  return grant_rules::may_send(what, c.recipe().how(), r);
}

void link::ask(claim& c, operation what, time_point now) {
  if (what == operation::gather) {
    // It may have been in this list before, and was withdrawn: each counts once.
    std::erase_if(parked_, [&](claims::claim_place p) { return claims_.at(p) == &c; });
    c.parked = operation::none;
    park(c, what);  // it waits for the others, and no longer than its op-timeout
    if (!may_send(c, what)) return;
    if (auto* const whole = groups_.join(c.details.group, c)) send_group(*whole, now);
    return;
  }
  if (!may_send(c, what)) return park(c, what);
  c.parked = operation::none;  // what waited would come after what it was given up for
  collected_.add(c, what, now);
}

void link::park(claim& c, operation what) {
  if (c.parked == operation::none) {
    parked_.push_back(c.place());
    c.hurried = false;
  }
  c.parked = what;
  const time_point now = env().now();
  over_.tick_by(c.recipe().last_try(settings_.rules));
  over_.note_affected(now);
  watch_outage(now);
  if (c.recipe().is_attempt()) hurry(now + settings_.retry_base);
  over_.open(lane::commands, now);
  if (what == operation::join) over_.open(lane::messages, now);
  const bool needs_floor = grant_rules::needs_floor(what, c.recipe().how());
  const bool raises = needs_floor && over_.is_ready(lane::commands) && !floor_.is_known();
  if (raises && raise_at_ == core::never) raise(now);
}

void link::send_parked(time_point now) {
  review_parked([&](claim& c) {
    ask(c, std::exchange(c.parked, operation::none), now);
    return false;
  });
}

void link::wait_for_group(claim& c) {
  park(c, operation::gather);
  groups_.join(c.details.group, c);
}

void link::send_group(claims::claim_group<claim>& whole, time_point now) {
  for (claim* c : whole.members) c->parked = operation::none;
  review_parked([](claim&) { return true; });
  collected_.add_group(whole.members, now);
  groups_.dissolve(whole);
}

asking link::about(const claim& c, owner_text& room) const {
  room = owner_of(c);
  asking a;
  a.lock = c.lock();
  a.owner = view(room);
  a.ttl = c.recipe().ttl();
  a.window = window(a.ttl);
  a.arrival = c.recipe().arrival();
  a.looks = c.recipe().looks();
  a.how = c.recipe().how();
  a.waits = !c.recipe().one_attempt();
  a.permits = c.details.permits;
  a.of = c.details.total_permits;
  return a;
}

bool link::ask_special(reply_handler& who, std::string&& bytes, time_point now) {
  return over_.submit(who, now, [&](request_writer& w) { w.out() += bytes; });
}

// Lifts the counter to the server's clock: without that no number proves anything.
void link::raise(time_point now) {
  if (raising_) return;
  std::string bytes;
  append_raise(bytes, floor_.last());
  raising_ = ask_special(*raise_answer_, std::move(bytes), now);
}

}  // namespace holdfast::redis
