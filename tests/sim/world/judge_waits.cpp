// The judge's view of those who wait in line, and of what keeps them there.
#include <algorithm>
#include <utility>

#include "tests/sim/world/judge.hpp"
#include "tests/sim/world/network.hpp"
#include "tests/sim/world/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

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

void judge::gave_up(bool waits_on, const core::failure& why) {
  if (why.code != errc::unavailable) return;
  const plan& p = world_.schedule;
  const bool is_quiet = p.faults.empty() && !p.parts_wait && !p.kill_forbidden;
  if (is_quiet) return complain("given up: " + why.text + ", though there was no trouble");
  if (!waits_on) return;
  if (p.outage_timeout == 0ms) return complain("given up: one who waits is told: " + why.text);
  // A client that needs longer to connect than it has before the end is not judged.
  const bool is_slow = p.slow_share > 0 || p.parts_wait || p.has(trouble::pause) ||
                       p.delay_max > p.op_timeout / 150 || p.has(trouble::black_hole);
  if (!is_slow && !p.had_outage_of(p.outage_timeout, world_.time.now()))
    complain("given up: one who waits is told in a shorter outage: " + why.text);
}

bool judge::somebody_waits(const lock_state& l) const { return lost_before_the_first(l) >= 0; }

bool judge::is_lost(std::string_view id) const {
  return id.size() > 20 && !world_.acts(channel_of(id));
}

// How many stand in line before the first waiter that is not lost; -1: there is none.
int judge::lost_before_the_first(const lock_state& l) const {
  int n = 0;
  for (const std::string_view id : world_.server.members_at(l.queue)) {
    if (!is_lost(id)) return n;
    ++n;
  }
  return -1;
}

void judge::judge_freedom(int lock) {
  lock_state& l = locks_[static_cast<std::size_t>(lock)];
  const bool taken = !now_owner(l).empty() && !head_has_room(l);
  int lost = lost_before_the_first(l);
  // Who handed it to a lost waiter watches over that from its place in line. When that one is lost
  // too, the timer of the next waiter is still one on the lease before.
  if (lost >= 0 && l.stalled_since && !l.lost_owner.empty()) {
    const auto line = world_.server.members_at(l.queue);
    lost = static_cast<int>(
        std::count_if(line.begin(), line.end(), [&](std::string_view id) { return is_lost(id); }));
  }
  // After a FLUSHALL those who wait stand in no line.
  if (taken || (lost < 0 && world_.users_waiting(lock) == 0)) {
    l.free_since.reset();
    l.lost_ahead = 0;
    return;
  }
  const moment now = world_.time.now();
  if (!l.free_since) l.free_since = now;
  l.lost_ahead = std::max(l.lost_ahead, lost);
  moment most = free_max_;
  if (l.lost_ahead > 0) most += world_.schedule.ttl * l.lost_ahead + 1s;
  if (is_excused() || now - std::max(*l.free_since, excused_until_) <= most) return;
  complain("free: " + l.key + " was free for " + in_ms(now - *l.free_since) +
           " while somebody waits behind " + std::to_string(l.lost_ahead) + " who are lost");
}

void judge::judge_stall(lock_state& l) {
  const std::string_view owner = now_owner(l);
  const bool is_alone = owner.starts_with("hf1:");
  const bool has_no_use = owner.empty() || (is_alone && is_lost(owner));
  const int lost = lost_before_the_first(l);
  if (!has_no_use || lost < 0) {
    l.stalled_since.reset();
    return;
  }
  const moment now = world_.time.now();
  if (!l.stalled_since) {
    l.stalled_since = l.stalled_until = now;
    l.lost_owner = owner;
    l.handed_to_lost = l.lost_in_stall = 0;
  }
  if (is_alone && owner != l.lost_owner) {
    ++l.handed_to_lost;
    l.lost_owner = owner;
  } else if (is_alone && l.handed_to_lost == 0) {
    const std::chrono::milliseconds rest(l.expires_ms - world_.server_ms());
    l.stalled_until = std::max(l.stalled_until, now + rest);
  }
  l.lost_in_stall = std::max(l.lost_in_stall, lost + l.handed_to_lost);
  const moment end = std::max(l.stalled_until, excused_until_) + free_max_ +
                     world_.schedule.ttl * l.lost_in_stall + 1s;
  if (is_excused() || now <= end) return;
  complain("stalled: nobody has had the use of " + l.key + " for " + in_ms(now - *l.stalled_since) +
           ", and " + std::to_string(l.lost_in_stall) + " who waited are lost");
}

// A claim that was given up, and stays in line.
void judge::judge_ghosts(int lock) {
  lock_state& l = locks_[static_cast<std::size_t>(lock)];
  const moment now = world_.time.now();
  std::string crowded;
  const auto line = world_.server.members_at(l.queue);
  for (const std::string_view id : line) {
    const std::string channel = channel_of(id);
    const auto mine = std::count_if(line.begin(), line.end(), [&](std::string_view other) {
      return other.substr(4, 16) == id.substr(4, 16);
    });
    if (world_.acts(channel) && mine > world_.users_waiting(lock, channel)) crowded = channel;
  }
  if (crowded.empty() || crowded != l.crowded) {
    l.crowded = crowded;
    l.crowded_since = now;
    return;
  }
  if (world_.schedule.parts_wait) return;
  if (now - std::max(l.crowded_since, ghosts_excused_until_) <= ghost_max_) return;
  complain("ghost: " + crowded + " has more claims in the line of " + l.key +
           " than users who wait, for " + in_ms(now - l.crowded_since));
}

// Of a mutex: who shares a lock, or has permits, may be lost with many others at once.
void judge::judge_notes(const lock_state& l) {
  const auto line = world_.server.members_at(l.queue);
  const auto is_in = [](const auto& all, std::string_view id) {
    return std::find(all.begin(), all.end(), id) != all.end();
  };
  if (world_.schedule.locks_are != kind::mutex) return;
  int lost = 0;
  std::string whom;
  for (const std::string_view id : world_.server.fields_at(l.notes)) {
    if (id == l.owner || is_in(line, id)) continue;
    // Who asks for several at once takes the dead from a line, and their windows stay.
    const bool is_window = world_.server.field_at(l.notes, id).find('|') == std::string_view::npos;
    if (is_window && world_.schedule.several) continue;
    ++lost;
    whom += ' ' + std::string(id);
  }
  if (lost > 1)
    complain("notes: the server keeps " + std::to_string(lost) + " on those who neither hold " +
             l.key + " nor wait:" + whom);
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
    return !inside && !is_lost(id) && world_.server.has_listener(channel_of(id));
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
