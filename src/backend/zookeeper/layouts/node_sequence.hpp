// The digits that the server appends to the name of a sequential node: how many nodes were created
// in the parent before it, as printf's "%010d" writes it. At 2147483647 the count stops, so every
// later node gets that sequence. Nodes that are created concurrently at that moment get negative
// ones. A claim's name has a GUID, so the server does not refuse equal sequences: their order is
// that of the GUIDs, and a node that is created later may come first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

inline constexpr std::size_t sequence_length = 10;
// From here on the order of the sequences is not relied on. The distance to the limit is more than
// the number of requests that are in flight at once.
inline constexpr std::int32_t sequence_limit = std::numeric_limits<std::int32_t>::max() - 10'000;

std::string text_of_sequence(std::int32_t);
// The sequence of a node whose name is `begin` and a sequence; none: another name.
std::optional<std::int32_t> read_sequence(std::string_view node, std::string_view begin) noexcept;
// Whether a claim whose node has this sequence can hold a lock.
bool is_in_order(std::optional<std::int32_t>) noexcept;

}  // namespace holdfast::zookeeper
