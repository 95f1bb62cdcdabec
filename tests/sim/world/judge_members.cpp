// The judge's view of locks that are shared, and of semaphores.
#include <algorithm>
#include <charconv>

#include "tests/sim/world/judge.hpp"
#include "tests/sim/world/machine.hpp"
#include "tests/sim/world/network.hpp"
#include "tests/sim/world/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

using member_list = std::vector<std::pair<std::string, double>>;

std::string_view digits_of(std::string_view id) {
  return id.substr(std::min<std::size_t>(id.size(), 21));
}

bool is_in(const member_list& all, std::string_view id) {
  return std::any_of(all.begin(), all.end(), [&](const auto& m) { return m.first == id; });
}

}  // namespace

void judge::look_at_members(lock_state& l, const std::string& owner_before, const pipe* by) {
  member_list now;
  if (l.owner.starts_with("hfg:") || l.owner.starts_with("hfp:"))
    for (const auto& [id, ends] : world_.server.scored_at(l.shared_by)) now.emplace_back(id, ends);
  members_changed(l, now, owner_before, by);
  l.members = std::move(now);
  l.line.clear();
  for (const auto id : world_.server.members_at(l.queue)) {
    l.line.emplace_back(id);
    l.queued_at.try_emplace(l.line.back(), world_.time.now());
  }
}

void judge::members_changed(lock_state& l, const member_list& now, const std::string& owner_before,
                            const pipe* by) {
  const auto at = static_cast<double>(world_.server_now().count());
  for (const auto& [id, ends] : l.members) {
    if (is_in(now, id)) continue;
    world_.record(event::member_left, {l.key, id},
                  [&] { return l.key + " at the server: " + id + " is no member any more"; });
    const bool is_told = by && (by->recent().find(digits_of(id)) != std::string::npos ||
                                (owner_before.starts_with("hfg:") &&
                                 by->recent().find(owner_before) != std::string::npos));
    if (by && ends > at && !is_told)
      complain("owner: " + id + " lost its share through a request that was not its own");
  }
  std::vector<std::string> line;
  for (const auto id : world_.server.members_at(l.queue)) line.emplace_back(id);
  int had = 0;
  for (const auto& [id, ends] : now) {
    if (!is_in(l.members, id) || l.owner != owner_before) came_in(l, id, line, owner_before, by);
    if (ends > at) had += permits_of(l, id);
  }
  if (had > world_.schedule.permits && world_.schedule.locks_are == kind::semaphore)
    complain("together: " + std::to_string(had) + " permits are had at the server");
}

void judge::came_in(lock_state& l, const std::string& id, const std::vector<std::string>& line,
                    const std::string& owner_before, const pipe* by) {
  world_.record(event::member_came, {l.key, id},
                [&] { return l.key + " at the server: " + id + " came in"; });
  const bool safe = world_.time.now() > unsafe_until_;
  membership& m = l.ever[std::string(digits_of(id))];
  if (l.owner.starts_with("hfg:")) m.number = std::stoll(l.owner.substr(4));
  if (owner_before.ends_with(digits_of(id))) {  // it was the writer
    if (!l.owners.empty()) m.judged_from = std::max(m.judged_from, l.owners.back().judged_from);
    return;
  }
  // What it believes may be of an earlier share, which was lost with the server's data.
  if (!safe) m.judged_from = unsafe_until_ + lease_max_;
  if (!by) return;
  if (by->recent().find(digits_of(id)) == std::string::npos &&
      !world_.server.has_listener("hf:" + id.substr(4, 16)))
    complain("dead: " + id + " was let in, and nobody listens there");
  const bool was_in_line = std::find(l.line.begin(), l.line.end(), id) != l.line.end();
  // By a clock that was set back its arrival may be before theirs.
  if (!was_in_line && world_.schedule.has(trouble::clock_back)) return;
  // A waiter that was let in, and has lost that before it knew of it, has its old place.
  const auto mine = l.queued_at.find(id);
  const auto is_earlier = [&](const std::string& other) {
    const moment theirs = l.queued_at.at(other);
    const moment from = mine != l.queued_at.end() ? mine->second : world_.time.now();
    return from - theirs < 1us;  // who arrive together have no order
  };
  for (const std::string& other : l.line) {
    if (other == id) return;
    if (is_earlier(other)) continue;
    if (std::find(line.begin(), line.end(), other) == line.end()) continue;
    return complain("passed: " + id + " came in past " + other + ", which waits");
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
  if (l.owner.starts_with("hf1:") || l.owner.starts_with("hfg:")) out.push_back(l.owner);
  for (const auto& [id, ends] : l.members) out.push_back(id);
  return out;
}

int judge::permits_of(const lock_state& l, std::string_view id) const {
  const std::string_view text = world_.server.field_at(l.permits, id);
  int n = 1;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

bool judge::is_member(const lock_state& l, std::string_view claim) const {
  if (now_owner(l).empty()) return false;
  const auto at = static_cast<double>(world_.server_now().count());
  return std::any_of(l.members.begin(), l.members.end(),
                     [&](const auto& m) { return m.second > at && digits_of(m.first) == claim; });
}

bool judge::head_has_room(const lock_state& l) const {
  if (l.line.empty() || world_.schedule.locks_are == kind::mutex) return false;
  const std::string& head = l.line.front();
  if (l.owner.starts_with("hfg:")) return head.starts_with("hfs:");
  if (!l.owner.starts_with("hfp:") || !head.starts_with("hfp:")) return false;
  const auto at = static_cast<double>(world_.server_now().count());
  int had = permits_of(l, head);
  for (const auto& [id, ends] : l.members)
    if (ends > at) had += permits_of(l, id);
  return had <= world_.schedule.permits;
}

// Those who believe that they hold it have it, and may have it together.
void judge::judge_sharers(int lock) {
  const lock_state& l = locks_[static_cast<std::size_t>(lock)];
  int writers = 0, readers = 0, permits = 0;
  // An old line that came back may hand it to one who was rightly told of its loss.
  const bool judges_losses = !clock_leaps_ && !world_.schedule.has(trouble::restart_saved);
  for (const stay& s : stays_) {
    if (s.lock != lock) continue;
    const auto member = l.ever.find(s.claim);
    const bool alone = s.how == lock_mode::exclusive;
    moment from = moment::max();
    if (!alone && member != l.ever.end()) {
      from = member->second.judged_from;
    } else if (!l.owners.empty()) {
      from = l.owners[s.place].judged_from;
    }
    if (world_.time.now() < from) continue;
    const bool is_writer = now_owner(l).starts_with("hf1:") && now_owner(l).ends_with(s.claim);
    const bool has_it = is_writer || (!alone && is_member(l, s.claim));
    judge_belief(l, s, has_it, judges_losses);
    if (!is_content()) return;
    if (!s.turn->held()) continue;
    (alone ? writers : readers) += s.how == lock_mode::permit ? 0 : 1;
    permits += s.permits;
  }
  if (writers > 1 || (writers > 0 && readers > 0))
    complain("together: " + std::to_string(writers) + " writers and " + std::to_string(readers) +
             " readers believe that they hold " + l.key);
  if (permits > world_.schedule.permits)
    complain("together: " + std::to_string(permits) + " permits are believed to be had");
}

}  // namespace holdfast::sim
