// How many of several independent servers decide for all.
#pragma once
#include <cstddef>

namespace holdfast::redis {

inline constexpr std::size_t independent_servers_max = 15;

constexpr std::size_t majority_of(std::size_t servers) noexcept { return servers / 2 + 1; }

}  // namespace holdfast::redis
