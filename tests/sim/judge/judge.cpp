#include "tests/sim/judge/judge.hpp"

#include <algorithm>
#include <utility>

#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/network.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

judge::judge(world& w, std::unique_ptr<lock_view> v)
    : world_(w),
      view_(std::move(v)),
      can_(w.store->can()),
      may_have_old_data_(brings_old_data(w.schedule)) {
  const plan& p = w.schedule;
  for (int i = 0; i < p.locks; ++i) {
    lock_state l;
    l.number = i;
    l.key = w.lock_name(i);
    locks_.push_back(std::move(l));
  }
  const bool slow = p.slow_share > 0 || p.split_share > 0;
  clock_leaps_ =
      p.has(trouble::clock_forward) || p.has(trouble::clock_back) || p.has(trouble::clock_set);
  lease_max_ = w.lease_max();
  free_max_ = 100ms + p.delay_max * (slow ? 80 : 8) + p.ttl / 20;
  // Waiters look later by the round trip that they have measured.
  if (p.parts_wait) free_max_ += p.op_timeout / 4;
  // What an old connection brings late, and what is taken for lost, is left to run out.
  // The same of what was released at the server that led before.
  idle_max_ =
      free_max_ +
      (p.kill_forbidden || clock_leaps_ || p.has_two_servers_of_one_name() ? lease_max_ : 0ns);
  idle_max_ += w.store->longest_release();
  // The reply that grants, and the one that a grant is asked for by, may each be kept for a tick.
  if (p.parked_share > 0) idle_max_ += std::max<moment>(1s, 2 * p.tick);
  // A reply waits for the question that is under way, and then for its own.
  if (p.replicas > 0) free_max_ += p.delay_max * (slow ? 80 : 8);
  // A renewal may ask for less than the one before it, whose end the runner-up waits for.
  if (p.users > 1) free_max_ += p.ttl;
  free_max_ += w.store->longest_pause();
  free_max_ += window_of_late_requests();
  window_of_waiter_ = std::max<moment>(p.ttl, w.store->window_of_waiter());
  if (p.has(trouble::foreign) || p.has(trouble::foreign_forever)) free_max_ += 350ms;
  ghost_max_ = free_max_ + 1500ms;  // a withdrawal that was refused is repeated after a second
}

rule_set judge::rules() const {
  rule_set out{rule::one,   rule::told,   rule::once,    rule::lost, rule::owner,
               rule::turns, rule::free,   rule::stalled, rule::kept, rule::given_up,
               rule::shown, rule::broken, rule::old,     rule::left};
  out.add(rules_of_the_machine);
  out.add(view_->rules());
  const bool is_exclusive = (can_.modes & seam::bit_of(lock_mode::exclusive)) != 0;
  const bool is_shared = (can_.modes & seam::bit_of(lock_mode::shared)) != 0;
  const bool has_permits = (can_.modes & seam::bit_of(lock_mode::permit)) != 0;
  const bool is_handed_over = can_.contention == seam::contention_signal::push;
  if (is_exclusive) out.add(rule::passed);
  if (is_exclusive && can_.tokens) out.add({rule::tokens, rule::guarded});
  if (can_.tokens && is_shared) out.add(rule::group);
  if (is_shared || has_permits) out.add(rule::together);
  if (can_.queue == seam::order::fifo) out.add(rule::ghost);
  if (grants_in_order()) out.add(rule::spin);
  if (!is_handed_over && can_.life == seam::lifetime::ttl) out.add(rule::lease);
  // Each of their schedules has trouble, and brings old data.
  if (world_.schedule.has_two_servers_of_one_name())
    out.remove({rule::once, rule::shown, rule::broken, rule::warned});
  out.remove(world_.store->unjudged());
  return out;
}

// A request of an old connection may queue a claim that was withdrawn.
moment judge::window_of_late_requests() const {
  return world_.schedule.kill_forbidden ? world_.store->window_of_waiter() : 0ns;
}

moment judge::longest_lease(const lock_state& l) const {
  auto most = static_cast<double>(view_->now_ms()) * 1e3;
  if (!l.owner.empty()) most = std::max(most, static_cast<double>(l.expires_ms) * 1e3);
  for (const auto& [id, ends] : l.members) most = std::max(most, ends);
  // The members of l do not include those that old data have just brought back.
  if (may_have_old_data_)
    for (const auto& [id, ends] : view_->members_at(l.number)) most = std::max(most, ends);
  const double left = std::max(0.0, most - view_->now_us());
  // Another program's lock without an end is checked every three seconds.
  if (left * 1e3 > static_cast<double>(lease_max_.count())) return lease_max_ + 3s;
  return std::chrono::microseconds(static_cast<std::int64_t>(left));
}

