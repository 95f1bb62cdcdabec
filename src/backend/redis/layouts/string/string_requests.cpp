// The requests of claims: sent now, or deferred until they may be sent.
#include <algorithm>

#include "backend/redis/layouts/string/deferred.hpp"

namespace holdfast::redis {

bool string_layout::may_send(const claim& c, operation what) const noexcept {
  const grant_rules::readiness r{.commands = over_->is_ready(lane::commands),
                                 .messages = over_->is_ready(lane::messages),
                                 .lanes_agree = over_->lanes_agree(),
                                 .floor = floor_.is_known(),
                                 .raising = is_raising_};
  return grant_rules::may_send(what, c.recipe().mode(), r);
}

void string_layout::send(claim& c, operation what, time_point now) {
  // A lease that was confirmed at another server has a note there, unknown to the recipe.
  if (what == operation::release_uncontended && c.info_may_be_stored) what = operation::release;
  if (what == operation::lock_all) {
    // It may have been in this list before, and was withdrawn: each counts once.
    std::erase_if(deferred_, [&](claims::claim_handle p) { return claims_.at(p) == &c; });
    c.deferred = operation::none;
    defer(c, what);  // it waits for the others, and no longer than its op-timeout
    if (!may_send(c, what)) return;
    if (auto* const whole = groups_.join(c.details.group, c)) send_group(*whole, now);
    return;
  }
  if (!may_send(c, what)) return defer(c, what);
  c.deferred = operation::none;  // what waited would come after what it was given up for
  collected_.add(c, what, now);
}

void string_layout::defer(claim& c, operation what) {
  if (c.deferred == operation::none) {
    deferred_.push_back(c.place());
    c.hurried = false;
  }
  c.deferred = what;
  c.deferred_epoch = c.recipe().epoch();
  const time_point now = env().now();
  over_->tick_by(c.recipe().last_try(settings_.rules));
  over_->note_affected(now);
  watch_outage(now);
  if (c.recipe().is_attempt()) retry_by(now + settings_.retry_base);
  over_->open(lane::commands, now);
  if (what == operation::lock_or_queue) over_->open(lane::messages, now);
  const bool needs_floor = grant_rules::needs_floor(what, c.recipe().mode());
  const bool raises = needs_floor && over_->is_ready(lane::commands) && !floor_.is_known();
  if (raises && raise_at_ == core::never) raise(now);
}

void string_layout::send_deferred(time_point now) {
  review_deferred([&](claim& c) {
    send(c, std::exchange(c.deferred, operation::none), now);
    return false;
  });
}

void string_layout::wait_for_group(claim& c) {
  defer(c, operation::lock_all);
  groups_.join(c.details.group, c);
}

void string_layout::send_group(claims::claim_group<claim>& whole, time_point now) {
  for (claim* c : whole.members) c->deferred = operation::none;
  review_deferred([](claim&) { return true; });
  collected_.add_group(whole.members, now);
  groups_.dissolve(whole);
}

lock_arguments string_layout::arguments_of(const claim& c, owner_text& room) const {
  room = owner_of(c);
  lock_arguments a;
  a.lock = c.lock();
  a.owner = view(room);
  a.stamp = over_->server_stamp();
  a.ttl = c.recipe().ttl();
  a.window = window(a.ttl);
  a.arrival = c.recipe().arrival();
  a.looks = c.recipe().looks();
  a.mode = c.recipe().mode();
  a.waits = !c.recipe().one_attempt();
  a.total_permits = c.details.total_permits;
  return a;
}

// host|pid|since:number|note. The number of the grant is left out while it is not known.
std::string string_layout::holder_info(const claim& c) const {
  const auto since = std::chrono::floor<std::chrono::milliseconds>(env().wall()).count();
  std::string out = settings_.host;
  std::replace(out.begin(), out.end(), '|', '?');
  out += '|' + std::to_string(settings_.process) + '|' + std::to_string(since);
  if (c.recipe().now_in() == queueing_recipe::state::held)
    out += ':' + std::to_string(c.recipe().number());
  out += '|';
  return out.append(c.note());
}

}  // namespace holdfast::redis
