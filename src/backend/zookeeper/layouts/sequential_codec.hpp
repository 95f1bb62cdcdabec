// The names of the nodes of a layout, and who holds the lock given a list of them. Pure: no
// session, no clock, no claim.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/zookeeper/layouts/nodes_ahead.hpp"
#include "backend/zookeeper/transport/requests.hpp"
#include "base/uuid.hpp"
#include "seam/capabilities.hpp"

namespace holdfast::zookeeper {

struct node_place {  // of one node among the others
  bool is_there = false;
  // The nodes to wait for, the nearest first; empty: it holds the lock.
  nearest_names ahead;
  bool are_all = false;  // once these have ended, nothing is ahead
  bool others_behind = false;
  bool is_other_kind = false;  // nodes of another kind of lock of the same library are there
  // A node has a negative sequence. It is younger than all others, and its text sorts before them:
  // another client may take it for the first.
  bool has_wrapped = false;

  bool is_first() const noexcept { return ahead.front().empty(); }
};

struct queued_node {  // of a lock, in the order in which they are served
  std::string_view name;
  lock_mode mode = lock_mode::exclusive;
  bool holds = false;
};

using node_names = std::span<const std::string_view>;

class sequential_codec {
 public:
  virtual ~sequential_codec() = default;

  virtual const seam::capabilities& can() const noexcept = 0;
  // The kind of the node above a lock's nodes. The server removes containers once they are empty.
  virtual node_kind parent() const noexcept { return node_kind::container; }
  // The beginning of a node's name; the server appends ten digits. A writer that becomes a reader
  // keeps its digits, and so its place.
  virtual std::string name_of(const base::uuid&, lock_mode) const = 0;
  virtual node_place place_of(std::string_view own, lock_mode, node_names all) const = 0;
  // The nodes of this layout; others in the same parent are left out.
  virtual std::vector<queued_node> queue_of(node_names all) const = 0;
};

}  // namespace holdfast::zookeeper
