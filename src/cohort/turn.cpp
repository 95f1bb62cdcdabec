#include "cohort/turn.hpp"

#include <holdfast/error.hpp>

#include "base/mutant.hpp"
#include "cohort/client_impl.hpp"

namespace holdfast::inline v0::detail {

bool turn::held() const noexcept { return !status(); }

void turn::reset() noexcept {
  now.store(fate::held, std::memory_order_relaxed);
  leases.store(1, std::memory_order_relaxed);
  is_admitting.store(false, std::memory_order_relaxed);
  doubted = false;
  is_share = false;
  if (extras_) *extras_ = {};
}

bool turn::is_of_this_process() const noexcept { return home.client().is_of_this_process(); }

std::error_code turn::status() const noexcept {
  using base::mutant;
  if (!is_of_this_process() && !base::planted(mutant::child_keeps_lease)) return errc::forked;
  const fate marked = now.load(std::memory_order_acquire);
  if (marked == fate::closed) return errc::closed;
  if (is_loss(marked) && !base::planted(mutant::renewal_revives_lost)) return errc::lost;
  const base::time_point until = deadline.load(std::memory_order_acquire);
  if (until == base::never || base::planted(mutant::held_without_clock)) return {};
  return home.client().env().now() < until ? std::error_code{} : errc::lost;
}

turn::fate turn::fate_at_deadline() const noexcept {
  const bool is_limited = extras_ && extras_->hold_end <= deadline.load(std::memory_order_relaxed);
  return is_limited ? fate::hold_ended : fate::ran_out;
}

bool turn::admits_readers() const noexcept {
  if (!is_admitting.load(std::memory_order_acquire) || !is_of_this_process()) return false;
  const base::time_point until = deadline.load(std::memory_order_acquire);
  return base::planted(base::mutant::run_out_share_joined) || until == base::never ||
         until - home.client().env().now() >= ttl / 2;
}

base::failure extension_fault(const turn* t, std::chrono::milliseconds ttl) {
  const auto fault =
      seam::ttl_fault(ttl, t && t->is_of_this_process() ? t->home.client().rules().options
                                                        : seam::client_options());
  if (!fault.empty()) return {errc::bad_option, std::string(fault)};
  if (!t) return {errc::not_held, {}};
  if (const auto status = t->status()) return {status, {}};
  return seam::limit_fault(ttl, t->home.rules().can.ttl_max);
}

}  // namespace holdfast::inline v0::detail
