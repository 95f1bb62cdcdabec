// The judge's view of clients that are closed, and of what they leave.
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
