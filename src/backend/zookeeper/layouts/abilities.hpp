// What every layout of sequential nodes can do.
#pragma once
#include "seam/capabilities.hpp"

namespace holdfast::zookeeper {

constexpr core::capabilities abilities(unsigned modes) noexcept {
  const bool shares = (modes & core::bit_of(lock_mode::shared)) != 0;
  return {.life = core::bound_to::session,
          .queue = core::order::fifo,
          .wanted = core::wanted_by::push,
          .modes = modes,
          .tokens = true,
          .durable = true,
          .processes = true,
          .breakable = true,
          .downgrade = shares};
}

}  // namespace holdfast::zookeeper
