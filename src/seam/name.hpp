// What may be the name of a lock, or a note: data, never part of a script, a path or a statement.
#pragma once
#include <cstddef>
#include <string_view>

namespace holdfast::core {

inline constexpr std::size_t name_bytes_max = 512;
inline constexpr std::size_t note_bytes_max = 256;

// Empty when fine, else what is wrong with it and what to do.
std::string_view name_fault(std::string_view name) noexcept;
std::string_view note_fault(std::string_view note) noexcept;

}  // namespace holdfast::core