// Waiters check when the lease that they know of would have ended.
void judge::excuse_leases(int lock) {
  const lock_state& l = locks_[static_cast<std::size_t>(lock)];
  world_.excused.add(lock, world_.time.now() + longest_lease(l) + 500ms);
}

void judge::excuse_leases() {
  for (const lock_state& l : locks_) excuse_leases(l.number);
}

// Of claims that have left since: those that wait in the queue, and have the lock.
int judge::revived(const lock_state& l) const {
  const auto is_new = [](const auto& all, std::string_view id) {
    return std::ranges::find(all, id) == all.end();
  };
  int n = 0;
  for (const std::string_view id : view_->queue_at(l.number)) n += is_new(l.line, id);
  const auto owner = view_->owner_at(l.number);
  n += owner && owner->text != l.owner;
  return n;
}

// They check nothing: each may delay the waiters behind it for a lease. Where waiters have windows,
// those of old ones may have been longer.
void judge::excuse_old_queues() {
  const moment window = world_.store->window_of_waiter();
  moment until = world_.time.now() + lease_max_ + window * 2 + 500ms;
  for (lock_state& l : locks_) {
    note_copied(l);
    excuse_leases(l.number);
    const int n = revived(l);
    if (n > 0) {
      const moment mine = world_.time.now() + lease_max_ * (n + 1) + window * 2 + 500ms;
      excuse_waiters(l.number, mine);
      until = std::max(until, mine);
    }
  }
  excuse_ghosts(window > 0ns ? until : moment::max());
}

void judge::excuse_waiters(int lock, moment until) {
  lock_state& l = locks_[static_cast<std::size_t>(lock)];
  world_.excused.add_for_waiters(lock, until);
  l.old_ids.assign(1, l.owner);
  if (const auto owner = view_->owner_at(lock)) l.old_ids.emplace_back(owner->text);
  for (const std::string_view id : view_->queue_at(lock)) l.old_ids.emplace_back(id);
  l.old_waiters = world_.living();
}

// A client has no waiter from before when it has none at all, or has got the lock since.
void judge::look_for_old_waiters(lock_state& l) {
  if (l.old_ids.empty()) return;
  const auto line = view_->queue_at(l.number);
  const bool is_new = std::ranges::find(l.old_ids, l.owner) == l.old_ids.end();
  const std::string_view winner = is_new ? view_->client_in(l.owner) : std::string_view();
  std::erase_if(l.old_waiters, [&](const machine* m) {
    if (m->is_dead() || (!winner.empty() && m->client == winner)) return true;
    return !m->is_paused() && world_.users_waiting(l.number, m->client) == 0;
  });
  const bool is_any_left = std::ranges::any_of(l.old_ids, [&](const std::string& id) {
    return !id.empty() && (id == l.owner || std::ranges::find(line, id) != line.end());
  });
  if (is_any_left || !l.old_waiters.empty()) return;
  l.old_ids.clear();
  world_.excused.end_for_waiters(l.number);
}

std::size_t judge::queue_length(int lock) const { return view_->queue_at(lock).size(); }

void judge::begin_last_act() {
  const plan& p = world_.schedule;
  free_max_ = 100ms + p.delay_max * 8 + p.ttl / 20 + world_.store->longest_pause() +
              window_of_late_requests();
  if (p.replicas > 0) free_max_ += p.delay_max * 8;
  const bool may_run_out = p.kill_forbidden || clock_leaps_;
  if (!may_run_out) idle_max_ = std::min(idle_max_, free_max_ + p.ttl);
  world_.excused.end_all();
}

void judge::excuse_ghosts(moment until) {
  ghosts_excused_until_ = std::max(ghosts_excused_until_, until);
}

void judge::unsafe(moment for_so_long) {
  unsafe_until_ = std::max(unsafe_until_, world_.time.now() + for_so_long);
  for (lock_state& l : locks_) {
    for (ownership& o : l.owners) o.judged_from = unsafe_until_ + lease_max_;
    for (auto& [claim, m] : l.ever) m.judged_from = unsafe_until_ + lease_max_;
  }
}

// Its next renewal shows that the server's clock went on. Where a connection may be lost as well,
// that may come too late for the lease.
void judge::went_on(const machine& m) {
  const plan& p = world_.schedule;
  const bool is_reached = std::ranges::all_of(p.faults, [](const fault& f) {
    return f.what == trouble::pause || f.what == trouble::crash ||
           (f.what >= trouble::process_replaced && f.what <= trouble::machine_stopped);
  });
  const bool is_renewed = is_reached && !p.parts_wait && can_.life == seam::lifetime::ttl;
  const moment renews = lease_max_ / 3 + 250ms + p.delay_max * (p.slow_share > 0 ? 80 : 8);
  believes_until_[&m] =
      world_.time.now() + (is_renewed ? std::min(renews, lease_max_) : lease_max_);
}

