#include "backend/memory/store.hpp"

#include <algorithm>
#include <utility>

#include "core/mutant.hpp"

namespace holdfast::memory {

using core::mutant;
using core::planted;
using std::chrono::microseconds;

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

void store::add(entry& e, endpoint& p) noexcept {
  p.lock = &e;
  p.before_ = nullptr;
  p.after_ = e.first_endpoint;
  if (p.after_) p.after_->before_ = &p;
  e.first_endpoint = &p;
}

void store::remove(endpoint& p) noexcept {
  if (p.before_)
    p.before_->after_ = p.after_;
  else
    p.lock->first_endpoint = p.after_;
  if (p.after_) p.after_->before_ = p.before_;
}

endpoint* store::find(const entry& e, const owner_id& who) noexcept {
  endpoint* p = e.first_endpoint;
  while (p && p->who != who) p = p->after_;
  return p;
}

// Those in a queue without an address are gone, so they do not keep the entry.
bool store::idle(const entry& e, time_point now) noexcept { return !e.held(now); }

void store::sweep(time_point now) {
  std::erase_if(entries_, [&](const auto& named) {
    return named.second.references == 0 && idle(named.second, now);
  });
  sweep_at_ = std::max<std::size_t>(64, entries_.size() * 2);
}

reply store::apply(entry& e, const request& r, time_point now, core::environment& env,
                   outbox& out) {
  reply answer;
  answer.epoch = r.epoch;
  answer.ticket = r.ticket;
  answer.ttl = r.ttl;
  answer.sent = r.sent;
  switch (r.what) {
    case operation::ask: ask(e, r, now, env, out, answer); break;
    case operation::leave: leave(e, r, now, env, out, answer); break;
    case operation::renew:
      const bool ours = e.held(now) && (e.holder == r.who || planted(mutant::renew_without_owner));
      if (ours) e.lapses = core::saturating_add(now, r.ttl);
      answer.what = ours ? reply::verdict::moved : reply::verdict::not_owner;
  }
  answer.others_wait = !e.queue.empty();
  return answer;
}

void store::ask(entry& e, const request& r, time_point now, core::environment& env, outbox& out,
                reply& answer) {
  if (!e.held(now)) {
    if (e.queue.empty() || e.queue.front().who == r.who) {
      hold(e, r.who, now, r.ttl, env);
      if (!e.queue.empty()) {
        e.queue.pop_front();
        point_out_first(e, now, out);
      }
    } else {
      hand_over(e, now, env, out);
      if (!e.held(now)) hold(e, r.who, now, r.ttl, env);
    }
  }
  if (e.holder == r.who) {
    e.lapses = core::saturating_add(now, r.ttl);
    if (r.note) e.note = *r.note;
    answer.what = reply::verdict::granted;
    answer.number = e.number;
    return;
  }
  if (r.one_attempt) {
    answer.what = reply::verdict::busy;
    return;
  }
  const auto mine = [&](const waiting& w) { return w.who == r.who; };
  if (std::none_of(e.queue.begin(), e.queue.end(), mine)) {
    e.queue.push_back({r.who, r.ttl, r.window, r.note ? *r.note : std::string()});
    if (e.queue.size() == 1) out.add(find(e, e.holder), {push::hint::wanted, e.holder, {}});
  }
  answer.what = reply::verdict::queued;
  answer.first = e.queue.front().who == r.who;
  answer.lapse = e.lapses - now;
}

void store::leave(entry& e, const request& r, time_point now, core::environment& env, outbox& out,
                  reply& answer) {
  answer.what = reply::verdict::not_owner;
  if (!e.queue.empty()) {
    const bool was_first = e.queue.front().who == r.who;
    e.queue.remove_if([&](const waiting& w) { return w.who == r.who; });
    if (was_first && e.held(now) && e.holder != r.who) point_out_first(e, now, out);
  }
  if (!e.held(now)) return hand_over(e, now, env, out);
  if (e.holder != r.who && !planted(mutant::delete_without_owner)) return;
  answer.what = reply::verdict::left;
  hand_over(e, now, env, out);
}

// To the first in line that has an address; nobody else can ask for it, so the rest are dropped.
void store::hand_over(entry& e, time_point now, core::environment& env, outbox& out) {
  e.holder = {};
  while (!e.queue.empty()) {
    const waiting next = std::move(e.queue.front());
    e.queue.pop_front();
    endpoint* const address = find(e, next.who);
    if (!address) continue;
    hold(e, next.who, now, next.window, env);
    e.note = next.note;
    out.add(address, {push::hint::handed, next.who, {}});
    return point_out_first(e, now, out);
  }
}

void store::point_out_first(entry& e, time_point now, outbox& out) {
  while (!e.queue.empty()) {
    const owner_id who = e.queue.front().who;
    if (endpoint* const address = find(e, who))
      return out.add(address, {push::hint::look, who, e.lapses - now});
    e.queue.pop_front();
  }
}

void store::hold(entry& e, owner_id who, time_point now, duration how_long,
                 core::environment& env) {
  e.holder = who;
  e.number = next_number(now, env);
  e.since = now;
  e.lapses = core::saturating_add(now, how_long);
  e.note.clear();
}

// Never below the wall clock in microseconds: a counter that was set back by a failover or a
// restart is past all its earlier numbers at once.
std::int64_t store::next_number(time_point now, core::environment& env) {
  constexpr auto read_again_after = std::chrono::milliseconds{10};
  ++counter_;
  if (planted(mutant::number_not_floored)) return counter_;
  const auto clock = [&] {
    return std::chrono::duration_cast<microseconds>(now.time_since_epoch());
  };
  if (wall_read_at_ == time_point::min() || now - wall_read_at_ >= read_again_after) {
    wall_read_at_ = now;
    wall_ahead_ = env.wall() - clock();
  }
  counter_ = std::max<std::int64_t>(counter_, (clock() + wall_ahead_).count());
  return counter_;
}

bool store::take_away(std::string_view name, owner_id seen, time_point now, core::environment& env,
                      outbox& out) {
  const auto found = entries_.find(std::string(name));
  if (found == entries_.end() || !found->second.held(now)) return false;
  if (seen && found->second.holder != seen) return false;
  hand_over(found->second, now, env, out);
  return true;
}

void store::snapshot() {
  remembered_.clear();
  for (const auto& [name, e] : entries_) remembered_.emplace(name, e);
  remembered_counter_ = counter_;
}

void store::restart_empty() {
  for (auto& [name, e] : entries_) static_cast<tenure&>(e) = {};
  counter_ = 0;
  wall_read_at_ = time_point::min();
}

void store::fail_over() {
  restart_empty();
  counter_ = remembered_counter_;
  for (const auto& [name, was] : remembered_) {
    const auto [found, made] = entries_.try_emplace(name);
    found->second.name = &found->first;
    static_cast<tenure&>(found->second) = was;
  }
}

}  // namespace holdfast::memory
