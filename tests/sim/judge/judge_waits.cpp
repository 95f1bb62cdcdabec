// The judge's view of the queue, and of what keeps claims in it.
#include <algorithm>
#include <utility>

#include "tests/sim/judge/judge.hpp"
#include "tests/sim/machine/network.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

std::string in_ms(moment t) { return std::to_string(t.count() / 1'000'000) + " ms"; }

}  // namespace

judge::queued judge::seen_in_queue(std::string_view id) const {
  const std::string_view client = view_->client_in(id);
  if (client.empty()) return {id, nullptr, false};
  const machine* const m = world_.machine_of(client);
  return {id, m, !m || m->is_dead() || m->is_paused() || world_.excused.covers(*m)};
}

void judge::gave_up(bool waits_on, moment asked, const base::failure& why) {
  if (why.code != errc::unavailable || !world_.judges(rule::given_up)) return;
  const plan& p = world_.schedule;
  // A client treats a server as silent that needs a quarter of the op-timeout for an answer.
  const bool may_seem_silent = p.slow_share > 0 && p.delay_max * 20 >= p.op_timeout / 4;
  if (p.is_quiet() && !may_seem_silent)
    return world_.complain(rule::given_up, why.text + ", though there was no trouble");
  if (!waits_on) return;
  if (p.outage_timeout == 0ms)
    return world_.complain(rule::given_up, "a waiter was refused: " + why.text);
  // Users of one process that wait for one lock are refused together.
  const moment since = p.users == 1 ? asked : 0ns;
  // A client that needs longer to connect than it has before the end is not judged.
  const bool is_slow = p.slow_share > 0 || p.parts_wait || p.has(trouble::pause) ||
                       p.delay_max > p.op_timeout / 150 || p.has(trouble::black_hole) ||
                       p.has(trouble::slow_connects) || p.has(trouble::half_greetings);
  if (!is_slow && !p.had_outage_of(p.outage_timeout, since, world_.time.now()))
    world_.complain(rule::given_up, "a waiter was refused in a shorter outage: " + why.text);
}

bool judge::is_lost(std::string_view id) const {
  const std::string_view client = view_->client_in(id);
  return !client.empty() && !world_.acts(client);
}

// Old data bring claims back that no user wants any more. A server that takes over has the place of
// a claim that the one before has granted, which leaves with its user, even after the loss.
bool judge::is_wanted(const lock_state& l, const queued& one,
                      const std::vector<queued>& queue) const {
  if (!may_have_old_data_ || !one.of) return true;
  if (has_user_inside(l, one.id)) return false;
  const int users = world_.users_waiting(l.number, *one.of, true);
  const bool may_be_old = std::ranges::find(l.copied, one.id) != l.copied.end();
  return users > 0 && !(may_be_old && std::ranges::count(queue, one.of, &queued::of) > users);
}

// How many claims are queued before the first that is wanted and not lost; -1: there is none.
int judge::lost_before_the_first(const lock_state& l, const std::vector<queued>& queue) const {
  if (can_.queue == seam::order::none) return world_.users_waiting(l.number) > 0 ? 0 : -1;
  int n = 0;
  for (const queued& one : queue) {
    if (!one.is_lost_or_excused && is_wanted(l, one, queue)) return n;
    ++n;
  }
  return -1;
}

void judge::judge_freedom(lock_state& l, const std::vector<queued>& queue, int lost) {
  const bool taken = !now_owner(l).empty() && !head_has_room(l);
  // The claim that handed it to a lost waiter watches that from its place in the queue. When it is
  // lost too, the timer of the next waiter is still one on the lease before.
  if (lost >= 0 && l.stalled_since && !l.lost_owner.empty())
    lost = static_cast<int>(std::ranges::count(queue, true, &queued::is_lost_or_excused));
  // After a FLUSHALL the waiters are in no queue.
  if (taken || (lost < 0 && world_.users_waiting(l.number) == 0)) {
    l.free_since.reset();
    l.lost_ahead = 0;
    return;
  }
  const moment now = world_.time.now();
  if (!l.free_since) l.free_since = now;
  l.lost_ahead = std::max(l.lost_ahead, lost);
  moment most = free_max_;
  if (l.lost_ahead > 0) most += window_of_waiter_ * l.lost_ahead + 1s;
  if (world_.excused.covers(l.number) || !world_.judges(rule::free)) return;
  if (now - std::max(*l.free_since, world_.excused.last_end(l.number)) <= most) return;
  std::string ids;
  for (const queued& one : queue) ids.append(" ").append(one.id);
  world_.complain(rule::free, l.key + " was free for " + in_ms(now - *l.free_since) +
                                  " while a user waits behind " + std::to_string(l.lost_ahead) +
                                  " lost ones; queued:" + ids);
}

