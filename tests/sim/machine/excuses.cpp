#include "tests/sim/machine/excuses.hpp"

#include <algorithm>

#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

void excuses::add(moment until) {
  count();
  of_all_ = std::max(of_all_, until);
}

void excuses::add_for_waiters(int lock, moment until) {
  count();
  moment& mine = of_waiters_[static_cast<std::size_t>(lock)];
  mine = std::max(mine, until);
}

void excuses::end_for_waiters(int lock) {
  count();
  moment& mine = of_waiters_[static_cast<std::size_t>(lock)];
  mine = std::min(mine, world_.time.now());
}

void excuses::add(int lock, moment until) {
  count();
  moment& mine = of_locks_[static_cast<std::size_t>(lock)];
  mine = std::max(mine, until);
}

void excuses::add(const machine& m, moment ends, moment until, bool hit) {
  count();
  of_client& mine = of_clients_[&m];
  const moment now = world_.time.now();
  const bool is_well = now >= mine.end();
  if (is_well) mine.since = now;
  mine.ends = std::max(mine.ends, ends);
  mine.limit = std::max(mine.limit, until);
  if (hit) {
    mine.recovered = moment::max();
  } else if (is_well) {
    mine.recovered = now;
  }
}

void excuses::answered(const machine& m) {
  const auto found = of_clients_.find(&m);
  if (found == of_clients_.end()) return;
  of_client& mine = found->second;
  const moment now = world_.time.now();
  if (now < mine.ends || now >= mine.end() || !m.is_connected()) return;
  // What was cut before is repeated with the request that was answered, or with the next one.
  mine.recovered = std::min(mine.recovered, now + world_.round_trips());
}

void excuses::stood(const machine& m, moment since) {
  count();
  const auto found = of_clients_.find(&m);
  if (found == of_clients_.end() || since >= found->second.end()) return;
  found->second.limit += world_.time.now() - since;
}

void excuses::advance() {
  count();
  const moment now = world_.time.now();
  for (auto& [client, mine] : of_clients_) {
    if (now >= mine.limit || mine.recovered == moment::max() || client->is_connected()) continue;
    if (now >= mine.recovered) mine.since = now;
    mine.recovered = moment::max();
  }
  add_for_held_up();
}

// The reply that was late has to arrive, and what was put off until then is requested.
void excuses::add_for_held_up() {
  for (std::size_t i = 0; i < of_locks_.size(); ++i) {
    const int lock = static_cast<int>(i);
    if (world_.store->is_held_up(lock)) add(lock, world_.time.now() + world_.round_trips());
  }
}

void excuses::end_all() {
  count();
  const moment now = world_.time.now();
  of_all_ = now;
  for (auto* const all : {&of_locks_, &of_waiters_})
    for (moment& until : *all) until = std::min(until, now);
  of_clients_.clear();
}

bool excuses::covers(int lock) const {
  const moment now = world_.time.now();
  return now < of_all_ || now < of_lock(lock);
}

bool excuses::covers(const machine& m) const {
  if (m.has_black_hole()) return true;
  const auto found = of_clients_.find(&m);
  return found != of_clients_.end() && world_.time.now() < found->second.end();
}

moment excuses::troubled_since(const machine& m) const {
  const auto found = of_clients_.find(&m);
  const moment now = world_.time.now();
  return found == of_clients_.end() || now >= found->second.end() ? now : found->second.since;
}

moment excuses::last_end(int lock) const {
  moment out = std::max(of_all_, of_lock(lock));
  for (const auto& [client, mine] : of_clients_)
    if (mine.end() <= world_.time.now()) out = std::max(out, mine.end());
  return out;
}

moment excuses::limit() const {
  moment out = of_all_;
  for (std::size_t i = 0; i < of_locks_.size(); ++i)
    out = std::max(out, of_lock(static_cast<int>(i)));
  for (const auto& [client, mine] : of_clients_) out = std::max(out, mine.limit);
  return out;
}

void excuses::count() {
  const moment now = world_.time.now();
  if (now == counted_until_) return;
  const auto overlap = [&](moment until) {
    return static_cast<double>(std::max(0ns, std::min(until, now) - counted_until_).count());
  };
  world_.each_living([&](const machine& m) {
    const auto found = of_clients_.find(&m);
    const moment own = m.has_black_hole()           ? now
                       : found == of_clients_.end() ? moment{}
                                                    : found->second.end();
    for (std::size_t i = 0; i < of_locks_.size(); ++i) {
      lived_ += overlap(moment::max());
      excused_ += overlap(std::max({of_all_, of_lock(static_cast<int>(i)), own}));
    }
  });
  counted_until_ = now;
}

}  // namespace holdfast::sim
