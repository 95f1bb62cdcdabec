#include "backend/zookeeper/layouts/curator_rw/codec.hpp"

#include "backend/zookeeper/layouts/abilities.hpp"

namespace holdfast::zookeeper::curator_rw {

codec::codec()
    : marked_codec(
          {.can = abilities(core::bit_of(lock_mode::exclusive) | core::bit_of(lock_mode::shared)),
           .markers = {{"__READ__", lock_mode::shared}, {"__WRIT__", lock_mode::exclusive}},
           .before_guid = "_c_",
           .after_guid = "-"}) {}

}  // namespace holdfast::zookeeper::curator_rw
