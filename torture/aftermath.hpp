// The checks after a campaign: of its history, of liveness, and of what clients left in the store.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "contention/fault.hpp"
#include "torture/campaign.hpp"
#include "torture/deployment.hpp"

namespace holdfast::torture {

// A line for each lock that a new client cannot acquire alone within the bound.
std::vector<std::string> locks_not_released(const deployment&, std::chrono::milliseconds bound);
// A line for each thing that stays in the store for longer than the bound.
std::vector<std::string> things_left(deployment&, std::chrono::milliseconds bound);
// Counts what the history of the folder has, and adds its violations.
void judge_history(const std::string& folder, const deployment&,
                   const std::vector<span_of_time>& excuses, campaign_result&);

}  // namespace holdfast::torture
