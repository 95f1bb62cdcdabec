// Checks the name of a lock and the note of a holder. Both are data, never part of a script, path
// or statement.
#pragma once
#include <cstddef>
#include <string_view>

namespace holdfast::seam {

inline constexpr std::size_t name_bytes_max = 512;
inline constexpr std::size_t note_bytes_max = 256;

// Empty when valid, else what is wrong and the remedy.
std::string_view name_fault(std::string_view name) noexcept;
std::string_view note_fault(std::string_view note) noexcept;

}  // namespace holdfast::seam
