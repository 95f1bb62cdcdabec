// How replies, watches and the session's life change a claim.
#include <algorithm>

#include "backend/zookeeper/recipes/sequential.hpp"
#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using claims::timing;
using core::mutant;
using core::planted;
using namespace std::chrono_literals;

namespace {

// A holder that was alone does not pay for a watch that tells of the end of its node, nor of a
// request to give it back, unless it holds the lock for longer than this.
constexpr duration unwatched = 100ms, unwatched_spread = 50ms;
constexpr duration failed_pause = 50ms;
constexpr int doublings_max = 6;

}  // namespace

sequential_recipe::step sequential_recipe::on(const reply& r, time_point now,
                                              const timing& t) noexcept {
  if (r.epoch != epoch_ && !planted(mutant::late_reply_accepted)) return {};
  if (r.number != 0) number_ = r.number;
  switch (state_) {
    case state::creating: return on_create_reply(r, now, t);
    case state::resolving:
    case state::listing: return on_list_reply(r, now, t);
    case state::watching: return on_watch_reply(r, now, t);
    case state::held: return on_reply_while_held(r, now);
    case state::releasing:
    case state::withdrawing: return on_remove_reply(r, now, t);
    case state::idle:
    case state::waiting:
    case state::lost: break;
  }
  return {};
}

sequential_recipe::step sequential_recipe::on_create_reply(const reply& r, time_point now,
                                                           const timing& t) noexcept {
  step out;
  switch (r.what) {
    case verdict::granted: return become_held(r, now);
    case verdict::created: return ask(state::listing, now, t);
    case verdict::no_parent: out.send = operation::create; return out;
    case verdict::failed:
      out = become_idle(claim_event::refused, r.why);
      out.orphan = r.number != 0;  // it was made, and is of no use
      return out;
    default: return out;
  }
}

sequential_recipe::step sequential_recipe::on_list_reply(const reply& r, time_point now,
                                                         const timing& t) noexcept {
  switch (r.what) {
    case verdict::granted: return become_held(r, now);
    case verdict::behind:
      if (one_attempt_) return leave(state::withdrawing, errc::timed_out, now, t);
      is_next_ = r.is_next;
      others_wait_ = r.others_wait;
      return ask(state::watching, now, t);
    case verdict::gone: return begin(now, t);
    case verdict::failed: return give_up(r.why);
    default: return {};
  }
}

sequential_recipe::step sequential_recipe::on_watch_reply(const reply& r, time_point now,
                                                          const timing& t) noexcept {
  if (r.what == verdict::failed) return give_up(r.why);
  is_revoked_ = r.is_revoked;
  if (r.what != verdict::watched || event_early_) return ask(state::listing, now, t);
  state_ = state::waiting;
  watches_own_ = true;
  step out;
  out.sleeps = true;
  return out;
}

sequential_recipe::step sequential_recipe::on_reply_while_held(const reply& r,
                                                               time_point) noexcept {
  step out;
  switch (r.to) {
    case operation::watch_own:
      if (r.what == verdict::gone) return become_lost(errc::not_held);
      watches_own_ = r.what == verdict::watched;
      if (r.is_revoked && !is_revoked_) out.event = claim_event::revocation;
      is_revoked_ = is_revoked_ || r.is_revoked;
      break;
    case operation::peek_line:
      if (!r.others_wait || others_wait_) break;
      others_wait_ = true;
      out.event = claim_event::wanted;
      break;
    case operation::downgrade:
      is_downgrading_ = false;
      if (r.what == verdict::gone) return become_lost(errc::not_held);
      if (r.what == verdict::done) out.send = operation::watch_own;
      break;
    default: break;
  }
  return out;
}

sequential_recipe::step sequential_recipe::on_remove_reply(const reply& r, time_point now,
                                                           const timing& t) noexcept {
  if (r.what == verdict::done) return end_leaving({});
  if (r.what == verdict::gone) {
    const bool was_held = state_ == state::releasing && attempts_ == 0;
    return end_leaving(was_held ? errc::not_held : errc{});
  }
  step out;  // refused by the server: for as long as the op-timeout allows
  out.sleeps = true;
  out.wake = std::min(now + failed_pause * (1 << std::min<int>(attempts_, doublings_max)), due(t));
  if (attempts_ < 255) ++attempts_;
  return out;
}

