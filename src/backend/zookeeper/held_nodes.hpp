// The nodes of zookeeper_guard: an extension of the layouts in which each holder has a node with a
// name of its own. Elsewhere a check of the path would admit a late write of an old holder as soon
// as the next one holds.
#pragma once
#include <cstdint>
#include <string_view>

#include "seam/result_handler.hpp"

namespace holdfast::zookeeper {

struct held_write {
  std::string_view lock, owner;  // of the lease under which it is written
  std::string_view path, value;
  std::int32_t version = -1;  // that the node has; -1: any
};

using version_handler = seam::result_handler<std::int32_t>;

class held_nodes {
 public:
  // Writes a node in one step with the check that the owner still has the lock; lost: it has not.
  // The result is the new version of the node.
  virtual void write(const held_write&, version_handler&) = 0;

 protected:
  ~held_nodes() = default;
};

}  // namespace holdfast::zookeeper
