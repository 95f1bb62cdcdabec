// The judge's view of locks that are shared, and of semaphores.
#include <algorithm>
#include <charconv>
#include <utility>

#include "tests/sim/judge/judge.hpp"
#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/network.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

using member_list = std::vector<std::pair<std::string, double>>;

bool is_in(const member_list& all, std::string_view id) {
  return std::any_of(all.begin(), all.end(), [&](const auto& m) { return m.first == id; });
}

bool lives(const member_list& all, std::string_view id, double at) {
  return std::ranges::any_of(all, [&](const auto& m) { return m.first == id && m.second > at; });
}

}  // namespace

void judge::look_at_members(lock_state& l, const std::string& owner_before, const pipe* by) {
  member_list now;
  const owner_is owner = view_->kind_of(l.owner);
  if (owner == owner_is::readers || owner == owner_is::permits)
    for (const auto& [id, ends] : view_->members_at(l.number)) now.emplace_back(id, ends);
  const auto queue = view_->queue_at(l.number);
  members_changed(l, now, queue, owner_before, by);
  l.members = std::move(now);
  if (std::ranges::equal(l.line, queue)) return;
  const std::vector<std::string> before =
      std::exchange(l.line, std::vector<std::string>(queue.begin(), queue.end()));
  for (const std::string& id : l.line) {
    const moment at = world_.time.now();
    queueing& mine = l.queued_at.try_emplace(id, queueing{at, at}).first->second;
    if (std::ranges::find(before, id) == before.end()) mine.last = at;
  }
}

void judge::members_changed(lock_state& l, const member_list& now, const queue_seen& queue,
                            const std::string& owner_before, const pipe* by) {
  const auto at = view_->now_us();
  for (const auto& [id, ends] : l.members) {
    const bool is_kept = is_in(now, id);
    const bool is_revived = is_kept && ends <= at && lives(now, id, at);
    if (is_kept && !is_revived) continue;
    for (tenure& t : l.tenures)
      if (t.id == id) t.until = std::min(t.until, world_.time.now());
    if (is_revived) l.tenures.push_back({id, world_.time.now()});
    if (is_kept) continue;
    world_.record(event::member_left, {l.key, id}, [&, &who = id] {
      return l.key + " at the server: " + who + " is no member any more";
    });
    const bool is_named =
        by &&
        (by->has_brought(view_->claim_in(id)) ||
         (view_->kind_of(owner_before) == owner_is::readers && by->has_brought(owner_before)));
    if (by && ends > at && !is_named)
      world_.complain(rule::owner, id + " lost its share through a request that was not its own");
    if (by && ends > at && view_->claim_in(l.owner) != view_->claim_in(id))
      note_released(l, view_->claim_in(id));
  }
  int had = 0;
  for (const auto& [id, ends] : now) {
    if (!is_in(l.members, id)) l.tenures.push_back({id, world_.time.now()});
    if (!is_in(l.members, id) || l.owner != owner_before) came_in(l, id, queue, owner_before, by);
    if (ends > at) had += view_->permits_of(l.number, id);
  }
  if (had > world_.schedule.permits && world_.schedule.locks_are == kind::semaphore)
    world_.complain(rule::together, std::to_string(had) + " permits are had at the server");
}

