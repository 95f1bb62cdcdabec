// Layout `curator`: what Curator's InterProcessMutex writes, of Apache Curator 5.
//
//   key            | content
//   ---------------+------------------------------------------------------------------------------
//   PATH           | a container
//   PATH/_c_GUID-lock-SEQUENCE | ephemeral and sequential; data: who waits or holds, for people
//
// The lowest sequence holds the lock; each other node waits for the end of the one before it.
// Source: LockInternals and StandardLockInternalsDriver of Apache Curator.
#pragma once
#include "backend/zookeeper/layouts/sequential_codec.hpp"

namespace holdfast::zookeeper::curator {

class codec final : public sequential_codec {
 public:
  const core::capabilities& can() const noexcept override;
  std::string name_of(const guid&, lock_mode) const override;
  place_in_line place_of(std::string_view own, lock_mode, node_names all) const override;
  std::vector<node_in_line> line_of(node_names all) const override;
};

}  // namespace holdfast::zookeeper::curator
