// The slots of a cluster's keys, and the keys that a command names.
#pragma once
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::sim {

struct command;

inline constexpr int slots_of_cluster = 16384;

// CRC-16/XMODEM of the part in the first braces that are not empty, or of all of the key.
int slot_of_key(std::string_view key) noexcept;

// By its key specification; none of a malformed call.
std::vector<std::string_view> keys_of(const command&, std::span<const std::string_view> argv);

}  // namespace holdfast::sim
