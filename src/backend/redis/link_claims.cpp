// A link's side towards its claims: the contract of claims::store_of.
#include <utility>

#include "backend/redis/link.hpp"
#include "backend/redis/link_answers.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using core::event_queue;
using core::mutant;
using core::planted;

static_assert(claims::store_of<link, claim>);
static_assert(claims::with_succession<recipe> && claims::with_peek<recipe>);

void link::add(claim& c, std::string_view lock) {
  c.lock_ = lock;
  c.place_ = claims_.add(c);
}

void link::remove(claim& c) noexcept {
  drop_owner(c);
  sleepers_.set(c, core::never);
  groups_.leave(c.details.group, c);
  claims_.remove(c.place());
}

std::optional<reply> link::submit(claim& c, operation what, time_point now, event_queue&) {
  if (what == operation::leave && !c.spoken) {  // the server has never heard of it
    c.parked = operation::none;
    reply done;
    done.to = what;
    done.what = reply::verdict::done;
    done.epoch = c.recipe().epoch();
    return done;
  }
  if (what == operation::renew) {
    renew(c);
  } else {
    ask(c, what, now);
  }
  return {};
}

bool link::takes_successor(const claim& c, operation release,
                           const core::acquire_request& next) const noexcept {
  return grant_rules::may_succeed({.release = release,
                                   .holder = c.recipe().how(),
                                   .next = next.mode,
                                   .next_waits = !next.one_attempt,
                                   .is_ready = may_join()});
}

void link::submit_with_successor(claim& c, claim& next, time_point now) {
  next.spoken = true;
  collected_.add_release(c, next, now);
}

void link::renew_owner(claim& c) {
  if (planted(mutant::owner_id_reused) && c.id()) return;
  drop_owner(c);
  c.id_.high = core::random_u64(env());
  c.id_.low = core::random_u64(env()) | 1;
  c.spoken = c.told_of_holder = c.noted = false;
  claims_.insert(c);
}

void link::drop_owner(claim& c) noexcept {
  if (!c.id()) return;
  claims_.erase(c);
  c.id_ = {};
}

void link::withdraw_orphan(claim& c, time_point now, event_queue&) {
  if (!c.id() || !c.spoken || planted(mutant::unknown_acquire_dropped)) return;
  const time_point end = core::saturating_add(now, c.recipe().ttl() + claims::late_request_max);
  tend_by(orphans_.add(now, *this, c.lock(), owner_of(c), end));
}

void link::wake_at(claim& c, time_point t) {
  sleepers_.set(c, t);
  over_.tick_by(t);
}

void link::after_step(claim& c, time_point now) {
  if (c.recipe().is_idle()) {
    c.parked = operation::none;
    drop_owner(c);
  }
  if (c.details.group && c.recipe().now_in() != recipe::state::asked)
    groups_.leave(c.details.group, c);
  const bool waits = c.recipe().waits(), pushable = c.recipe().may_be_pushed();
  const bool listens = c.recipe().listens();
  if (waits == c.was_waiting_ && pushable == c.was_pushable_ && listens == c.was_listening_) return;
  const tally changes{.waiting = waits - c.was_waiting_,
                      .pushable = pushable - c.was_pushable_,
                      .listening = listens - c.was_listening_};
  c.was_waiting_ = waits;
  c.was_pushable_ = pushable;
  c.was_listening_ = listens;
  count(changes, now);
}

owner_text link::owner_of(const claim& c) const noexcept {
  return text_of(client_, c.id(), c.recipe().how());
}

std::string link::text_of_owner(const claim& c) const {
  if (c.recipe().how() == lock_mode::shared) return group_of(c.recipe().number());
  return std::string(view(owner_of(c)));
}

std::string link::reason(const claim&, errc why) const {
  return why == errc::unavailable || why == errc::outcome_unknown ? why_not() : std::string();
}

claims::withdrawal orphan::withdraw(time_point now) {
  std::string bytes;
  append_leave(bytes, lock, view(owner));
  return home.ask_special(*this, std::move(bytes), now) ? claims::withdrawal::sent
                                                        : claims::withdrawal::unsent;
}

void orphan::on_reply(const value& v, const reply_context& c) {
  using claims::withdrawal;
  link& to = home;  // on_answer() may end this
  const bool is_again = read_released(v, {}).to_claim.what == reply::verdict::again;
  const withdrawal outcome = is_again                   ? withdrawal::again
                             : v.is(value::kind::error) ? withdrawal::refused
                             : to.nothing_older_runs()  ? withdrawal::done
                                                        : withdrawal::unproven;
  to.tend_by(to.orphans().on_answer(*this, outcome, c.now));
}

void orphan::on_cut(const reply_context&) { home.orphans().on_cut(*this); }

}  // namespace holdfast::redis
