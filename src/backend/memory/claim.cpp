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
  server& s = side_.wire.at();
  const time_point now = side_.wire.env().now();
  const std::lock_guard guard(s.mutex);
  who = first_id(side_.wire.env());
  s.data.add(s.data.attach(name, now), *this);
}

void claim::operator delete(claim* c, std::destroying_delete_t) {
  if (c->side_.wire.is_forked()) return;  // a thread of the parent may have its hands on it
  c->detach();
  if (c->retire()) c->give_back();
}

void claim::detach() noexcept {
  server& s = side_.wire.at();
  const time_point now = side_.wire.env().now();
  const std::lock_guard guard(s.mutex);
  side_.wire.forget(*this);
  s.data.remove(*this);
  s.data.detach(*lock, now);
}

void claim::give_back() noexcept {
  this->~claim();
  ::operator delete(static_cast<void*>(this));
}

template <class Step>
void claim::verb_at(time_point at, Step step) {
  link& wire = side_.wire;
  if (wire.is_forked()) return;
  crier cry;
  const time_point now = at == time_point{} ? wire.env().now() : at;
  {
    const std::lock_guard guard(wire.at().mutex);
    carry_out(step(now, wire.rules()), now, cry);
  }
  cry.tell_all();
}

void claim::acquire(const core::ask& how) {
  verb_at(how.at, [&](time_point now, const terms& t) {
    const errc fault = side_.closed ? errc::closed : note_wish(how);
    if (fault != errc{}) {
      actions out;
      out.what = tell::refused;
      out.why = fault;
      return out;
    }
    return steps_.acquire(how.one_attempt, t.runs_out ? duration(how.ttl) : forever, now, t);
  });
}

// Or what is wrong with it.
errc claim::note_wish(const core::ask& how) {
  const bool of_permits = how.how == core::mode::permit;
  if (how.how == core::mode::exclusive && how.note.empty() && !how.with) {
    if (wish_) wish_.reset();
    return {};
  }
  if (!wish_) wish_ = std::make_unique<wish>();
  wish_->note = how.note;
  wish_->how = how.how;
  wish_->permits = of_permits ? how.permits : 0;
  wish_->of = of_permits ? how.of : 0;
  wish_->with = how.with;
  return of_permits && (how.permits == 0 || how.permits > how.of) ? errc::bad_option : errc{};
}

void claim::cancel() {
  verb([&](time_point now, const terms& t) { return steps_.cancel(now, t); });
}

void claim::renew(duration ttl, std::uint32_t ticket) {
  verb([&](time_point now, const terms& t) {
    ticket_ = ticket;
    return side_.closed ? actions{} : steps_.renew(ttl, now, t);
  });
}

void claim::downgrade() {
  verb([&](time_point now, const terms& t) {
    return side_.closed ? actions{} : steps_.downgrade(now, t);
  });
}

std::string claim::owner() const {
  const std::lock_guard guard(side_.wire.at().mutex);
  const bool shared = steps_.downgraded() || (wish_ && wish_->how == core::mode::shared);
  return shared ? group_text_of(steps_.number()) : text_of(who);
}

// With nobody in the queue it does not matter when a release arrives, and a clock costs more than
// all the rest: it is dated to the grant.
bool claim::release_undated(crier& cry) {
  if (!side_.wire.calm() || lock->wanted() || lock->holder != who) return false;
  carry_out(steps_.release(seen_, side_.wire.rules()), seen_, cry);
  return true;
}

void claim::release(const core::succession* next) {
  // Read first: once the end is told, this claim may be gone.
  const core::succession after = next ? *next : core::succession{};
  link& wire = side_.wire;
  if (wire.is_forked()) return;
  crier cry;
  {
    const std::lock_guard guard(wire.at().mutex);
    if (!release_undated(cry)) {
      const time_point now = wire.env().now();
      actions out = steps_.release(now, wire.rules());
      if (side_.closed && out.send && !wire.calm())  // nobody waits for an answer any more
        out = steps_.give_up(errc::outcome_unknown);
      carry_out(out, now, cry);
    }
  }
  cry.tell_all();
  if (after.who) after.who->acquire(after.how);
}

