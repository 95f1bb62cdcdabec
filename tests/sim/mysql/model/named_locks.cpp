#include "tests/sim/mysql/model/named_locks.hpp"

#include <algorithm>

namespace holdfast::sim {

void named_locks::grant(lock& l, const request& to) {
  l.owner = to;
  l.times = 1;
}

bool named_locks::acquire(const std::string& name, std::uint64_t connection, bool waits) {
  lock& l = locks_[name];
  if (l.owner.connection == connection) {
    ++l.times;
    return true;
  }
  const request mine{connection, ++serials_};
  if (l.owner.connection == 0) {
    grant(l, mine);
    return true;
  }
  if (waits) l.queue.push_back(mine);
  return false;
}

std::optional<bool> named_locks::release(const std::string& name, std::uint64_t connection) {
  lock& l = locks_[name];
  if (l.owner.connection == 0) return std::nullopt;
  if (l.owner.connection != connection) return false;
  if (--l.times == 0) pass_on(l);
  return true;
}

void named_locks::pass_on(lock& l) {
  l.owner = {};
  if (l.queue.empty()) return;
  grant(l, l.queue.front());
  l.queue.pop_front();
  granted_.push_back(l.owner.connection);
}

void named_locks::leave_queue(std::uint64_t connection) {
  for (auto& [name, l] : locks_)
    std::erase_if(l.queue, [&](const request& r) { return r.connection == connection; });
}

void named_locks::release_all(std::uint64_t connection) {
  leave_queue(connection);
  for (auto& [name, l] : locks_)
    if (l.owner.connection == connection) pass_on(l);
}

std::uint64_t named_locks::owner(const std::string& name) const {
  const request* const r = holder(name);
  return r ? r->connection : 0;
}

std::optional<std::uint64_t> named_locks::take_granted() {
  if (granted_.empty()) return std::nullopt;
  const std::uint64_t out = granted_.front();
  granted_.pop_front();
  return out;
}

void named_locks::clear() noexcept {
  locks_.clear();
  granted_.clear();
}

const named_locks::request* named_locks::holder(const std::string& name) const {
  const auto found = locks_.find(name);
  const bool is_held = found != locks_.end() && found->second.owner.connection != 0;
  return is_held ? &found->second.owner : nullptr;
}

bool named_locks::has_one(std::uint64_t connection) const {
  return std::ranges::any_of(locks_, [&](const auto& each) {
    return each.second.owner.connection == connection;
  });
}

std::vector<std::string> named_locks::held() const {
  std::vector<std::string> out;
  for (const auto& [name, l] : locks_)
    if (l.owner.connection != 0) out.push_back(name);
  return out;
}

std::vector<named_locks::request> named_locks::queue(const std::string& name) const {
  const auto found = locks_.find(name);
  if (found == locks_.end()) return {};
  return {found->second.queue.begin(), found->second.queue.end()};
}

}  // namespace holdfast::sim
