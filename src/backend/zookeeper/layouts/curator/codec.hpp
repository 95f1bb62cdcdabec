// Layout `curator`: what Curator's InterProcessMutex writes, of Apache Curator 5.
//
//   path                       | content
//   ---------------------------+---------------------------------------------------------------
//   LOCK                       | a container
//   LOCK/_c_GUID-lock-SEQUENCE | ephemeral, sequential; data: who waits or holds, for people
//
// The lowest sequence holds the lock; each other node waits for the end of the one before it.
// Source: LockInternals and StandardLockInternalsDriver of Apache Curator.
#pragma once
#include "backend/zookeeper/layouts/marked_codec.hpp"

namespace holdfast::zookeeper::curator {

class codec final : public marked_codec {
 public:
  codec()
      : marked_codec({.can = abilities(seam::bit_of(lock_mode::exclusive)),
                      .markers = {{"lock-", lock_mode::exclusive}},
                      .before_guid = "_c_",
                      .after_guid = "-",
                      .other_kinds = {"__READ__", "__WRIT__"}}) {}
};

}  // namespace holdfast::zookeeper::curator
