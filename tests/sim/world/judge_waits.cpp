// The judge's view of those who wait in line, and of what keeps them there.
#include <algorithm>
#include <utility>

#include "tests/sim/world/judge.hpp"
#include "tests/sim/world/network.hpp"
#include "tests/sim/world/world.hpp"

namespace holdfast::sim {

namespace {

std::string channel_of(std::string_view owner) { return "hf:" + std::string(owner.substr(4, 16)); }

std::string in_ms(moment t) { return std::to_string(t.count() / 1'000'000) + " ms"; }

// There an id follows the ttl of all, or other ids that do.
bool asks_for_several(std::string_view recent, std::string_view id) {
  const std::size_t at = recent.find(id);
  if (at == recent.npos) return false;
  std::string_view before = recent.substr(0, at), last;
  do {
    before = before.substr(0, before.rfind("\r\n$"));
    last = before.substr(before.rfind('\n') + 1);
    before.remove_suffix(last.size());
  } while (last.starts_with("hf1:"));
  return !last.empty() && last.find_first_not_of("0123456789") == last.npos;
}

}  // namespace

bool judge::is_excused() const {
  return world_.time.now() < excused_until_ || world_.schedule.parts_wait;
}

bool judge::somebody_waits(const lock_state& l) const {
  const auto line = world_.server.members_at(l.queue);
  return std::any_of(line.begin(), line.end(),
                     [&](std::string_view owner) { return world_.lives(channel_of(owner)); });
}

void judge::judge_freedom(lock_state& l) {
  const bool taken = !now_owner(l).empty() && !head_has_room(l);
  if (taken || !somebody_waits(l)) {
    l.free_since.reset();
    return;
  }
  const moment now = world_.time.now();
  if (!l.free_since) l.free_since = now;
  // Who slept through its turn to come in is first in line again, and naps until a lease ends.
  const bool naps = head_has_room(l) && world_.schedule.has(trouble::pause);
  const moment most = free_max_ + (naps ? lease_max_ : moment{});
  if (is_excused() || now - std::max(*l.free_since, excused_until_) <= most) return;
  complain("free: " + l.key + " was free for " + in_ms(now - *l.free_since) + " while " +
           std::string(world_.server.members_at(l.queue).front()) + " stood in line");
}

void judge::note_the_deaf(lock_state& l) {
  if (world_.server.members_at(l.queue).empty()) return;
  const auto note = [&](const std::string& id) {
    if (!world_.server.has_listener(channel_of(id))) l.deaf.insert(id);
  };
  if (l.owner.starts_with("hf1:")) note(l.owner);
  for (const auto& [id, ends] : l.members) note(id);
}

void judge::judge_passing(lock_state& l, const std::string& owner_before, const pipe* by) {
  std::vector<std::string> line;
  for (const auto id : world_.server.members_at(l.queue)) line.emplace_back(id);
  const std::vector<std::string> before = std::exchange(l.line, line);
  if (!by || l.owner == owner_before || !l.owner.starts_with("hf1:")) return;
  if (!asks_for_several(by->recent(), l.owner)) return;
  for (const std::string& other : before) {
    if (other == l.owner) return;
    if (std::find(line.begin(), line.end(), other) == line.end()) continue;
    return complain("passed: " + l.owner + " got " + l.key + " past " + other + ", which waits");
  }
}

// Empty, or one who lives and has the lock, or a part of it, with nobody inside.
std::string_view judge::idle_holder(int lock) const {
  const lock_state& l = locks_[static_cast<std::size_t>(lock)];
  const auto is_idle = [&](std::string_view id) {
    const bool inside = std::any_of(stays_.begin(), stays_.end(), [&](const stay& s) {
      return s.lock == lock && id.ends_with(s.claim);
    });
    return !inside && world_.lives(channel_of(id)) && !l.deaf.contains(std::string(id));
  };
  const std::string_view owner = now_owner(l);
  if (owner.starts_with("hf1:")) return is_idle(owner) ? owner : std::string_view();
  const auto at = static_cast<double>(world_.server_now().count());
  for (const auto& [id, ends] : l.members)
    if (!owner.empty() && ends > at && is_idle(id)) return id;
  return {};
}

void judge::judge_idleness(int lock) {
  lock_state& l = locks_[static_cast<std::size_t>(lock)];
  const std::string_view idle = idle_holder(lock);
  const moment now = world_.time.now();
  const bool is_kept = !idle.empty() && (world_.schedule.linger.count() == 0 || somebody_waits(l));
  if (!is_kept || l.idle != idle) {
    l.idle = is_kept ? idle : std::string_view();
    l.idle_since = now;
    return;
  }
  if (is_excused() || now - std::max(l.idle_since, excused_until_) <= idle_max_) return;
  complain("kept: " + l.idle + " has had " + l.key + " for " + in_ms(now - l.idle_since) +
           " with nobody inside");
}

}  // namespace holdfast::sim
