#include "core/turn.hpp"

#include <holdfast/error.hpp>

#include "core/mutant.hpp"

namespace holdfast::inline v0::detail {

bool turn::held() const noexcept { return !status(); }

std::error_code turn::status() const noexcept {
  using core::mutant;
  if (generation != core::fork_generation() && !core::planted(mutant::child_keeps_lease))
    return errc::forked;
  switch (now.load(std::memory_order_acquire)) {
    case fate::lost: return errc::lost;
    case fate::closed: return errc::closed;
    case fate::held: break;
  }
  const core::time_point until = deadline.load(std::memory_order_acquire);
  if (until == core::never || core::planted(mutant::held_without_clock)) return {};
  return env.now() < until ? std::error_code{} : errc::lost;
}

}  // namespace holdfast::inline v0::detail
