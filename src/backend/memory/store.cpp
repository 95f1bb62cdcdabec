#include "backend/memory/store.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::memory {

using base::mutant;
using base::planted;
using std::chrono::microseconds;

namespace {

const request_details no_details;

const request_details& details_of(const request& r) noexcept {
  return r.more ? *r.more : no_details;
}

contenders& contenders_of(entry& e) {
  if (!e.more) e.more = std::make_unique<contenders>();
  return *e.more;
}

// As at every store, no request makes a lease shorter.
void prolong(time_point& lapses, time_point to) noexcept {
  if (to > lapses || planted(mutant::late_renewal_shortens)) lapses = to;
}

// The size in use by holders or waiters: 0 a lock, else a semaphore's permits. With neither, the
// name can become either.
bool is_another(const entry& e, std::uint32_t of, time_point now, std::uint32_t& is) noexcept {
  if (e.held(now)) {
    is = 0;
  } else if (e.more && !e.more->members.empty()) {
    is = e.more->total_permits;
  } else if (e.wanted()) {
    is = e.more->queue.front().what.total_permits;
  } else {
    return false;
  }
  return is != of;
}

time_point earliest_lapse(const entry& e, time_point now) noexcept {
  return e.held(now) ? e.lapses : e.more->earliest_lapse();
}

}  // namespace

lock_state::lock_state(const lock_state& other)
    : holder(other.holder),
      number(other.number),
      since(other.since),
      lapses(other.lapses),
      note(other.note),
      more(other.more ? std::make_unique<contenders>(*other.more) : nullptr) {}

entry& store::attach(std::string_view name, time_point now) {
  if (entries_.size() >= sweep_at_) sweep(now);
  const auto [found, made] = entries_.try_emplace(std::string(name));
  found->second.name = &found->first;
  ++found->second.references;
  return found->second;
}

void store::detach(entry& e, time_point now) {
  if (--e.references == 0 && idle(e, now)) entries_.erase(*e.name);
}

void store::add(entry& e, push_target& p) noexcept {
  p.lock = &e;
  p.before_ = nullptr;
  p.after_ = e.first_push_target;
  if (p.after_) p.after_->before_ = &p;
  e.first_push_target = &p;
}

void store::remove(push_target& p) noexcept {
  if (p.before_)
    p.before_->after_ = p.after_;
  else
    p.lock->first_push_target = p.after_;
  if (p.after_) p.after_->before_ = p.before_;
}

push_target* store::find(const entry& e, const owner_id& owner) noexcept {
  push_target* p = e.first_push_target;
  while (p && p->who != owner) p = p->after_;
  return p;
}

// Queued claims without a push target are gone, so they do not keep the entry.
bool store::idle(const entry& e, time_point now) noexcept {
  if (e.held(now)) return false;
  return !e.more ||
         std::ranges::all_of(e.more->members, [&](const member& m) { return m.lapses <= now; });
}

void store::sweep(time_point now) {
  std::erase_if(entries_, [&](const auto& named) {
    return named.second.references == 0 && idle(named.second, now);
  });
  sweep_at_ = std::max<std::size_t>(64, entries_.size() * 2);
}

// Never below the wall clock in microseconds: otherwise a counter that a failover or a restart has
// set back would give out numbers a second time.
std::int64_t store::next_number(time_point now, base::environment& env) {
  constexpr auto read_again_after = std::chrono::milliseconds{10};
  ++counter_;
  const auto clock = [&] {
    return std::chrono::duration_cast<microseconds>(now.time_since_epoch());
  };
  if (wall_read_at_ == time_point::min() || now - wall_read_at_ >= read_again_after) {
    wall_read_at_ = now;
    wall_ahead_ = env.wall() - clock();
  }
  if (!planted(mutant::number_not_floored))
    counter_ = std::max<std::int64_t>(counter_, (clock() + wall_ahead_).count());
  return counter_;
}

void store::snapshot() {
  remembered_.clear();
  for (const auto& [name, e] : entries_) remembered_.emplace(name, e);
  remembered_counter_ = counter_;
}

void store::restart_empty() {
  for (auto& [name, e] : entries_) static_cast<lock_state&>(e) = {};
  counter_ = 0;
  wall_read_at_ = time_point::min();
}

void store::fail_over() {
  restart_empty();
  counter_ = remembered_counter_;
  for (const auto& [name, was] : remembered_) {
    const auto [found, made] = entries_.try_emplace(name);
    found->second.name = &found->first;
    static_cast<lock_state&>(found->second) = lock_state(was);
  }
}