void judge::came_in(lock_state& l, const std::string& id, const queue_seen& queue,
                    const std::string& owner_before, const pipe* by) {
  world_.record(event::member_came, {l.key, id},
                [&] { return l.key + " at the server: " + id + " came in"; });
  judge_once(l, view_->claim_in(id));
  const bool safe = world_.time.now() > unsafe_until_;
  membership& m = l.ever[std::string(view_->claim_in(id))];
  if (view_->kind_of(l.owner) == owner_is::readers) m.number = view_->number_of_reader(l.owner, id);
  if (view_->claim_in(owner_before) == view_->claim_in(id)) {  // it was the writer
    if (!l.owners.empty()) m.judged_from = std::max(m.judged_from, l.owners.back().judged_from);
    return;
  }
  for (const stay& s : stays_)
    if (s.claim == view_->claim_in(id))
      m.judged_from = std::max(m.judged_from, elsewhere_until(*s.where));
  // Its client may have left the server that led before, and not have confirmed that grant yet. A
  // lease that is confirmed keeps its token.
  for (const ownership& o : l.owners) {
    if (!o.is_stray || o.claim != view_->claim_in(id)) continue;
    m.judged_from = std::max(m.judged_from, o.judged_from);
    m.kept = o.stray_number;
  }
  // What it believes may be of an earlier share, which was lost with the server's data.
  if (!safe) m.judged_from = unsafe_until_ + lease_max_;
  if (!by) return;
  if (world_.judges(rule::dead) && !by->has_brought(view_->claim_in(id)) &&
      !view_->has_listener(view_->client_in(id)))
    world_.complain(rule::dead, id + " was let in, and is not subscribed");
  const bool was_in_line = std::find(l.line.begin(), l.line.end(), id) != l.line.end();
  // By a clock that was set back its arrival may be before theirs.
  if (!was_in_line && world_.schedule.has(trouble::clock_back)) return;
  // Nor does this server know where it was queued at another one.
  if (!was_in_line && world_.schedule.has_two_servers_of_one_name()) return;
  // A waiter that was let in, and has lost that before it knew of it, has its old place; one that
  // does not know its old place has a new one.
  const auto mine = l.queued_at.find(id);
  const auto is_earlier = [&](const std::string& other) {
    const moment theirs = l.queued_at.at(other).last;
    const moment from = mine != l.queued_at.end() ? mine->second.first : world_.time.now();
    return from - theirs < 1us;  // claims that arrive together have no order
  };
  for (const std::string& other : l.line) {
    if (other == id) return;
    if (is_earlier(other)) continue;
    if (std::ranges::find(queue, other) == queue.end()) continue;
    return world_.complain(rule::passed, id + " came in past " + other + ", which waits");
  }
}

void judge::reads_on(const detail::turn* t) {
  for (stay& s : stays_) {
    if (s.turn != t) continue;
    s.how = lock_mode::shared;
    lock_state& l = locks_[static_cast<std::size_t>(s.lock)];
    membership& m = l.ever[s.claim];  // the server may hear of it later
    m.number = t->token / 1024;
    if (!l.owners.empty()) m.judged_from = std::max(m.judged_from, l.owners[s.place].judged_from);
  }
}

std::vector<std::string> judge::holders_of(int lock) const {
  const lock_state& l = locks_[static_cast<std::size_t>(lock)];
  std::vector<std::string> out;
  const owner_is owner = view_->kind_of(l.owner);
  if (owner == owner_is::claim || owner == owner_is::readers) out.push_back(l.owner);
  for (const auto& [id, ends] : l.members) out.push_back(id);
  return out;
}

bool judge::is_member(const lock_state& l, std::string_view claim) const {
  if (now_owner(l).empty()) return false;
  const auto at = view_->now_us();
  return std::any_of(l.members.begin(), l.members.end(), [&](const auto& m) {
    return m.second > at && view_->claim_in(m.first) == claim;
  });
}

bool judge::head_has_room(const lock_state& l) const {
  if (l.line.empty() || world_.schedule.locks_are == kind::mutex) return false;
  const std::string& head = l.line.front();
  const owner_is owner = view_->kind_of(l.owner);
  if (owner == owner_is::readers) return view_->is_reader(head);
  if (owner != owner_is::permits || view_->kind_of(head) != owner_is::permits) return false;
  const auto at = view_->now_us();
  int had = view_->permits_of(l.number, head);
  for (const auto& [id, ends] : l.members)
    if (ends > at) had += view_->permits_of(l.number, id);
  return had <= world_.schedule.permits;
}

}  // namespace holdfast::sim
