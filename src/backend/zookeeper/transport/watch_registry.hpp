// The watches that are armed at the server. They belong to one connection and fire once: after
// each re-attachment those left are set again.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "backend/zookeeper/transport/replies.hpp"
#include "backend/zookeeper/transport/requests.hpp"

namespace holdfast::zookeeper {

class watch_registry {
 public:
  // A request that sets a watch was answered. An exists of a node that is there watches its data:
  // set again as a watch for the creation, it would fire at once.
  void on_answered(opcode op, error code, std::string_view path);
  void on_event(const watch_event&);  // those that fired are gone
  watched_paths all() const;          // views of the paths that are kept here
  void clear() noexcept;

 private:
  using paths = std::set<std::string, std::less<>>;
  paths data_, exist_, child_;
};

}  // namespace holdfast::zookeeper