void judge::note_copied(lock_state& l) {
  const auto line = view_->queue_at(l.number);
  l.copied.assign(line.begin(), line.end());
}

// From then on all holders have what they believe at the server that leads.
void judge::moved(moment window) {
  if (window <= 0ns) return;
  moved_until_ = std::max(moved_until_, world_.time.now() + window);
  for (lock_state& l : locks_) believe_until(l, moved_until_);
}

void judge::believe_until(lock_state& l, moment until) {
  for (ownership& o : l.owners) o.judged_from = std::max(o.judged_from, until);
  for (auto& [claim, m] : l.ever) m.judged_from = std::max(m.judged_from, until);
  note_copied(l);
}

void judge::lost_writes(moment window) {
  const moment until = world_.time.now() + window;
  for (lock_state& l : locks_)
    if (!is_seen_as_before(l)) believe_until(l, until);
}

bool judge::is_seen_as_before(const lock_state& l) const {
  const auto seen = view_->owner_at(l.number);
  if ((seen ? seen->text : std::string_view()) != l.owner) return false;
  if (seen && seen->expires_ms != l.expires_ms) return false;
  const owner_is kind = view_->kind_of(l.owner);
  if (kind != owner_is::readers && kind != owner_is::permits) return true;
  return std::ranges::equal(view_->members_at(l.number), l.members,
                            [](const auto& a, const auto& b) {
                              return a.first == b.first && a.second == b.second;
                            });
}

// Servers may agree on the holder's own node only after another program has asked for its removal.
void judge::taken(moment window) {
  taken_until_ = std::max(taken_until_, world_.time.now() + window);
}

void judge::forget_numbers() {
  for (lock_state& l : locks_) l.counted_anew = l.owners.size();
}

std::string_view judge::now_owner(const lock_state& l) const {
  const bool has_none = l.owner.empty() || l.expires_ms < view_->now_ms();
  return has_none ? std::string_view() : l.owner;
}

void judge::about_to_serve(const pipe& p, std::string_view bytes) {
  if (p.use().asks) note_use(const_cast<pipe&>(p).owner());
  if (grants_in_order()) judge_spin(bytes);
  if (!p.use().asks || world_.schedule.kill_forbidden || !world_.store->is_connected(p.handle()))
    return;
  auto& of_server = newest_[world_.store->server_of(p.handle())];
  int& newest = of_server[p.is_for_renewals()][&const_cast<pipe&>(p).owner()];
  if (world_.judges(rule::old) && p.number() < newest)
    world_.complain(rule::old, "a request over connection " + std::to_string(p.number()) +
                                   " was done after its successor " + std::to_string(newest) +
                                   " had sent one");
  newest = std::max(newest, p.number());
}

void judge::after_server(const pipe* by) {
  if (by) view_->served(const_cast<pipe*>(by)->owner().client, by->recent());
  if (by && !world_.store->leads(by->handle())) by = nullptr;
  for (lock_state& l : locks_) look(l, by);
}

void judge::look(lock_state& l, const pipe* by) {
  const bool lapsed = l.expires_ms < view_->now_ms();
  const auto seen = view_->owner_at(l.number);
  if (seen) l.expires_ms = seen->expires_ms;
  const std::string_view text = seen ? seen->text : std::string_view();
  const bool is_another = l.owner != text;
  const std::string other = is_another ? std::exchange(l.owner, std::string(text)) : std::string();
  const std::string& before = is_another ? other : l.owner;
  if (is_another) {
    l.periods.back().lapsed = lapsed;
    l.periods.push_back({world_.time.now(), l.owner});
    changed(l, before, lapsed, by);
  } else if (lapsed && l.expires_ms >= view_->now_ms()) {
    l.periods.back().revived = world_.time.now();
  }
  if (world_.schedule.locks_are != kind::mutex) look_at_members(l, before, by);
  const bool is_queued_mutex =
      can_.queue == seam::order::fifo && world_.schedule.locks_are == kind::mutex;
  if (is_queued_mutex && !grants_in_order()) judge_passing(l, before, by);
  if (grants_in_order()) judge_order(l, before, by);
  if (is_another) judge_notes(l);
  judge_lease(l);
  judge_holds(l);
}

