#include "backend/zookeeper/transport/watch_registry.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::zookeeper {

void watch_registry::on_answered(opcode op, error code, std::string_view path) {
  if (op == opcode::exists && code == error::no_node) {
    add(exist_, path);
  } else if (code == error::ok && op == opcode::get_children2) {
    add(child_, path);
  } else if (code == error::ok && (op == opcode::exists || op == opcode::get_data)) {
    add(data_, path);
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
  const auto texts = [](const paths& of) {
    std::vector<std::string_view> out;
    out.reserve(of.size());
    for (const kept_path& p : of) out.emplace_back(p.get());
    return out;
  };
  return {texts(data_), texts(exist_), texts(child_)};
}

void watch_registry::add(paths& to, std::string_view text) {
  if (to.contains(text)) return;
  auto copy = std::make_unique<char[]>(text.size() + 1);  // and a zero
  std::ranges::copy(text, copy.get());
  to.insert(std::move(copy));
}

void watch_registry::clear() noexcept {
  data_.clear();
  exist_.clear();
  child_.clear();
}

}  // namespace holdfast::zookeeper
