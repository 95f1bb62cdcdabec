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
  return grant_rules::may_send(what, c.steps().how(), r);
}

void link::ask(claim& c, operation what, time_point now) {
  if (what == operation::gather) {
    // It may have been in this list before, and was withdrawn: each counts once.
    std::erase_if(parked_, [&](claim_table::place p) { return claims_.at(p) == &c; });
    c.parked = operation::none;
    park(c, what);
    if (may_send(c, what)) gather_if_whole(c.with(), now);
    return;
  }
  if (!may_send(c, what)) return park(c, what);
  c.parked = operation::none;  // what waited would come after what it was given up for
  collected_.add(c, what, by::hash, now);
}

void link::park(claim& c, operation what) {
  if (c.parked == operation::none) {
    parked_.push_back(c.place());
    c.hurried = false;
  }
  c.parked = what;
  const time_point now = env().now();
  over_.tick_by(c.steps().last_try(settings_.rules));
  over_.note_affected(now);
  watch_outage(now);
  if (c.steps().is_attempt()) hurry(now + settings_.retry_base);
  over_.open(lane::commands, now);
  if (what == operation::join) over_.open(lane::messages, now);
  const bool needs_floor = grant_rules::needs_floor(what, c.steps().how());
  const bool raises = needs_floor && over_.is_ready(lane::commands) && !floor_.is_known();
  if (raises && raise_at_ == core::never) raise(now);
}

void link::send_parked(time_point now) {
  review_parked([&](claim& c) {
    ask(c, std::exchange(c.parked, operation::none), now);
    return false;
  });
}

// Those who are asked for together go when all of them have come.
void link::gather_if_whole(const core::lock_group& g, time_point now) {
  const auto is_one = [&](claim_table::place p) {
    const claim* const c = claims_.at(p);
    return c && c->parked == operation::gather && c->with() == g;
  };
  if (std::ranges::count_if(parked_, is_one) < g.members) return;
  std::vector<claim*> members;
  members.reserve(g.members);
  review_parked([&](claim& c) {
    if (c.parked != operation::gather || c.with() != g) return true;
    c.parked = operation::none;
    members.push_back(&c);
    return false;
  });
  collected_.add_group(members, now);
}

asking link::about(const claim& c, owner_text& room) const {
  room = c.text();
  asking a;
  a.lock = c.lock();
  a.owner = view(room);
  a.ttl = c.steps().ttl();
  a.window = window(a.ttl);
  a.arrival = c.steps().arrival();
  a.looks = c.steps().looks();
  a.how = c.steps().how();
  a.waits = !c.steps().one_attempt();
  a.permits = c.permits();
  a.of = c.of();
  return a;
}

void link::ask_release(claim& c, claim& next, time_point now) {
  collected_.add_release(c, next, now);
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
