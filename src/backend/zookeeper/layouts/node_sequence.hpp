// What the server appends to the name of a sequential node: the sequence in ten digits.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

std::string text_of_sequence(std::int32_t);
// None: no server writes that.
std::optional<std::int32_t> read_sequence(std::string_view) noexcept;

}  // namespace holdfast::zookeeper
