// The judge's view of a queue whose waiters ask for the lock themselves.
#include <algorithm>
#include <utility>

#include "tests/sim/judge/judge.hpp"
#include "tests/sim/machine/network.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

void judge::judge_spin(std::string_view bytes) {
  constexpr int most = 40;
  for (lock_state& l : locks_) {
    for (const std::string& id : l.line) {
      if (bytes.find(id) == bytes.npos || !world_.judges(rule::spin)) continue;
      asking& a = l.asks[id];
      if (world_.time.now() - a.since > 1s) a = {0, world_.time.now()};
      if (++a.count > most)
        world_.complain(rule::spin, id + " asked for " + l.key + ' ' + std::to_string(a.count) +
                                        " times within a second");
    }
  }
}

void judge::judge_order(lock_state& l, const std::string& owner_before, const pipe* by) {
  std::vector<std::string> line;
  for (const auto id : view_->queue_at(l.number)) {
    line.emplace_back(id);
    l.queued_at.try_emplace(line.back(), queueing{world_.time.now(), world_.time.now()});
  }
  const bool is_changed = l.owner != owner_before || line != l.line;
  if (is_changed) l.asks.clear();
  const std::vector<std::string> before = std::exchange(l.line, line);
  if (!by || l.owner == owner_before || view_->kind_of(l.owner) != owner_is::claim) return;
  const auto mine = std::find(before.begin(), before.end(), l.owner);
  // One that was taken for lost, and removed, had its place before; of two servers behind one name
  // it may have had one at the other.
  const bool had_other = moved_until_ > 0ns || world_.schedule.replicas > 0;
  const bool had_place = l.queued_at.contains(l.owner) || had_other;
  if (mine == before.end() && had_place) return;
  for (auto other = before.begin(); other != mine; ++other)
    if (std::find(line.begin(), line.end(), *other) != line.end())
      return world_.complain(rule::passed,
                             l.owner + " got " + l.key + " past " + *other + ", which waits");
}

}  // namespace holdfast::sim
