// The layout as the store of its claims: the contract of claims::store_of.
#include <utility>

#include "backend/redis/layouts/string/string_layout.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using core::event_queue;
using core::mutant;
using core::planted;

static_assert(claims::store_of<string_layout, claim>);
static_assert(claims::with_succession<queueing_recipe> &&
              claims::with_waiter_check<queueing_recipe>);

void string_layout::add(claim& c, std::string_view lock) {
  c.lock_ = lock;
  claims_.add(c);
}

void string_layout::remove(claim& c) noexcept {
  drop_owner(c);
  groups_.leave(c.details.group, c);
  claims_.remove(c);
}

std::optional<reply> string_layout::submit(claim& c, operation what, time_point now, event_queue&) {
  if (what == operation::withdraw && !c.was_sent) {  // the server was never sent this id
    c.deferred = operation::none;
    reply done;
    done.to = what;
    done.what = reply::verdict::done;
    done.epoch = c.recipe().epoch();
    return done;
  }
  if (what == operation::renew) {
    renewals_.add(c);
  } else {
    send(c, what, now);
  }
  return {};
}

bool string_layout::takes_successor(const claim& c, operation release,
                                    const core::acquire_request& next) const noexcept {
  return grant_rules::may_succeed({.release = release,
                                   .holder = c.recipe().mode(),
                                   .next = next.mode,
                                   .next_waits = !next.one_attempt,
                                   .is_ready = may_queue()});
}

void string_layout::submit_with_successor(claim& c, claim& next, time_point now) {
  next.was_sent = true;
  collected_.add_release(c, next, now);
}

void string_layout::renew_owner(claim& c) {
  drop_owner(c);
  c.id_.high = core::random_u64(env());
  if (c.recipe().mode() == lock_mode::permit) c.id_ = with_permits(c.id_, c.details.permits);
  c.id_.low = core::random_u64(env()) | 1;
  c.was_sent = c.info_stored = c.info_may_be_stored = false;
  claims_.insert(c);
}

void string_layout::drop_owner(claim& c) noexcept {
  if (!c.id()) return;
  claims_.erase(c);
  c.id_ = {};
}

void string_layout::withdraw_orphan(claim& c, time_point now, event_queue&) {
  if (!c.id() || !c.was_sent || planted(mutant::unknown_acquire_dropped)) return;
  const time_point end = core::saturating_add(now, c.recipe().ttl() + claims::late_request_max);
  over_->tick_by(orphans_.add(now, *this, c.lock(), owner_of(c), end));
}

void string_layout::wake_at(claim& c, time_point t) {
  claims_.wake_at(c, t);
  over_->tick_by(t);
}

void string_layout::after_step(claim& c, time_point now) {
  if (c.recipe().is_idle()) {
    c.deferred = operation::none;
    drop_owner(c);
  }
  if (c.details.group && c.recipe().now_in() != queueing_recipe::state::trying)
    groups_.leave(c.details.group, c);
  count(c, now);
}

// Callers who wait for a reply or a push have the loop driven, as holders do that a push may reach.
void string_layout::count(claim& c, time_point now) {
  const bool waits = c.recipe().waits(), pushable = c.recipe().may_be_pushed();
  const bool listens = c.recipe().listens();
  if (waits == c.was_waiting_ && pushable == c.was_pushable_ && listens == c.was_listening_) return;
  reactor_.count(waits - c.was_waiting_, listens - c.was_listening_);
  const int more = pushable - c.was_pushable_;
  pushable_ += more;
  if (more > 0 && pushable_ == more) over_->tick_by(now + sample_age_max());
  c.was_waiting_ = waits;
  c.was_pushable_ = pushable;
  c.was_listening_ = listens;
}

owner_text string_layout::owner_of(const claim& c) const noexcept {
  return text_of(client_, c.id(), c.recipe().mode());
}

std::string string_layout::text_of_owner(const claim& c) const {
  if (c.recipe().mode() == lock_mode::shared) return group_of(c.recipe().number());
  return std::string(view(owner_of(c)));
}

orphan::orphan(string_layout& l, std::string_view name, const owner_text& o, time_point end)
    : server_orphan(l, end), lock(name), owner(o) {}

claims::withdrawal orphan::withdraw(time_point now) {
  const bool is_sent = home.over().submit(*this, now, [&](request_writer& w) {
    append_withdraw(w.out(), lock, view(owner), home.over().server_stamp());
  });
  return is_sent ? withdrawal::sent : withdrawal::unsent;
}

claims::withdrawal orphan::take(const value& v, time_point) noexcept {
  const bool is_again = read_released(v, {}).to_claim.what == reply::verdict::again;
  return is_again ? withdrawal::again : withdrawal::done;
}

}  // namespace holdfast::redis