// It is free, or only holders that are lost have it.
bool judge::has_no_use(const lock_state& l) const {
  const std::string_view owner = now_owner(l);
  const owner_is kind = view_->kind_of(owner);
  if (owner.empty()) return true;
  if (kind == owner_is::claim) return is_lost(owner);
  // Those that wait in a queue look after lost members there.
  if (kind != owner_is::readers || can_.queue == seam::order::fifo) return false;
  const auto at = view_->now_us();
  return std::none_of(l.members.begin(), l.members.end(),
                      [&](const auto& m) { return m.second > at && !is_lost(m.first); });
}

// Of the leases of those that are lost and have it.
moment judge::rest_of_the_lost(const lock_state& l) const {
  if (view_->kind_of(now_owner(l)) == owner_is::claim)
    return std::chrono::milliseconds(l.expires_ms - view_->now_ms());
  double most = 0;
  for (const auto& [id, ends] : l.members) most = std::max(most, ends - view_->now_us());
  return std::chrono::microseconds(static_cast<std::int64_t>(most));
}

void judge::judge_stall(lock_state& l, int lost) {
  if (lost < 0 || !has_no_use(l)) {
    l.stalled_since.reset();
    return;
  }
  const std::string_view owner = now_owner(l);
  const bool is_alone = view_->kind_of(owner) == owner_is::claim;
  const bool is_shared = view_->kind_of(owner) == owner_is::readers;
  const moment now = world_.time.now();
  if (!l.stalled_since) {
    l.stalled_since = l.stalled_until = now;
    l.lost_owner = owner;
    l.handed_to_lost = l.lost_in_stall = 0;
  }
  if (is_alone && owner != l.lost_owner) {
    ++l.handed_to_lost;
    l.lost_owner = owner;
  }
  // Without a queue nobody goes by a window: each waits for the lease that it sees.
  const bool is_seen = l.handed_to_lost == 0 || can_.queue == seam::order::none;
  if (is_shared || (is_alone && is_seen))
    l.stalled_until = std::max(l.stalled_until, now + rest_of_the_lost(l));
  l.lost_in_stall = std::max(l.lost_in_stall, lost + l.handed_to_lost);
  // A waiter in a queue goes by what it saw of the waiters before it.
  const moment more = can_.queue == seam::order::fifo ? 1s : 0s;
  const moment end = std::max(l.stalled_until, world_.excused.last_end(l.number)) + free_max_ +
                     window_of_waiter_ * l.lost_in_stall + more;
  if (world_.excused.covers(l.number) || !world_.judges(rule::stalled) || now <= end) return;
  world_.complain(rule::stalled, "no user could use " + l.key + " for " +
                                     in_ms(now - *l.stalled_since) + ", and " +
                                     std::to_string(l.lost_in_stall) + " waiters are lost");
}

bool judge::has_user_inside(const lock_state& l, std::string_view id) const {
  return std::ranges::any_of(stays_, [&](const stay& s) {
    return s.lock == l.number && view_->claim_in(id) == s.claim;
  });
}

// A claim that was withdrawn, and stays queued. Old data queue the claim of a holder again, which
// leaves with its user; and what was queued when another server took over may have been withdrawn
// at the server before. A late request of an old connection may queue one that has had the lock.
void judge::judge_ghosts(lock_state& l, const std::vector<queued>& queue) {
  if (!world_.judges(rule::ghost)) return;
  const moment now = world_.time.now();
  std::string_view contended;
  for (const queued& one : queue) {
    if (!one.of || one.is_lost_or_excused || one.of->client == contended) continue;
    const auto claims = std::ranges::count_if(queue, [&](const queued& other) {
      const bool is_late = world_.schedule.kill_forbidden &&
                           l.released.contains(std::string(view_->claim_in(other.id)));
      return other.of == one.of && !is_late &&
             std::ranges::find(l.copied, other.id) == l.copied.end() &&
             !(may_have_old_data_ && has_user_inside(l, other.id));
    });
    if (claims > world_.users_waiting(l.number, *one.of)) contended = one.of->client;
  }
  if (contended.empty() || contended != l.contended) {
    l.contended = contended;
    l.contended_since = now;
    return;
  }
  if (now - std::max(l.contended_since, ghosts_excused_until_) <= ghost_max_) return;
  world_.complain(rule::ghost, l.contended + " has more claims in the line of " + l.key +
                                   " than waiting users, for " + in_ms(now - l.contended_since));
}

