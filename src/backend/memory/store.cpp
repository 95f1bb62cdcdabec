#include "backend/memory/store.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::memory {

using base::mutant;
using base::planted;
using std::chrono::microseconds;

lock_state::lock_state(const lock_state& other)
    : holder(other.holder),
      number(other.number),
      since(other.since),
      lapses(other.lapses),
      note(other.note),
      more(other.more ? std::make_unique<contenders>(*other.more) : nullptr) {}

lock_state& lock_state::operator=(const lock_state& other) {
  lock_state copy(other);
  holder = copy.holder;
  number = copy.number;
  since = copy.since;
  lapses = copy.lapses;
  note.swap(copy.note);
  more.swap(copy.more);
  return *this;
}

entry& store::attach(std::string_view name, time_point now) {
  if (entries_.size() >= sweep_at_) sweep(now);
  const auto [found, made] = entries_.try_emplace(std::string(name));
  found->second.name = &found->first;
  ++found->second.references;
  return found->second;
}

void store::detach(entry& e, time_point now) {
  if (--e.references == 0 && idle(e, now)) entries_.erase(*e.name);
}

void store::add(entry& e, endpoint& p) noexcept {
  p.lock = &e;
  p.before_ = nullptr;
  p.after_ = e.first_endpoint;
  if (p.after_) p.after_->before_ = &p;
  e.first_endpoint = &p;
}

void store::remove(endpoint& p) noexcept {
  if (p.before_)
    p.before_->after_ = p.after_;
  else
    p.lock->first_endpoint = p.after_;
  if (p.after_) p.after_->before_ = p.before_;
}

endpoint* store::find(const entry& e, const owner_id& who) noexcept {
  endpoint* p = e.first_endpoint;
  while (p && p->who != who) p = p->after_;
  return p;
}

// Queued claims without an endpoint are gone, so they do not keep the entry.
bool store::idle(const entry& e, time_point now) noexcept {
  if (e.held(now)) return false;
  return !e.more || std::all_of(e.more->members.begin(), e.more->members.end(),
                                [&](const member& m) { return m.lapses <= now; });
}

void store::sweep(time_point now) {
  std::erase_if(entries_, [&](const auto& named) {
    return named.second.references == 0 && idle(named.second, now);
  });
  sweep_at_ = std::max<std::size_t>(64, entries_.size() * 2);
}

// Never below the wall clock in microseconds: otherwise a counter that a failover or a restart has
// set back would give out numbers a second time.
std::int64_t store::next_number(time_point now, base::environment& env) {
  constexpr auto read_again_after = std::chrono::milliseconds{10};
  ++counter_;
  const auto clock = [&] {
    return std::chrono::duration_cast<microseconds>(now.time_since_epoch());
  };
  if (wall_read_at_ == time_point::min() || now - wall_read_at_ >= read_again_after) {
    wall_read_at_ = now;
    wall_ahead_ = env.wall() - clock();
  }
  if (!planted(mutant::number_not_floored))
    counter_ = std::max<std::int64_t>(counter_, (clock() + wall_ahead_).count());
  return counter_;
}

void store::snapshot() {
  remembered_.clear();
  for (const auto& [name, e] : entries_) remembered_.emplace(name, e);
  remembered_counter_ = counter_;
}

void store::restart_empty() {
  for (auto& [name, e] : entries_) static_cast<lock_state&>(e) = {};
  counter_ = 0;
  wall_read_at_ = time_point::min();
}

void store::fail_over() {
  restart_empty();
  counter_ = remembered_counter_;
  for (const auto& [name, was] : remembered_) {
    const auto [found, made] = entries_.try_emplace(name);
    found->second.name = &found->first;
    static_cast<lock_state&>(found->second) = was;
  }
}

}  // namespace holdfast::memory
