#include "backend/zookeeper/layouts/curator/codec.hpp"

#include "backend/zookeeper/layouts/abilities.hpp"

namespace holdfast::zookeeper::curator {

codec::codec()
    : marked_codec({.can = abilities(core::bit_of(lock_mode::exclusive)),
                    .markers = {{"lock-", lock_mode::exclusive}},
                    .before_guid = "_c_",
                    .after_guid = "-"}) {}

}  // namespace holdfast::zookeeper::curator