// For a mutex only: many readers or holders of permits may be lost at once.
void judge::judge_notes(const lock_state& l) {
  const auto line = view_->queue_at(l.number);
  const auto is_in = [](const auto& all, std::string_view id) {
    return std::find(all.begin(), all.end(), id) != all.end();
  };
  // The windows of waiters stay where an operator deletes their queue.
  if (world_.schedule.locks_are != kind::mutex || world_.schedule.has(trouble::key_lost)) return;
  if (!world_.judges(rule::notes)) return;
  int lost = 0;
  std::string whom;
  // A request for several at once removes dead waiters from a queue, and their windows stay.
  for (const std::string_view id : view_->notes_at(l.number, !world_.schedule.several)) {
    if (id == l.owner || is_in(line, id)) continue;
    ++lost;
    whom += ' ' + std::string(id);
  }
  if (lost > 1)
    world_.complain(rule::notes, "the server keeps " + std::to_string(lost) +
                                     " on claims that neither hold " + l.key + " nor wait:" + whom);
}

void judge::judge_passing(lock_state& l, const std::string& owner_before, const pipe* by) {
  const auto queue = view_->queue_at(l.number);
  if (std::ranges::equal(l.line, queue) && l.owner == owner_before) return;
  const std::vector<std::string> before =
      std::exchange(l.line, std::vector<std::string>(queue.begin(), queue.end()));
  if (!by || l.owner == owner_before || view_->kind_of(l.owner) != owner_is::claim) return;
  // A claim may have been queued since its client has left that request behind at the other server.
  if (world_.schedule.has_two_servers_of_one_name() && !by->alive()) return;
  // One that was not queued got a lock whose lease had ended, for which no queue is read.
  const bool was_queued = std::find(before.begin(), before.end(), l.owner) != before.end();
  if (!was_queued && !view_->asks_for_several(by->recent(), l.owner)) return;
  for (const std::string& other : before) {
    if (other == l.owner) return;
    if (std::ranges::find(queue, other) == queue.end()) continue;
    return world_.complain(rule::passed,
                           l.owner + " got " + l.key + " past " + other + ", which waits");
  }
}

// A living claim that has the lock, or a part of it, with no user inside; or empty.
std::string_view judge::idle_holder(const lock_state& l) const {
  const auto is_idle = [&](std::string_view id) {
    // While its lease cannot be renewed, no other turn begins, and the lease expires.
    const queued holder = seen_in_queue(id);
    const bool is_unrenewed = holder.of && holder.of->awaits_renewals();
    return !has_user_inside(l, id) && !holder.is_lost_or_excused && !is_unrenewed &&
           !view_->is_given_up(l.number, id) && view_->has_listener(view_->client_in(id));
  };
  const std::string_view owner = now_owner(l);
  if (view_->kind_of(owner) == owner_is::claim) return is_idle(owner) ? owner : std::string_view();
  const auto at = view_->now_us();
  for (const auto& [id, ends] : l.members)
    if (!owner.empty() && ends > at && is_idle(id)) return id;
  return {};
}

void judge::judge_idleness(lock_state& l, bool has_waiters) {
  const std::string_view idle = idle_holder(l);
  const moment now = world_.time.now();
  const bool lingers =
      world_.schedule.linger.count() > 0 && can_.contention != seam::contention_signal::silent;
  const bool is_kept = !idle.empty() && (!lingers || has_waiters);
  if (!is_kept || l.idle != idle) {
    l.idle = is_kept ? idle : std::string_view();
    l.idle_since = now;
    return;
  }
  if (world_.excused.covers(l.number) || !world_.judges(rule::kept)) return;
  // Old data bring a claim back whose release was lost. A renewal that its client had sent before
  // the release extends the lease then.
  const bool is_old = may_have_old_data_ && l.released.contains(std::string(view_->claim_in(idle)));
  const moment most = is_old ? std::max(idle_max_, lease_max_) : idle_max_;
  if (now - std::max(l.idle_since, world_.excused.last_end(l.number)) <= most) return;
  world_.complain(rule::kept, l.idle + " has had " + l.key + " for " + in_ms(now - l.idle_since) +
                                  " with no user inside");
}

}  // namespace holdfast::sim
