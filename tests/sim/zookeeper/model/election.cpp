// Elections: leaders, followers, and their separation.
#include <algorithm>
#include <utility>

#include "tests/sim/zookeeper/model/ensemble.hpp"
#include "tests/sim/zookeeper/model/leadership.hpp"

namespace holdfast::sim::zk {

namespace {

constexpr int epoch_shift = 32;

}  // namespace

// Each half of a tick.
void ensemble::tick(replica& r) {
  const moment silence = options_.tick * options_.sync_limit;
  if (r.leads) {
    tick_leader(r);
  } else if (r.is == role::following && host_.now() - r.leader_heard > silence) {
    leave(r);
  } else if (r.is == role::looking) {
    seek(r);
  }
  at_server(r.id, host_.now() + options_.tick / 2, [this, &r] { tick(r); });
}

// Followers tell of their sessions only when they are asked for it.
void ensemble::tick_leader(replica& r) {
  const moment silence = options_.tick * options_.sync_limit;
  std::erase_if(r.leads->followers,
                [&](const auto& f) { return host_.now() - f.second > silence; });
  const auto voting =
      std::ranges::count_if(r.leads->followers, [&](const auto& f) { return votes(of(f.first)); });
  if (static_cast<std::size_t>(voting) + 1 < quorum()) return leave(r);
  for (const auto& [id, heard] : r.leads->followers)
    send(r.id, id, [this, &r, f = id] {
      replica& follower = of(f);
      follower.leader_heard = host_.now();
      send(f, r.id, [this, &r, f, touched = std::exchange(follower.touched, {})] {
        if (const auto found = r.leads->followers.find(f); found != r.leads->followers.end())
          found->second = host_.now();
        for (const auto& [session, timeout_ms] : touched)
          r.leads->sessions.touch(session, timeout_ms, host_.now());
      });
    });
}

// Follows the newest leader that it reaches; where there is none, those that look for one as well
// choose the one that knows most.
void ensemble::seek(replica& r) {
  replica* newest = nullptr;
  for (const auto& other : replicas_)
    if (other->leads && can_talk(r, *other) && other->leads->epoch >= r.accepted_epoch &&
        (!newest || other->leads->epoch > newest->leads->epoch))
      newest = other.get();
  if (newest) return join(r, *newest);
  if (!votes(r)) return;
  std::vector<replica*> all;
  for (const auto& other : replicas_) {
    const bool can =
        other->is == role::looking && votes(*other) && !other->is_down && !other->is_stopped;
    if (can && (other->id == r.id || can_talk(r, *other))) all.push_back(other.get());
  }
  if (all.size() < quorum()) return;
  replica* const best = *std::ranges::max_element(all, {}, [](const replica* one) {
    return std::pair(one->last_logged(), one->id);
  });
  for (replica* const one : all)
    if (one != best && !can_talk(*one, *best)) return;
  lead(*best);
  for (replica* const one : all)
    if (one != best) join(*one, *best);
}

// Its log counts as agreed on, and the timeouts of all sessions begin anew.
void ensemble::lead(replica& r) {
  ++r.term;
  r.close_read_only();
  r.is = role::leading;
  while (r.applied < r.log.size()) r.apply_next();
  const std::int64_t epoch = servers() > 1 ? ++epoch_ : 0;
  r.accepted_epoch = epoch;
  r.leads.reset(new leadership{epoch, {options_.tick, host_.now()}, r.state, {}, {}, {}, {}});
  r.leads->last_zxid = std::max(r.last_logged(), epoch << epoch_shift);
  if (epoch > 0) r.state.begin_epoch(epoch << epoch_shift);
  for (const auto& [session, timeout_ms] : r.state.sessions())
    r.leads->sessions.track(session, timeout_ms, host_.now());
  agree(r);
  at_term(r.id, r.leads->sessions.next_bucket(), [this, &r] { on_bucket(r); });
  at_term(r.id, host_.now() + options_.container_check, [this, &r] { reap_containers(r); });
}

void ensemble::join(replica& r, replica& leader) {
  ++r.term;
  r.close_read_only();
  r.is = role::following;
  r.leader = leader.id;
  r.leader_heard = host_.now();
  r.accepted_epoch = leader.leads->epoch;
  r.log = leader.log;
  while (r.applied < leader.applied) r.apply_next();
  leader.leads->followers[r.id] = host_.now();
  if (votes(r))
    for (auto& [place, acks] : leader.leads->acks) acks.insert(r.id);
  advance(leader);
}

// Its clients are sent away, for they may be served by another.
void ensemble::leave(replica& r) {
  ++r.term;
  r.is = role::looking;
  r.looking_since = host_.now();
  r.leads.reset();
  r.close_all();
}

// Each sees that the connection has ended.
void ensemble::part(replica& one, replica& other) {
  for (const auto& [r, gone] : {std::pair(&one, &other), std::pair(&other, &one)}) {
    if (r->leads) r->leads->followers.erase(gone->id);
    if (r->is == role::following && r->leader == gone->id)
      at_term(r->id, host_.now() + host_.delay(), [this, r = r] { leave(*r); });
  }
}

void ensemble::kill(int server) {
  replica& r = of(server);
  if (r.is_down) return;
  for (const auto& other : replicas_) {
    const bool is_seen =
        other->id != server && host_.now() >= between(server, other->id).frozen_until;
    if (is_seen) part(r, *other);
  }
  leave(r);
  flush();
  r.is_down = true;
  r.is_stopped = false;
  r.held.clear();
}

void ensemble::start(int server) {
  replica& r = of(server);
  if (!r.is_down) return;
  r.is_down = false;
  r.looking_since = host_.now();
  ++r.boot;
  if (servers() == 1) return lead(r);
  at_server(r.id, host_.now() + options_.tick / 2, [this, &r] { tick(r); });
}

void ensemble::forget_all_after(std::size_t first_ones) {
  const auto execute = [](tree& state, const std::vector<transaction>& log, std::size_t count) {
    state = tree();
    for (std::size_t i = 0; i < count; ++i) state.apply(log[i], nullptr);
  };
  const replica* newest = replicas_.front().get();
  for (const auto& r : replicas_) {
    if (r->log.size() > first_ones) r->log.resize(first_ones);
    r->applied = std::min(r->applied, r->log.size());
    execute(r->state, r->log, r->applied);
    if (r->log.size() > newest->log.size()) newest = r.get();
  }
  agreed_count_ = std::min(agreed_count_, newest->log.size());
  execute(agreed_, newest->log, agreed_count_);
}

void ensemble::stop(int server) { of(server).is_stopped = !of(server).is_down; }

void ensemble::resume(int server) {
  replica& r = of(server);
  r.is_stopped = false;
  std::deque<replica::deed> all;
  all.swap(r.held);
  // Its threads run in any order: those that read may be before the one that looks at the clock.
  const moment later = host_.now() + (host_.chance().chance(0.5) ? host_.delay() : moment{});
  for (const replica::deed& d : all)
    if (d.is_by_clock && later > host_.now()) {
      host_.at(later,
               [this, server, boot = r.boot, what = d.what] { run_at(server, boot, what, true); });
    } else {
      d.what();
    }
  flush();
}

void ensemble::freeze(int one, int other, moment until) {
  for (link* const l : {&between(one, other), &between(other, one)})
    l->frozen_until = std::max(l->frozen_until, until);
}

void ensemble::thaw() {
  for (link& l : links_) l.frozen_until = {};
}

void ensemble::cut(int one, int other) { part(of(one), of(other)); }

}  // namespace holdfast::sim::zk
