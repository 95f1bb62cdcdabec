#include "backend/redis/claim.hpp"

#include <utility>

#include "backend/redis/link.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using core::claim_event;
using core::event_queue;

namespace {

enum class sends : unsigned char { nothing, soon, at_once };

}  // namespace

claim::claim(link& l, std::string_view lock, core::claim_sink& sink)
    : link_(l), sink_(sink), lock_(lock) {
  const std::lock_guard guard(link_.mutex());
  place_ = link_.claims().add(*this);
}

void claim::operator delete(claim* c, std::destroying_delete_t) {
  if (c->link_.is_forked()) return;  // a thread of the parent may have its hands on it
  {
    const std::lock_guard guard(c->link_.mutex());
    c->drop_id();
    c->link_.sleep(*c, core::never);
    c->link_.claims().remove(c->place_);
  }
  if (c->retire()) c->on_retired();
}

void claim::on_retired() noexcept {
  this->~claim();
  ::operator delete(static_cast<void*>(this));
}

// What is told from inside is the last thing done: the claim, and the client too, may be gone then.
template <class Step>
void claim::verb(Step step) {
  if (link_.is_forked()) return;
  event_queue events;
  const time_point now = link_.env().now();
  sends what = sends::nothing;
  {
    const std::lock_guard guard(link_.mutex());
    what = step(now, events);
  }
  if (what != sends::nothing) link_.request_flush(what == sends::at_once);
  events.dispatch();
}

void claim::acquire(const core::acquire_request& how) {
  verb([&](time_point now, event_queue& events) {
    has_failed_ = false;
    if (!how.note.empty()) {
      text_ = std::make_unique<const std::string>(how.note);
    } else if (text_) {
      text_.reset();
    }
    permits_ = how.permits;
    of_ = how.total_permits;
    with_ = how.group;
    carry_out(steps_.acquire(how.one_attempt, how.ttl, now, how.mode, bool(with_)), now, events);
    return sends::soon;
  });
}

void claim::cancel() {
  verb([&](time_point now, event_queue& events) {
    carry_out(steps_.cancel(now), now, events);
    return sends::soon;
  });
}

void claim::renew(duration ttl, std::uint32_t t) {
  verb([&](time_point now, event_queue& events) {
    ticket = t;
    carry_out(steps_.renew(ttl), now, events);
    return sends::nothing;  // over the line for renewals
  });
}

void claim::downgrade() {
  verb([&](time_point now, event_queue& events) {
    carry_out(steps_.downgrade(), now, events);
    return sends::soon;
  });
}

void claim::peek_line() {
  verb([&](time_point now, event_queue& events) {
    carry_out(steps_.peek_line(), now, events);
    return sends::soon;
  });
}

// The next claim gets in line in the same step, so that the lock goes on to whoever was first and
// one command does for both.
void claim::release(const core::successor* next) {
  bool succeeded = false;
  const bool forked = link_.is_forked();
  verb([&](time_point now, event_queue& events) {
    const bool wanted = steps_.others_wait();
    actions a = steps_.release(now);
    const bool both_alone =
        steps_.how() == lock_mode::exclusive && next && next->request.mode == lock_mode::exclusive;
    const bool lines_up = both_alone && !next->request.one_attempt;
    if (lines_up && a.send == operation::release && link_.may_join()) {
      auto& heir = static_cast<claim&>(*next->who);
      a.send = operation::none;
      heir.carry_out(heir.steps_.succeed(next->request.ttl, now), now, events);
      heir.spoken = true;
      link_.ask_release(*this, heir, now);
      succeeded = true;
    }
    carry_out(a, now, events);
    return wanted ? sends::at_once : sends::soon;
  });
  if (next && !succeeded && !forked) next->who->acquire(next->request);
}

std::string claim::owner() const {
  if (steps_.how() == lock_mode::shared) return group_of(steps_.number());
  return std::string(view(text()));
}

owner_text claim::text() const noexcept { return text_of(link_.client(), id_, steps_.how()); }

void claim::take_id() {
  drop_id();
  id_ = {core::random_u64(link_.env()), core::random_u64(link_.env()) | 1};
  spoken = false;
  told_of_holder = noted = false;
  link_.claims().insert(*this);
}

void claim::drop_id() noexcept {
  if (!id_) return;
  link_.claims().erase(*this);
  id_ = {};
}

