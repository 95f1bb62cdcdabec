// The judge's view of what administrators are shown, and of what closed clients leave.
#include <algorithm>

#include "tests/sim/judge/judge.hpp"
#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

// Whatever the server keeps of a client, as an id; empty: nothing.
std::string judge::left_of(const lock_state& l, std::string_view client) const {
  const auto is_theirs = [&](std::string_view id) { return view_->client_in(id) == client; };
  if (view_->kind_of(l.owner) == owner_is::claim && is_theirs(now_owner(l))) return l.owner;
  for (const std::string_view id : view_->queue_at(l.number))
    if (is_theirs(id)) return std::string(id) + " in the queue";
  for (const auto& [id, ends] : view_->members_at(l.number))
    if (is_theirs(id)) return std::string(id) + " as a member";
  for (const std::string_view id : view_->notes_at(l.number, true))
    if (is_theirs(id)) return "a note of " + std::string(id);
  return {};
}

// They may be of any client.
bool judge::brings_old_data(const plan& p) {
  return p.has(trouble::restart_saved) || p.has(trouble::resynced) || p.has(trouble::writes_lost) ||
         std::ranges::any_of(p.faults, [](const fault& f) {
           return f.what >= trouble::promoted && f.what <= trouble::taken_back;
         });
}

// `owner`: of a holder that a client is shown.
bool judge::is_shown_as(std::string_view id, std::string_view owner) const {
  return owner.find(view_->claim_in(id)) != owner.npos;
}

// At some time since then; empty: there was none.
bool judge::was_owner(const lock_state& l, std::string_view owner, moment since) const {
  moment until = world_.time.now();
  bool lapsed = l.expires_ms < view_->now_ms();
  for (auto p = l.periods.rbegin(); p != l.periods.rend() && until >= since; ++p) {
    const owner_is was = view_->kind_of(p->owner);
    if (was == owner_is::foreign) return true;  // its id is of another form
    const bool was_lapsed = lapsed || p->lapsed || p->revived > since;
    if (owner.empty() && (was == owner_is::nobody || was_lapsed)) return true;
    const bool is_it = was == owner_is::claim && is_shown_as(p->owner, owner);
    if (!owner.empty() && is_it) return true;
    lapsed = false;
    until = p->since;
  }
  return false;
}

// At some time since then, alone or with others.
bool judge::was_holder(const lock_state& l, std::string_view owner, moment since) const {
  const bool was_member = std::ranges::any_of(l.tenures, [&](const tenure& t) {
    return t.until >= since && is_shown_as(t.id, owner);
  });
  return was_member || was_owner(l, owner, since);
}

// One that has the lock and has had it since then, and is none of these; empty: there is none.
std::string_view judge::holder_since(const lock_state& l, moment since,
                                     const std::vector<std::string>& but) const {
  const auto is_missing = [&](std::string_view id) {
    return std::ranges::none_of(but, [&](const std::string& o) { return is_shown_as(id, o); });
  };
  const std::string_view owner = now_owner(l);
  if (view_->kind_of(owner) == owner_is::claim) {
    const moment held_since = std::max(l.periods.back().since, l.periods.back().revived);
    return held_since < since && is_missing(owner) ? owner : std::string_view();
  }
  const auto at = view_->now_us();
  for (const tenure& t : l.tenures) {
    const auto lives = [&](const auto& m) { return m.first == t.id && m.second > at; };
    const bool has_it = t.until == moment::max() && std::ranges::any_of(l.members, lives);
    if (!owner.empty() && has_it && t.since < since && is_missing(t.id)) return t.id;
  }
  return {};
}

void judge::shown_members(const lock_state& l, const std::vector<std::string>& owners, bool all,
                          moment begun) {
  for (const std::string& owner : owners)
    if (!was_holder(l, owner, begun))
      return world_.complain(rule::shown,
                             owner + " was shown of " + l.key + ", and did not hold it");
  if (!all) return;
  if (const std::string_view id = holder_since(l, begun, owners); !id.empty())
    world_.complain(rule::shown, std::string(id) + " holds " + l.key + ", and was not shown");
}

void judge::shown(int lock, const std::vector<std::string>& owners, bool all, moment begun) {
  if (may_have_old_data_ || !world_.judges(rule::shown)) return;
  const lock_state& l = locks_[static_cast<std::size_t>(lock)];
  if (world_.schedule.locks_are != kind::mutex) return shown_members(l, owners, all, begun);
  if (owners.empty() && !all) return;
  const std::string owner = owners.empty() ? std::string() : owners.front();
  if (owners.size() > 1 || !was_owner(l, owner, begun))
    world_.complain(rule::shown, (owner.empty() ? "no holder" : owner) + " was shown of " + l.key +
                                     ", which was not so");
}

// Where CLIENT KILL is forbidden, requests of old connections may still arrive, and no withdrawal
// is proven.
void judge::closes(const machine& m, bool is_clean) {
  if (world_.schedule.kill_forbidden) return;
  if (!world_.store->proves_ends()) {
    if (!is_clean && world_.excused.covers(m)) unsettled_.insert(m.client);
    return;
  }
  if (world_.judges(rule::left) && !is_clean)
    return world_.complain(rule::left, "close() of a client returned false");
  if (may_have_old_data_) return;
  for (const lock_state& l : locks_)
    if (const std::string left = left_of(l, m.client); !left.empty())
      return world_.complain(rule::left,
                             "close() of a client returned true, and " + l.key + " has " + left);
}

// All that is left of the lock is of unsettled clients, and its leases have ended.
bool judge::is_left_by_unsettled(std::string_view lock) const {
  const auto found = std::ranges::find(locks_, lock, &lock_state::key);
  if (found == locks_.end() || can_.life != seam::lifetime::ttl) return false;
  const auto is_theirs = [&](std::string_view id) {
    return unsettled_.contains(std::string(view_->client_in(id)));
  };
  const auto owner = view_->owner_at(found->number);
  const auto members = view_->members_at(found->number);
  if (!owner && members.empty()) return false;
  if (owner && (owner->expires_ms >= view_->now_ms() || !is_theirs(owner->text))) return false;
  const auto at = view_->now_us();
  return std::ranges::all_of(members,
                             [&](const auto& m) { return m.second <= at && is_theirs(m.first); });
}

// Keys of a queue stay when an operator deletes the queue.
void judge::all_closed(bool has_crashes) {
  const plan& p = world_.schedule;
  if (p.kill_forbidden || p.has(trouble::key_lost) || may_have_old_data_) return;
  std::vector<std::string> left = world_.store->left(has_crashes);
  std::erase_if(left, [&](const std::string& lock) { return is_left_by_unsettled(lock); });
  if (world_.judges(rule::left) && !left.empty())
    world_.complain(rule::left,
                    "all clients are closed, and " + left.front() + " is at the server");
}

}  // namespace holdfast::sim
