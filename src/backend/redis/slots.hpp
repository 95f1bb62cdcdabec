// The slots of a Redis Cluster: each key belongs to one of them, and each slot to one master.
// Source: redis.io, "Redis cluster specification", key distribution model and hash tags.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::redis {

using slot_number = std::uint16_t;
inline constexpr std::size_t slot_count = 16384;

// The part in the first braces that are not empty, which alone counts for the slot; without such a
// part all of the key.
std::string_view hashed_part(std::string_view key) noexcept;
slot_number slot_of(std::string_view key) noexcept;

// Why a lock with this key cannot be kept by a cluster: the keys beside it would be in other slots.
// Empty: it can.
std::string_view fault_in_cluster(std::string_view lock_key) noexcept;

// Three letters and digits whose slot it is. A key of the slot's own is "prefix:{tag}:what".
std::string_view tag_of_slot(slot_number) noexcept;

}  // namespace holdfast::redis
