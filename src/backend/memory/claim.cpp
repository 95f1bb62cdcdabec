#include "backend/memory/claim.hpp"

#include <mutex>
#include <utility>

namespace holdfast::memory {

namespace {

owner_id first_id(core::environment& env) noexcept {
  return {core::random_u64(env), core::random_u64(env)};
}

}  // namespace

claim::claim(client_side& side, std::string_view name, core::claim_sink& sink)
    : side_(side), sink_(sink) {
  server& s = side_.transport.at();
  const time_point now = side_.transport.env().now();
  const std::lock_guard guard(s.mutex);
  who = first_id(side_.transport.env());
  s.data.add(s.data.attach(name, now), *this);
}

void claim::operator delete(claim* c, std::destroying_delete_t) {
  // In a fork's child the server's mutex may be locked for ever: leak the claim.
  if (c->side_.transport.is_forked()) return;
  c->detach();
  if (c->retire()) c->on_retired();
}

void claim::detach() noexcept {
  server& s = side_.transport.at();
  const time_point now = side_.transport.env().now();
  const std::lock_guard guard(s.mutex);
  side_.transport.forget(*this);
  s.data.remove(*this);
  s.data.detach(*lock, now);
}

void claim::on_retired() noexcept {
  this->~claim();
  ::operator delete(static_cast<void*>(this));
}

template <class Step>
void claim::verb_at(time_point at, Step step) {
  transport& wire = side_.transport;
  if (wire.is_forked()) return;
  event_queue events;
  const time_point now = at == time_point{} ? wire.env().now() : at;
  {
    const std::lock_guard guard(wire.at().mutex);
    carry_out(step(now, wire.rules()), now, events);
  }
  events.dispatch();
}

void claim::acquire(const core::acquire_request& how) {
  verb_at(how.at, [&](time_point now, const timing& t) {
    const errc fault = side_.closed ? errc::closed : note_details(how);
    if (fault != errc{}) {
      effects out;
      out.what = claim_event::refused;
      out.why = fault;
      return out;
    }
    return recipe_.acquire(how.one_attempt, t.runs_out ? duration(how.ttl) : forever, now, t);
  });
}

// Records what the request needs beyond an exclusive lock; returns the fault of an invalid one.
errc claim::note_details(const core::acquire_request& how) {
  const bool of_permits = how.mode == lock_mode::permit;
  if (how.mode == lock_mode::exclusive && how.note.empty() && !how.group) {
    if (details_) details_.reset();
    return {};
  }
  if (!details_) details_ = std::make_unique<details>();
  details_->note = how.note;
  details_->mode = how.mode;
  details_->permits = of_permits ? how.permits : 0;
  details_->total_permits = of_permits ? how.total_permits : 0;
  details_->group = how.group;
  return of_permits && (how.permits == 0 || how.permits > how.total_permits) ? errc::bad_option
                                                                             : errc{};
}

void claim::cancel() {
  verb([&](time_point now, const timing& t) { return recipe_.cancel(now, t); });
}

void claim::renew(duration ttl, std::uint32_t ticket) {
  verb([&](time_point now, const timing& t) {
    ticket_ = ticket;
    return side_.closed ? effects{} : recipe_.renew(ttl, now, t);
  });
}

void claim::downgrade() {
  verb([&](time_point now, const timing& t) {
    return side_.closed ? effects{} : recipe_.downgrade(now, t);
  });
}

std::string claim::owner() const {
  const std::lock_guard guard(side_.transport.at().mutex);
  const bool shared = recipe_.downgraded() || (details_ && details_->mode == lock_mode::shared);
  return shared ? group_text_of(recipe_.number()) : text_of(who);
}

// When nobody is queued the time of a release does not matter, and reading the clock costs more
// than all the rest: the release is dated to the grant.
bool claim::release_undated(event_queue& events) {
  if (!side_.transport.is_fault_free() || lock->wanted() || lock->holder != who) return false;
  carry_out(recipe_.release(seen_, side_.transport.rules()), seen_, events);
  return true;
}

void claim::release(const core::successor* next) {
  // Copied first: once the end is dispatched, this claim may be gone.
  const core::successor after = next ? *next : core::successor{};
  transport& wire = side_.transport;
  if (wire.is_forked()) return;
  event_queue events;
  {
    const std::lock_guard guard(wire.at().mutex);
    if (!release_undated(events)) {
      const time_point now = wire.env().now();
      effects out = recipe_.release(now, wire.rules());
      if (side_.closed && out.send && !wire.is_fault_free())  // after close() no answer is awaited
        out = recipe_.give_up(errc::outcome_unknown);
      carry_out(out, now, events);
    }
  }
  events.dispatch();
  if (after.who) after.who->acquire(after.request);
}

void claim::give_up(event_queue& events) {
  const bool leaves =
      recipe_.now_in() == recipe::state::releasing || recipe_.now_in() == recipe::state::leaving;
  const effects out = recipe_.give_up(leaves ? errc::outcome_unknown : errc::closed);
  carry_out(out, side_.transport.env().now(), events);
}

claim* claim::of(endpoint& p, const client_side& side) noexcept {
  auto& who = static_cast<subscriber&>(p);
  return &who.home() == &side.transport ? static_cast<claim*>(&who) : nullptr;
}

void claim::on_reply(const reply& r, time_point now, event_queue& events) {
  const effects out = recipe_.on(r, now, side_.transport.rules());
  if (out.what == claim_event::granted) {
    seen_ = now;
    others_waited_ = recipe_.others_wait();
  }
  if (static_cast<unsigned>(out.what) & static_cast<unsigned>(claim_event::extended))
    answered_ = r.ticket;
  if (out.why == errc::mismatch) {
    if (!details_) details_ = std::make_unique<details>();
    details_->is = r.total_permits;
  }
  carry_out(out, now, events);
}

void claim::on_reply(const push& p, time_point now, event_queue& events) {
  if (p.to == who) carry_out(recipe_.on(p, now, side_.transport.rules()), now, events);
}

void claim::on_wake(time_point now, event_queue& events) {
  carry_out(recipe_.on_wake(now, side_.transport.rules()), now, events);
}

void claim::carry_out(const effects& a, time_point now, event_queue& events) {
  transport& wire = side_.transport;
  const std::uint16_t mine = ++turn_;
  if (a.new_id) ++who.low;
  if (a.what != claim_event::none) {
    why_ = a.why;
    events.post(*this, a.what);
  }
  if (a.clear) side_.orphans.add(*lock, who, recipe_.surely_over(), now, events);
  if (details_ && details_->group && !(a.send && a.ask_for == operation::acquire))
    side_.groups.leave(std::exchange(details_->group, {}), *this);
  if (a.send) {
    send(a.ask_for, now, events);
    if (mine != turn_) return;  // it was answered inside send()
  }
  if (a.sleeps) {
    const duration more = core::jittered(wire.env(), a.spread / 2, 1);
    wire.wake_at(*this, core::saturating_add(a.wake, more));
  } else if (!recipe_.waits() && !recipe_.repeats()) {
    wire.wake_at(*this, core::never);
  }
}

void claim::send(operation what, time_point now, event_queue& events) {
  request r = recipe_.to_send(what, now);
  r.who = who;
  r.ticket = ticket_;
  if (what == operation::acquire) {
    r.more = details_.get();
    if (details_ && details_->group)
      return side_.groups.ask(details_->group, *this, *lock, r, now, events);
  }
  side_.transport.send(*this, *lock, r, now, events);
}

void claim::on_event(claim_event what) {
  switch (what) {
    case claim_event::granted:
      return sink_.on_granted({recipe_.number(),
                               side_.transport.rules().runs_out ? recipe_.deadline() : core::never,
                               seen_, others_waited_});
    case claim_event::refused: return sink_.on_refused(reason());
    case claim_event::wanted: return sink_.on_wanted();
    case claim_event::lost: {
      errc why;
      {
        const std::lock_guard guard(side_.transport.at().mutex);  // a release may write it
        why = why_;
      }
      return sink_.on_lost(make_error_code(why));
    }
    case claim_event::ended: return sink_.on_ended(reason());
    case claim_event::extended: {
      time_point deadline;
      std::uint32_t ticket;
      {
        const std::lock_guard guard(side_.transport.at().mutex);  // a later renewal may write them
        deadline = recipe_.deadline();
        ticket = answered_;
      }
      return sink_.on_extended(deadline, ticket);
    }
    case claim_event::none: break;
  }
}

core::failure claim::reason() const {
  if (why_ == errc{}) return {};
  switch (why_) {
    case errc::unavailable:
      return {
          make_error_code(why_),
          "the memory store did not answer in time; is it in an outage, or is its latency above "
          "?op-timeout="};
    case errc::closed: return {make_error_code(why_), "the client was closed"};
    case errc::outcome_unknown:
      return {make_error_code(why_),
              "the memory store did not answer; what may be left there runs out with its ttl"};
    case errc::mismatch: return {make_error_code(why_), mismatch()};
    case errc::bad_option:
      return {make_error_code(why_), "ask for one permit at least, and for no more than there are"};
    default: return {make_error_code(why_), {}};
  }
}

std::string claim::mismatch() const {
  const auto name_of = [](std::uint32_t of) {
    return of == 0 ? std::string("a lock") : "a semaphore of " + std::to_string(of) + " permits";
  };
  return "it is " + name_of(details_->is) + " to those that hold it now, and was asked for as " +
         name_of(details_->total_permits) + ": give one of them another name";
}

}  // namespace holdfast::memory
