#include "tests/sim/world/judge.hpp"

#include <algorithm>

#include "tests/sim/world/machine.hpp"
#include "tests/sim/world/network.hpp"
#include "tests/sim/world/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t claim_digits = 32;

std::string claim_in(std::string_view owner) {
  return std::string(owner.substr(owner.size() - std::min(owner.size(), claim_digits)));
}

bool is_of_ours(std::string_view owner) { return owner.starts_with("hf1:"); }
bool is_open(std::string_view owner) {
  return owner.starts_with("hfg:") || owner.starts_with("hfp:");
}

}  // namespace

judge::judge(world& w) : world_(w) {
  const plan& p = w.schedule;
  for (int i = 0; i < p.locks; ++i) {
    lock_state l;
    l.key = w.lock_name(i);
    const std::string beside = "holdfast:{" + l.key + "}:" + l.key;
    l.queue = beside + ":q";
    l.shared_by = beside + ":r";
    l.permits = beside + ":p";
    l.notes = beside + ":m";
    locks_.push_back(std::move(l));
  }
  const bool slow = p.slow_share > 0 || p.split_share > 0;
  clock_leaps_ = p.has(trouble::clock_forward) || p.has(trouble::clock_back);
  lease_max_ = w.lease_max();
  free_max_ = 100ms + p.delay_max * (slow ? 80 : 8) + p.ttl / 20;
  // What an old connection brings late, and what is taken for lost, is left to run out.
  idle_max_ = free_max_ + (p.kill_forbidden || clock_leaps_ ? lease_max_ : 0ns);
  // A renewal may ask for less than the one before it, whose end the runner-up waits for.
  if (p.users > 1) free_max_ += p.ttl;
  if (p.has(trouble::foreign) || p.has(trouble::foreign_forever)) free_max_ += 350ms;
  ghost_max_ = free_max_ + 1500ms;  // a withdrawal that was refused is repeated after a second
}

void judge::complain(std::string what) {
  if (!complaint_.empty()) return;
  complaint_ = std::move(what);
  world_.record(event::violation, {complaint_.substr(0, complaint_.find(':'))},
                [&] { return "VIOLATION: " + complaint_; });
}

void judge::excuse(moment until) noexcept { excused_until_ = std::max(excused_until_, until); }

void judge::excuse_ghosts(moment until) noexcept {
  ghosts_excused_until_ = std::max(ghosts_excused_until_, until);
}

void judge::unsafe(moment for_so_long) {
  unsafe_until_ = std::max(unsafe_until_, world_.time.now() + for_so_long);
  for (lock_state& l : locks_) {
    for (ownership& o : l.owners) o.judged_from = unsafe_until_ + lease_max_;
    for (auto& [claim, m] : l.ever) m.judged_from = unsafe_until_ + lease_max_;
  }
}

std::string_view judge::now_owner(const lock_state& l) const {
  return l.expires_ms < world_.server_ms() ? std::string_view() : l.owner;
}

void judge::about_to_serve(const pipe& p) {
  if (!p.asks() || world_.schedule.kill_forbidden || !world_.server.is_connected(p.handle()))
    return;
  int& newest = newest_[p.is_for_renewals()][&const_cast<pipe&>(p).owner()];
  if (p.number() < newest)
    complain("old: a request over connection " + std::to_string(p.number()) +
             " was done after its successor " + std::to_string(newest) + " had asked");
  newest = std::max(newest, p.number());
}

void judge::after_server(const pipe* by) {
  for (lock_state& l : locks_) look(l, by);
}

void judge::look(lock_state& l, const pipe* by) {
  const std::string before = l.owner;
  const bool lapsed = l.expires_ms < world_.server_ms();
  if (const auto seen = world_.server.string_at(l.key)) {
    l.expires_ms = seen->expires_ms;
    if (l.owner != seen->text) l.owner = seen->text;
  } else {
    l.owner.clear();
  }
  if (l.owner != before) changed(l, before, lapsed, by);
  if (world_.schedule.locks_are != kind::mutex) look_at_members(l, before, by);
  if (world_.schedule.several) judge_passing(l, before, by);
  if (l.owner != before) judge_notes(l);
}

void judge::changed(lock_state& l, const std::string& before, bool lapsed, const pipe* by) {
  world_.record(event::owner_changed, {l.key, before, l.owner, lapsed}, [&] {
    return l.key + " at the server: " + (before.empty() ? "nobody" : before) +
           (lapsed ? " (lapsed)" : "") + " -> " + (l.owner.empty() ? "nobody" : l.owner);
  });
  if (by && !lapsed && !before.empty() && is_of_ours(before) &&
      by->recent().find(claim_in(before)) == std::string::npos)
    complain("owner: " + before + " lost the lock through a request that was not its own");
  if (by && !lapsed && !before.empty() && !is_of_ours(before) && !is_open(before))
    complain("owner: a foreign owner lost the lock through a request of ours");
  const bool safe = world_.time.now() > unsafe_until_;
  const moment from = safe ? 0ns : unsafe_until_ + lease_max_;
  // A writer that goes on as a reader keeps its number: it has the lock all the time.
  bool downgraded = false;
  if (!lapsed && is_of_ours(before) && l.owner.starts_with("hfg:"))
    for (const auto& [id, ends] : world_.server.scored_at(l.shared_by))
      downgraded = downgraded || claim_in(id) == claim_in(before);
  if (by && l.owner.starts_with("hfg:") && !downgraded) {
    const std::int64_t number = std::stoll(l.owner.substr(4));
    l.owners.push_back({l.owner, world_.time.now(), number, number, from});
    if (!fits(l, l.owners.back(), number))
      complain("tokens: the number of the group " + l.owner + " is not above those before it");
  }
  if (l.owner.empty() || !is_of_ours(l.owner)) return;
  const std::string claim = claim_in(l.owner);
  if (by && by->recent().find(claim) == std::string::npos &&
      !world_.server.has_listener("hf:" + l.owner.substr(4, 16)))
    complain("dead: the lock was handed to " + l.owner + ", and nobody listens there");
  l.owners.push_back({claim, world_.time.now(), 0, 0, from});
}

void judge::after_event() {
  for (int i = 0; i < world_.schedule.locks; ++i) {
    world_.schedule.locks_are == kind::mutex ? judge_holders(i) : judge_sharers(i);
    judge_freedom(i);
    judge_stall(locks_[static_cast<std::size_t>(i)]);
    judge_ghosts(i);
    judge_idleness(i);
  }
}

}  // namespace holdfast::sim
