#include "tests/sim/zookeeper/model/watch_table.hpp"

#include "tests/sim/zookeeper/model/tree.hpp"

namespace holdfast::sim::zk {

using zookeeper::event_kind;

void watch_table::watch_data(std::string_view path, int connection) {
  data_[std::string(path)].insert(connection);
}

void watch_table::watch_children(std::string_view path, int connection) {
  children_[std::string(path)].insert(connection);
}

bool watch_table::remove(const std::string& path, int kind, int connection) {
  bool was_there = false;
  const auto drop = [&](table& from) {
    const auto found = from.find(path);
    if (found != from.end()) was_there |= found->second.erase(connection) > 0;
  };
  if (kind != 1) drop(data_);
  if (kind != 2) drop(children_);
  return was_there;
}

void watch_table::forget(int connection) {
  for (table* t : {&data_, &children_})
    for (auto at = t->begin(); at != t->end();) {
      at->second.erase(connection);
      at = at->second.empty() ? t->erase(at) : std::next(at);
    }
}

void watch_table::forget_all() {
  data_.clear();
  children_.clear();
}

std::set<int> watch_table::fire(table& from, const std::string& path, event_kind kind,
                                const std::set<int>& told_already) {
  const auto found = from.find(path);
  if (found == from.end()) return {};
  const std::set<int> all = std::move(found->second);
  from.erase(found);
  for (const int connection : all)
    if (!told_already.contains(connection)) tell_(connection, kind, path);
  return all;
}

void watch_table::on_created(const std::string& path) {
  fire(data_, path, event_kind::created);
  fire(children_, std::string(parent_of(path)), event_kind::children);
}

void watch_table::on_deleted(const std::string& path) {
  const std::set<int> told = fire(data_, path, event_kind::deleted);
  fire(children_, path, event_kind::deleted, told);
  fire(children_, std::string(parent_of(path)), event_kind::children);
}

void watch_table::on_set(const std::string& path) { fire(data_, path, event_kind::data); }

}  // namespace holdfast::sim::zk
