// The watches that clients have armed at one server: each fires once, and belongs to a connection.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "backend/zookeeper/transport/replies.hpp"

namespace holdfast::sim::zk {

class watch_table {
 public:
  using teller =
      std::function<void(int connection, zookeeper::event_kind, const std::string& path)>;
  explicit watch_table(teller t) : tell_(std::move(t)) {}

  void watch_data(std::string_view path, int connection);  // of a node, or that it comes to be
  void watch_children(std::string_view path, int connection);
  // What kind: 1 of children, 2 of data, 3 either. False: there was none.
  bool remove(const std::string& path, int kind, int connection);
  void forget(int connection);
  void forget_all();

  void on_created(const std::string& path);
  void on_deleted(const std::string& path);
  void on_set(const std::string& path);

 private:
  using table = std::map<std::string, std::set<int>, std::less<>>;
  std::set<int> fire(table&, const std::string& path, zookeeper::event_kind,
                     const std::set<int>& told_already = {});

  teller tell_;
  table data_, children_;
};

}  // namespace holdfast::sim::zk
