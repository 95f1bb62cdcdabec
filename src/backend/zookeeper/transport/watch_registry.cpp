#include "backend/zookeeper/transport/watch_registry.hpp"

namespace holdfast::zookeeper {

void watch_registry::on_answered(opcode op, error code, std::string_view path) {
  if (op == opcode::exists && code == error::no_node) {
    exist_.emplace(path);
  } else if (code == error::ok && op == opcode::get_children2) {
    child_.emplace(path);
  } else if (code == error::ok && (op == opcode::exists || op == opcode::get_data)) {
    data_.emplace(path);
  }
}

void watch_registry::on_event(const watch_event& e) {
  const auto drop = [&](paths& from) {
    const auto found = from.find(e.path);
    if (found != from.end()) from.erase(found);
  };
  if (e.kind != event_kind::children) {
    drop(data_);
    drop(exist_);
  }
  if (e.kind == event_kind::children || e.kind == event_kind::deleted) drop(child_);
}

watched_paths watch_registry::all() const {
  return {{data_.begin(), data_.end()},
          {exist_.begin(), exist_.end()},
          {child_.begin(), child_.end()}};
}

void watch_registry::clear() noexcept {
  data_.clear();
  exist_.clear();
  child_.clear();
}

}  // namespace holdfast::zookeeper