reply store::apply(entry& e, const request& r, time_point now, base::environment& env,
                   push_list& out) {
  reply answer{.epoch = r.epoch, .ticket = r.ticket, .ttl = r.ttl, .sent = r.sent};
  switch (r.what) {
    case operation::acquire: ask(e, r, now, env, out, answer); break;
    case operation::leave: leave(e, r, now, env, out, answer); break;
    case operation::renew:
    case operation::share: renew(e, r, now, env, out, answer); break;
    case operation::none: break;
  }
  answer.others_wait = e.wanted();
  return answer;
}

bool store::has_room(const entry& e, const request_details& p, time_point now) noexcept {
  return !e.held(now) && (!e.more || e.more->fits(p));
}

// Returns false when the sender does not hold it.
bool store::extend(entry& e, const request& r, time_point now, reply& answer) {
  const time_point lapses = base::saturating_add(now, r.ttl);
  if (e.held(now) && e.holder == r.who) {
    prolong(e.lapses, lapses);
    answer.number = e.number;
    return true;
  }
  member* const m = e.more ? e.more->find(r.who) : nullptr;
  if (!m) return false;
  prolong(m->lapses, lapses);
  answer.number = m->number;
  return true;
}

void store::ask(entry& e, const request& r, time_point now, base::environment& env, push_list& out,
                reply& answer) {
  const request_details& p = details_of(r);
  answer.what = reply::verdict::granted;
  const bool is_free = !e.more && !e.held(now);
  if (!is_free && !admits(e, r, p, now, env, out, answer)) return;
  hold(e, r.who, p, now, r.ttl, env);
  answer.number = e.number;
}

// Returns false when it has answered otherwise.
bool store::admits(entry& e, const request& r, const request_details& p, time_point now,
                   base::environment& env, push_list& out, reply& answer) {
  if (e.more) settle(e, now, env, out);
  if (extend(e, r, now, answer)) return false;
  if (is_another(e, p.total_permits, now, answer.total_permits)) {
    answer.what = reply::verdict::mismatch;
    return false;
  }
  const bool behind = e.wanted() && !planted(mutant::writer_starved);
  if (!behind && has_room(e, p, now)) return true;
  if (r.one_attempt) {
    answer.what = reply::verdict::busy;
    return false;
  }
  enqueue(e, r, p, out);
  answer.what = reply::verdict::queued;
  answer.first = e.more->first_in_queue(r.who);
  if (answer.first) e.more->notified_first = r.who;
  answer.lapse = earliest_lapse(e, now) - now;
  return false;
}

void store::enqueue(entry& e, const request& r, const request_details& p, push_list& out) {
  contenders& all = contenders_of(e);
  const auto mine = [&](const waiting& w) { return w.who == r.who; };
  if (std::any_of(all.queue.begin(), all.queue.end(), mine)) return;
  all.queue.push_back({r.who, r.ttl, r.window, p});
  if (all.queue.size() > 1) return;
  out.add(find(e, e.holder), push::hint::wanted, e.holder);
  for (const member& m : all.members) out.add(find(e, m.who), push::hint::wanted, m.who);
}

void store::renew(entry& e, const request& r, time_point now, base::environment& env,
                  push_list& out, reply& answer) {
  if (e.more) settle(e, now, env, out);
  const bool shares = r.what == operation::share;
  const bool alone = e.held(now) && (e.holder == r.who || planted(mutant::renew_without_owner));
  member* const among = e.more ? e.more->find(r.who) : nullptr;
  if (!alone && !among) {
    answer.what = reply::verdict::not_owner;
    answer.others_hold = e.held(now) || (e.more && !e.more->members.empty());
    return;
  }
  answer.what = shares ? reply::verdict::shared : reply::verdict::moved;
  if (!shares) prolong(alone ? e.lapses : among->lapses, base::saturating_add(now, r.ttl));
  if (!alone || !(shares || r.shares)) return;
  found_group(e);
  settle(e, now, env, out);
}

// Makes a group of one reader, which keeps the number of its exclusive grant.
void store::found_group(entry& e) {
  contenders& all = contenders_of(e);
  all.total_permits = 0;
  all.members.push_back({e.holder, e.number, 0, e.since, e.lapses, std::move(e.note)});
  e.note.clear();
  e.holder = {};
}

void store::leave(entry& e, const request& r, time_point now, base::environment& env,
                  push_list& out, reply& answer) {
  answer.what = reply::verdict::not_owner;
  if (e.held(now) && (e.holder == r.who || planted(mutant::delete_without_owner))) {
    e.holder = {};
    answer.what = reply::verdict::left;
  }
  if (!e.more) return;
  e.more->remove_lapsed(now);
  if (e.more->remove(r.who)) answer.what = reply::verdict::left;
  e.more->queue.remove_if([&](const waiting& w) { return w.who == r.who; });
  settle(e, now, env, out);
}

