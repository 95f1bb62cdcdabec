// Layouts `kazoo` and `kazoo-rw`: what the locks of kazoo, the Python client, write.
//
//   path                         | content
//   -----------------------------+-------------------------------------------------------------
//   LOCK                         | persistent
//   LOCK/HEX__lock__SEQUENCE     | ephemeral, sequential: Lock and WriteLock
//   LOCK/HEX__rlock__SEQUENCE    | ephemeral, sequential: ReadLock
//
// HEX: a GUID of 32 digits. `extra`: what else blocks, as kazoo's extra_lock_patterns do; each is
// text that stands before a node's ten digits ("-lock-": Curator's mutex, "__WRIT__": its writers).
// Source: kazoo.recipe.lock.
#pragma once
#include <string>
#include <vector>

#include "backend/zookeeper/layouts/marked_codec.hpp"

namespace holdfast::zookeeper::kazoo {

enum class kind : unsigned char { lock, read_write };

class codec final : public marked_codec {
 public:
  // `extra` outlives it.
  codec(kind, const std::vector<std::string>& extra);
};

}  // namespace holdfast::zookeeper::kazoo
