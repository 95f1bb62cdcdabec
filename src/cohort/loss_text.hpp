// Why a lease is in doubt or lost, in words for the log and for errors.
#pragma once
#include <string>

#include "cohort/lock_rules.hpp"
#include "cohort/turn.hpp"
#include "seam/connection.hpp"

namespace holdfast::inline v0::detail {

// With the trouble that is known of the store. Empty for a turn that is not lost.
std::string text_of_loss(turn::fate why, const cohort::lock_rules&, seam::connection& of_lock);
std::string text_of_doubt(turn::fate how_it_may_end, const cohort::lock_rules&,
                          seam::connection& of_lock);

}  // namespace holdfast::inline v0::detail