void claim::carry_out(actions a, time_point now, event_queue& events) {
  if (a.send == operation::leave && !spoken) {  // the server has never heard of it
    parked = operation::none;
    a = steps_.on(reply{.to = operation::leave,
                        .what = reply::verdict::done,
                        .epoch = steps_.epoch()},
                  now, link_.how().rules);
  }
  if (a.clear && id_ && spoken && !core::planted(core::mutant::unknown_acquire_dropped))
    link_.unclear().add(lock_, text(), steps_.ttl(), now);
  const bool ended = steps_.now_in() == recipe::state::fresh;
  if (a.new_id && !(core::planted(core::mutant::owner_id_reused) && id_)) take_id();
  if (ended) {
    parked = operation::none;
    drop_id();
  }
  if (a.send == operation::renew) {
    link_.renew(*this);
  } else if (a.send != operation::none) {
    link_.ask(*this, a.send, now);
  }
  if (a.sleeps) {
    const bool wakes = a.wake != core::never;
    const duration spread = wakes ? core::jittered(link_.env(), a.spread / 2, 1.0) : duration{};
    link_.sleep(*this, wakes ? core::saturating_add(a.wake, spread) : core::never);
  }
  const bool waits = steps_.waits(), pushable = steps_.may_be_pushed();
  const bool listens = steps_.listens();
  if (waits != was_waiting_ || pushable != was_pushable_ || listens != was_listening_)
    link_.count({.waiting = waits - std::exchange(was_waiting_, waits),
                 .pushable = pushable - std::exchange(was_pushable_, pushable),
                 .listening = listens - std::exchange(was_listening_, listens)},
                now);
  if (a.what == claim_event::none) return;
  if (a.what == claim_event::granted) {
    others_waited_ = steps_.others_wait();
  } else if (a.what == claim_event::refused || a.what == claim_event::lost ||
             a.what == claim_event::ended) {
    why_ = a.why;
  }
  events.post(*this, a.what);
}

void claim::hear(const reply& r, std::string error, std::uint32_t t, time_point now,
                 event_queue& events) {
  const actions a = steps_.on(r, now, link_.how().rules);
  const bool ends = a.what == claim_event::refused || a.what == claim_event::ended;
  if (ends && !error.empty()) set_error(std::move(error));
  if (a.what == claim_event::extended) answered_ = t;
  carry_out(a, now, events);
}

void claim::hear(const push& p, time_point now, event_queue& events) {
  carry_out(steps_.on(p, now), now, events);
}

void claim::hear_cut(std::uint32_t epoch, time_point now, event_queue& events) {
  carry_out(steps_.on_cut(epoch), now, events);
}

void claim::hear_subscribed(time_point now, event_queue& events) {
  carry_out(steps_.on_subscribed(now), now, events);
}

void claim::wake(time_point now, event_queue& events) {
  const actions a = steps_.on_wake(now, link_.how().rules);
  if (a.what != claim_event::none) set_error(link_.why_not());
  carry_out(a, now, events);
}

void claim::overdue(const std::string& why, time_point now, event_queue& events) {
  set_error(why);
  carry_out(steps_.on_overdue(), now, events);
}

void claim::fail(errc why, const std::string& text, time_point now, event_queue& events) {
  if (!steps_.waits()) return;
  set_error(text);
  actions a = steps_.give_up(why);
  a.clear = true;
  carry_out(a, now, events);
}

void claim::set_error(std::string text) {
  text_ = std::make_unique<const std::string>(std::move(text));
  has_failed_ = true;
}

core::failure claim::reason() {
  core::failure out{why_ == errc{} ? std::error_code{} : std::error_code{why_}, {}};
  if (out.code && has_failed_ && why_ != errc::timed_out && why_ != errc::not_held)
    out.text = *text_;
  return out;
}

void claim::on_event(claim_event what) {
  switch (what) {
    case claim_event::granted:  // none of it changes before the core has heard of it
      return sink_.on_granted({steps_.number(), steps_.deadline(), steps_.since(), others_waited_,
                               steps_.handed(), steps_.line_unseen()});
    case claim_event::refused: return sink_.on_refused(reason());
    case claim_event::wanted: return sink_.on_wanted();
    case claim_event::extended: {
      time_point deadline;
      std::uint32_t t = 0;
      {
        const std::lock_guard guard(link_.mutex());
        deadline = steps_.deadline();
        t = answered_;
      }
      return sink_.on_extended(deadline, t);
    }
    case claim_event::lost: {
      errc why;
      {
        const std::lock_guard guard(link_.mutex());  // a release may write it
        why = why_;
      }
      return sink_.on_lost(why);
    }
    case claim_event::ended: return sink_.on_ended(reason());
    case claim_event::doubtful:
    case claim_event::none: return;
  }
}

}  // namespace holdfast::redis