// A lock of a holder that is lost must end by itself.
void judge::judge_lease(const lock_state& l) {
  if (clock_leaps_ || !world_.judges(rule::lease)) return;
  const auto most = std::chrono::ceil<std::chrono::milliseconds>(lease_max_) + 1ms;
  const auto is_too_long = [&](std::int64_t end_ms) {
    return end_ms - view_->now_ms() > most.count();
  };
  const bool is_ours = view_->kind_of(l.owner) == owner_is::claim;
  if (is_ours && is_too_long(l.expires_ms))
    world_.complain(rule::lease, l.owner + " has " + l.key + " for longer than was asked for");
  for (const auto& [id, ends] : l.members)
    if (is_too_long(static_cast<std::int64_t>(ends / 1000)))
      world_.complain(rule::lease, id + " has " + l.key + " for longer than was asked for");
}

void judge::judge_holds(const lock_state& l) {
  if (!world_.judges(rule::twice)) return;
  const auto judge_one = [&](std::string_view id) {
    if (view_->holds_of(l.number, id) > 1)
      world_.complain(rule::twice, std::string(id) + " is counted more than once in " + l.key);
  };
  if (view_->kind_of(l.owner) == owner_is::claim) judge_one(l.owner);
  for (const auto& [id, ends] : l.members) judge_one(id);
}

// A promotion that lost writes brings a group back, which readers join until its last one leaves.
bool judge::is_group_of_old_data(const lock_state& l) const {
  if (!may_have_old_data_) return false;
  for (auto p = std::next(l.periods.rbegin()); p != l.periods.rend(); ++p)
    if (!p->owner.empty()) return p->owner == l.owner;
  return false;
}

void judge::changed(lock_state& l, const std::string& before, bool lapsed, const pipe* by) {
  world_.record(event::owner_changed, {l.key, before, l.owner, lapsed}, [&] {
    return l.key + " at the server: " + (before.empty() ? "nobody" : before) +
           (lapsed ? " (lapsed)" : "") + " -> " + (l.owner.empty() ? "nobody" : l.owner);
  });
  const owner_is was = lapsed ? owner_is::nobody : view_->kind_of(before);
  const owner_is is = view_->kind_of(l.owner);
  if (by && was == owner_is::claim && world_.judges(rule::owner) &&
      !by->has_brought(view_->claim_in(before)))
    world_.complain(rule::owner, before + " lost the lock through a request that was not its own");
  if (by && was == owner_is::foreign)
    world_.complain(rule::owner, "a foreign owner lost the lock through a request of ours");
  const bool safe = world_.time.now() > unsafe_until_;
  const moment from = safe ? 0ns : unsafe_until_ + lease_max_;
  // A writer that becomes a reader keeps its number: it has the lock all the time.
  bool downgraded = false;
  if (was == owner_is::claim && is == owner_is::readers)
    for (const auto& [id, ends] : view_->members_at(l.number))
      downgraded = downgraded || view_->claim_in(id) == view_->claim_in(before);
  // Nor does the number of a group change that a reader joined while its last other one left.
  const bool goes_on =
      (!l.owners.empty() && l.owners.back().claim == l.owner) || is_group_of_old_data(l);
  if (by && is == owner_is::readers && !downgraded && !goes_on) {
    const std::int64_t number = view_->number_of(l.owner);
    l.owners.push_back({l.owner, world_.time.now(), number, number, from});
    if (world_.judges(rule::tokens) && !fits(l, l.owners.back(), number))
      world_.complain(rule::tokens,
                      "the number of the group " + l.owner + " is not above those before it");
  }
  // At the limit of a sequence a claim may lose its place to another one, and have it again.
  const auto line = view_->queue_at(l.number);
  const bool is_gone = std::find(line.begin(), line.end(), before) == line.end();
  const bool is_by_itself = by || (can_.life != seam::lifetime::ttl && is_gone);
  if (is_by_itself && was == owner_is::claim && !downgraded)
    note_released(l, view_->claim_in(before));
  if (is != owner_is::claim) return;
  const std::string claim(view_->claim_in(l.owner));
  judge_once(l, claim);
  if (by && world_.judges(rule::dead) && !by->has_brought(claim) &&
      !view_->has_listener(view_->client_in(l.owner)))
    world_.complain(rule::dead, "the lock was handed to " + l.owner + ", which is not subscribed");
  l.owners.push_back({claim, world_.time.now(), 0, 0, from});
}

void judge::after_event() {
  world_.excused.advance();
  for (stay& s : stays_) judge_reports(s);
  for (lock_state& l : locks_) look_for_old_waiters(l);
  for (lock_state& l : locks_) {
    judge_holders(l);
    queue_.clear();
    for (const std::string_view id : view_->queue_at(l.number)) queue_.push_back(seen_in_queue(id));
    const int lost = lost_before_the_first(l, queue_);
    judge_freedom(l, queue_, lost);
    judge_stall(l, lost);
    judge_ghosts(l, queue_);
    judge_idleness(l, lost >= 0);
  }
}

}  // namespace holdfast::sim