// Removes members whose lease has expired, and grants what is free to the first queued claims that
// have a push target. Claims without one are dropped: nobody could confirm their grant.
void store::settle(entry& e, time_point now, base::environment& env, push_list& out) {
  contenders& all = *e.more;
  all.remove_lapsed(now);
  while (!all.queue.empty()) {
    const waiting& first = all.queue.front();
    if (push_target* const address = find(e, first.who)) {
      if (!has_room(e, first.what, now)) {
        if (all.notified_first != first.who)
          out.add(address, push::hint::look, first.who, earliest_lapse(e, now) - now);
        all.notified_first = first.who;
        return;
      }
      hold(e, first.who, first.what, now, first.window, env);
      out.add(address, push::hint::handed, first.who);
    }
    all.queue.pop_front();
  }
}

void store::hold(entry& e, owner_id owner, const request_details& p, time_point now,
                 duration how_long, base::environment& env) {
  const time_point lapses = base::saturating_add(now, how_long);
  if (p.mode == lock_mode::exclusive) {
    e.holder = owner;
    e.number = next_number(now, env);
    e.since = now;
    e.lapses = lapses;
    if (p.note.empty()) {
      e.note.clear();
    } else {
      e.note = p.note;
    }
    return;
  }
  contenders& all = contenders_of(e);
  e.holder = {};
  const bool joins = p.mode == lock_mode::shared && !all.members.empty();
  if (!joins) e.number = next_number(now, env);
  all.total_permits = p.total_permits;
  const bool stays =
      planted(p.total_permits == 0 ? mutant::zombie_reader : mutant::permit_lost_with_holder);
  all.members.push_back({owner, e.number, p.permits, now, stays ? base::never : lapses, p.note});
}

// None is granted unless all can be. Grants to an earlier copy of the same request stay.
void store::apply_together(std::span<part> parts, time_point now, base::environment& env,
                           push_list& out) {
  bool all = true;
  for (part& one : parts) {
    entry& e = *one.lock;
    const request_details& p = details_of(one.what);
    if (e.more) settle(e, now, env, out);
    one.answer = {};
    if (extend(e, one.what, now, one.answer)) continue;
    std::uint32_t is = 0;
    all = all && !e.wanted() && has_room(e, p, now) && !is_another(e, p.total_permits, now, is);
  }
  for (part& one : parts) {
    entry& e = *one.lock;
    std::uint32_t is = 0;
    if (all) {
      one.answer = apply(e, one.what, now, env, out);
      continue;
    }
    request back = one.what;
    back.what = operation::leave;
    one.answer = apply(e, back, now, env, out);
    const bool another = is_another(e, details_of(one.what).total_permits, now, is);
    one.answer.what = another ? reply::verdict::mismatch : reply::verdict::busy;
    one.answer.total_permits = is;
  }
}

bool store::break_lock(std::string_view name, const holder_seen& seen, time_point now,
                       base::environment& env, push_list& out) {
  const auto found = entries_.find(std::string(name));
  if (found == entries_.end()) return false;
  entry& e = found->second;
  const bool alone = e.held(now) && (!seen || e.holder == seen.who);
  if (alone) e.holder = {};
  bool taken = alone;
  if (e.more) {
    contenders& all = *e.more;
    all.remove_lapsed(now);
    const bool whole =
        !seen || (seen.group != 0 && seen.group == e.number && all.total_permits == 0);
    taken = taken || (whole ? !all.members.empty() : all.remove(seen.who));
    if (whole) all.members.clear();
    settle(e, now, env, out);
  }
  return taken;
}

member* contenders::find(const owner_id& owner) noexcept {
  const auto found = std::ranges::find(members, owner, &member::who);
  return found == members.end() ? nullptr : &*found;
}

bool contenders::remove(const owner_id& owner) noexcept {
  return std::erase_if(members, [&](const member& m) { return m.who == owner; }) > 0;
}

void contenders::remove_lapsed(time_point now) {
  std::erase_if(members, [&](const member& m) { return m.lapses <= now; });
}

bool contenders::fits(const request_details& p) const noexcept {
  if (members.empty()) return true;
  if (p.mode == lock_mode::shared) return true;
  std::uint64_t taken = p.permits;
  for (const member& m : members) taken += m.permits;
  return p.mode == lock_mode::permit && taken <= total_permits;
}

time_point contenders::earliest_lapse() const noexcept {
  return std::ranges::min_element(members, {}, &member::lapses)->lapses;
}

}  // namespace holdfast::memory