sequential_recipe::step sequential_recipe::become_held(const reply& r, time_point now) noexcept {
  if (!planted(mutant::late_reply_accepted)) ++epoch_;  // what else was asked is of no interest
  state_ = state::held;
  asked_since_ = now;
  deadline_ = r.deadline;
  term_ = r.term;
  others_wait_ = r.others_wait;
  step out;
  out.event = claim_event::granted;
  if (is_revoked_) out.event = out.event | claim_event::revocation;
  out.sleeps = true;
  if (!watches_own_) {
    out.wake = now + unwatched;
    out.spread = unwatched_spread;
  }
  return out;
}

sequential_recipe::step sequential_recipe::on_cut(operation what, std::uint32_t epoch,
                                                  time_point now, const timing& t) noexcept {
  step out;
  if (epoch != epoch_) return out;
  switch (state_) {
    case state::creating:
    case state::resolving:
    case state::listing:
    case state::watching: {
      const time_point since = asked_since_;
      out = ask(planted(mutant::create_repeated) ? state::creating : state::resolving, now, t);
      asked_since_ = since;
      out.wake = due(t);
      return out;
    }
    case state::releasing:
    case state::withdrawing:
      if (attempts_ < 255) ++attempts_;
      out.send = operation::remove;
      return out;
    case state::held:
      if (what != operation::watch_own) {
        out.send = what;
      } else {
        out.sleeps = true;
        out.wake = now + unwatched;
      }
      return out;
    default: return out;
  }
}

sequential_recipe::step sequential_recipe::on_blocker(bool has_ended, time_point deadline,
                                                      duration term, time_point now,
                                                      const timing& t) noexcept {
  event_early_ = true;
  if (state_ != state::waiting) return {};
  const bool is_first = is_next_ || planted(mutant::predecessor_that_gave_up);
  if (!has_ended || !is_first || !watches_own_) return ask(state::listing, now, t);
  reply r;
  r.deadline = deadline;
  r.term = term;
  r.others_wait = others_wait_;
  return become_held(r, now);
}

sequential_recipe::step sequential_recipe::on_own_node(bool has_ended, time_point now,
                                                       const timing& t) noexcept {
  if (planted(mutant::own_end_unseen)) return {};
  event_early_ = true;
  watches_own_ = false;
  if (state_ == state::waiting) return ask(state::listing, now, t);
  // Its own request may have ended the node; the answer tells.
  if (!is_held() || is_downgrading_) return {};
  if (has_ended) return become_lost(errc::not_held);
  step out;
  out.send = operation::watch_own;
  return out;
}

sequential_recipe::step sequential_recipe::on_children() noexcept {
  step out;
  if (is_held() && !others_wait_) out.send = operation::peek_line;
  return out;
}

// The events that were missed come now, in any order: none of them grants by itself.
sequential_recipe::step sequential_recipe::on_attached() noexcept {
  is_next_ = is_next_ && planted(mutant::event_after_attaching_grants);
  return {};
}

sequential_recipe::step sequential_recipe::on_session_lost(time_point now,
                                                           const timing& t) noexcept {
  if (is_acquiring()) {
    const time_point since = asked_since_;
    step out = begin(now, t);
    if (one_attempt_) asked_since_ = since;
    out.wake = due(t);
    return out;
  }
  if (is_held()) return become_lost(errc::timed_out);
  return is_leaving() ? end_leaving(errc::outcome_unknown) : step{};
}

sequential_recipe::step sequential_recipe::on_deadline(time_point deadline) noexcept {
  step out;
  if (!is_held()) return out;
  deadline_ = deadline;
  is_doubtful_ = false;
  out.event = claim_event::extended;
  return out;
}

sequential_recipe::step sequential_recipe::on_doubtful() noexcept {
  step out;
  if (!is_held()) return out;
  is_doubtful_ = true;
  out.event = claim_event::doubtful;
  return out;
}

}  // namespace holdfast::zookeeper
