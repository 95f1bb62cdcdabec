// The locks of a campaign.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace holdfast::torture {

inline constexpr std::size_t mutex_count = 2, shared_count = 2;
inline constexpr std::uint32_t permit_count = 3;

inline constexpr std::chrono::milliseconds lease_ttl{2000};

inline const std::string name_prefix = "torture/";
inline std::string mutex_name(std::size_t i) { return name_prefix + "mutex/" + std::to_string(i); }
inline std::string shared_name(std::size_t i) {
  return name_prefix + "shared/" + std::to_string(i);
}
inline std::string recursive_name() { return name_prefix + "recursive"; }
inline std::string permits_name() { return name_prefix + "permits"; }

}  // namespace holdfast::torture