void claim::give_up(crier& cry) {
  const bool leaves =
      steps_.now_in() == recipe::state::releasing || steps_.now_in() == recipe::state::leaving;
  const actions out = steps_.give_up(leaves ? errc::outcome_unknown : errc::closed);
  carry_out(out, side_.wire.env().now(), cry);
}

claim* claim::of(endpoint& p, const client_side& side) noexcept {
  auto& who = static_cast<listener&>(p);
  return &who.home() == &side.wire ? static_cast<claim*>(&who) : nullptr;
}

void claim::hear(const reply& r, time_point now, crier& cry) {
  const actions out = steps_.on(r, now, side_.wire.rules());
  if (out.what == tell::granted) {
    seen_ = now;
    others_waited_ = steps_.others_wait();
  }
  if (static_cast<unsigned>(out.what) & static_cast<unsigned>(tell::moved)) answered_ = r.ticket;
  if (out.why == errc::mismatch) {
    if (!wish_) wish_ = std::make_unique<wish>();
    wish_->is = r.of;
  }
  carry_out(out, now, cry);
}

void claim::hear(const push& p, time_point now, crier& cry) {
  if (p.to == who) carry_out(steps_.on(p, now, side_.wire.rules()), now, cry);
}

void claim::wake(time_point now, crier& cry) {
  carry_out(steps_.on_wake(now, side_.wire.rules()), now, cry);
}

void claim::carry_out(const actions& a, time_point now, crier& cry) {
  link& wire = side_.wire;
  const std::uint16_t mine = ++turn_;
  if (a.new_id) ++who.low;
  if (a.what != tell::nothing) {
    why_ = a.why;
    cry.post(*this, a.what);
  }
  if (a.clear) side_.unclear.add(*lock, who, steps_.surely_over(), now, cry);
  if (wish_ && wish_->with && !(a.send && a.ask_for == operation::ask))
    side_.together.leave(std::exchange(wish_->with, {}), *this);
  if (a.send) {
    send(a.ask_for, now, cry);
    if (mine != turn_) return;  // it was answered on the spot
  }
  if (a.sleeps) {
    const duration more = core::jittered(wire.env(), a.spread / 2, 1);
    wire.wake_at(*this, core::saturating_add(a.wake, more));
  } else if (!steps_.waits() && !steps_.repeats()) {
    wire.wake_at(*this, core::never);
  }
}

void claim::send(operation what, time_point now, crier& cry) {
  request r = steps_.to_send(what, now);
  r.who = who;
  r.ticket = ticket_;
  if (what == operation::ask) {
    r.more = wish_.get();
    if (wish_ && wish_->with) return side_.together.ask(wish_->with, *this, *lock, r, now, cry);
  }
  side_.wire.send(*this, *lock, r, now, cry);
}

void claim::say(tell what) {
  switch (what) {
    case tell::granted:
      return sink_.granted({steps_.number(),
                            side_.wire.rules().runs_out ? steps_.deadline() : core::never, seen_,
                            others_waited_});
    case tell::refused: return sink_.refused(reason());
    case tell::wanted: return sink_.wanted();
    case tell::lost: {
      errc why;
      {
        const std::lock_guard guard(side_.wire.at().mutex);  // a release may write it
        why = why_;
      }
      return sink_.lost(make_error_code(why));
    }
    case tell::ended: return sink_.ended(reason());
    case tell::moved: {
      time_point deadline;
      std::uint32_t ticket;
      {
        const std::lock_guard guard(side_.wire.at().mutex);  // a later renewal may write them
        deadline = steps_.deadline();
        ticket = answered_;
      }
      return sink_.moved(deadline, ticket);
    }
    case tell::nothing: break;
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
  return "it is " + name_of(wish_->is) + " to those that hold it now, and was asked for as " +
         name_of(wish_->of) + ": give one of them another name";
}

}  // namespace holdfast::memory
