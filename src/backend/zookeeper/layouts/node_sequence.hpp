// The ten digits that the server appends to the name of a sequential node. A sequence is never
// negative: it stays at 2147483647.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

inline constexpr std::size_t sequence_length = 10;

std::string text_of_sequence(std::int32_t);
std::optional<std::int32_t> read_sequence(std::string_view node) noexcept;  // none: it has none

}  // namespace holdfast::zookeeper
