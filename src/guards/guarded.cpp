#include <holdfast/guarded.hpp>

#include "base/mutant.hpp"

namespace holdfast::inline v0::detail {

using base::mutant;
using base::planted;

use_refusal check_use(const lease& by, std::string_view lock, std::int64_t& last_token) noexcept {
  const std::error_code state = by.status();
  if (state && !planted(mutant::guarded_use_after_loss)) return {state, "the lease is not held"};
  if (by.name() != lock && !planted(mutant::guarded_use_of_another_lock))
    return {errc::mismatch, "the lease is of another lock"};
  if (by.mode() != lock_mode::exclusive && !planted(mutant::guarded_use_by_share))
    return {errc::mismatch, "the lease is not exclusive; acquire the lock exclusively"};
  if (by.token() == 0)
    return {errc::unsupported, "the lease has no fencing token; use a layout that has tokens"};
  if (by.in_doubt() && !planted(mutant::guarded_use_in_doubt))
    return {errc::unavailable,
            "the lease is in doubt, because no renewal was confirmed in time; wait for one"};
  if (by.token() < last_token && !planted(mutant::guarded_use_after_later_holder))
    return {errc::lost, "a later holder has used the resource"};
  last_token = by.token();
  return {};
}

}  // namespace holdfast::inline v0::detail
