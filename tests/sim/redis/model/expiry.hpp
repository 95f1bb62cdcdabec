// Times of expiry as commands name them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {

enum class time_unit { seconds, milliseconds };

// `amount` after `base_ms`, or nothing when it does not fit.
std::optional<std::int64_t> expiry_at(long long amount, time_unit, std::int64_t base_ms);

std::string invalid_expire(std::string_view command);  // "set"

}  // namespace holdfast::sim
