// Layout `curator-rw`: what Curator's InterProcessReadWriteLock writes, of Apache Curator 5.5 and
// newer.
//
//   path                           | content
//   -------------------------------+-----------------------------------------------------------
//   LOCK                           | a container
//   LOCK/_c_GUID-__READ__SEQUENCE  | ephemeral, sequential: a reader
//   LOCK/_c_GUID-__WRIT__SEQUENCE  | ephemeral, sequential: a writer
//
// One sequence for both. A writer that becomes a reader makes a node __READ__ with the sequence of
// its own, not a sequential one, in the step that removes the other.
// Source: InterProcessReadWriteLock of Apache Curator.
#pragma once
#include "backend/zookeeper/layouts/marked_codec.hpp"

namespace holdfast::zookeeper::curator_rw {

class codec final : public marked_codec {
 public:
  codec()
      : marked_codec(
            {.can = abilities(seam::bit_of(lock_mode::exclusive) | seam::bit_of(lock_mode::shared)),
             .markers = {{"__READ__", lock_mode::shared}, {"__WRIT__", lock_mode::exclusive}},
             .before_guid = "_c_",
             .after_guid = "-",
             .other_kinds = {"-lock-"}}) {}
};

}  // namespace holdfast::zookeeper::curator_rw
