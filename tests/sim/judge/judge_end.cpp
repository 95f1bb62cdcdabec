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

// Where old data come back, they may be of any client.
bool judge::may_have_old_data() const {
  const plan& p = world_.schedule;
  return p.has(trouble::restart_saved) || p.has(trouble::resynced) ||
         std::ranges::any_of(p.faults, [](const fault& f) { return f.what >= trouble::promoted; });
}

// At some time since then; empty: there was none.
bool judge::was_owner(const lock_state& l, std::string_view owner, moment since) const {
  moment until = world_.time.now();
  bool lapsed = l.expires_ms < view_->now_ms();
  for (auto p = l.periods.rbegin(); p != l.periods.rend() && until >= since; ++p) {
    const owner_is was = view_->kind_of(p->owner);
    if (was == owner_is::foreign) return true;  // its id is of another form
    if (owner.empty() && (was == owner_is::nobody || lapsed || p->lapsed)) return true;
    const bool is_it =
        was == owner_is::claim && owner.find(view_->claim_in(p->owner)) != owner.npos;
    if (!owner.empty() && is_it) return true;
    lapsed = false;
    until = p->since;
  }
  return owner.empty() && can_.shown_by_renewal;
}

void judge::shown(int lock, const std::vector<std::string>& owners, moment begun) {
  if (world_.schedule.locks_are != kind::mutex || may_have_old_data()) return;
  const lock_state& l = locks_[static_cast<std::size_t>(lock)];
  const std::string owner = owners.empty() ? std::string() : owners.front();
  if (owners.size() > 1 || !was_owner(l, owner, begun))
    world_.complain("shown: " + (owner.empty() ? "no holder" : owner) + " was shown of " + l.key +
                    ", which was not so");
}

// Where CLIENT KILL is forbidden, requests of old connections may still arrive, and no withdrawal
// is proven.
void judge::closes(const machine& m, bool is_clean) {
  if (world_.schedule.kill_forbidden) return;
  if (!is_clean) return world_.complain("left: close() of a client returned false");
  if (may_have_old_data()) return;
  for (const lock_state& l : locks_)
    if (const std::string left = left_of(l, m.client); !left.empty())
      return world_.complain("left: close() of a client returned true, and " + l.key + " has " +
                             left);
}

// Keys of a queue stay when an operator deletes the queue.
void judge::all_closed(bool has_crashes) {
  const plan& p = world_.schedule;
  if (p.kill_forbidden || p.has(trouble::key_lost) || may_have_old_data()) return;
  const std::vector<std::string> left = world_.store->left(has_crashes);
  if (!left.empty())
    world_.complain("left: all clients are closed, and " + left.front() + " is at the server");
}

}  // namespace holdfast::sim
