// Checks the name of a lock and the note of a holder, and whether a name is used for one kind of
// lock. Both texts are data, never part of a script, path or statement.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::seam {

inline constexpr std::size_t name_bytes_max = 512;
inline constexpr std::size_t note_bytes_max = 256;

// Empty when valid, else what is wrong and the remedy.
std::string_view name_fault(std::string_view name) noexcept;
std::string_view note_fault(std::string_view note) noexcept;

// Why a request is refused while the holders use the name for another kind of lock. Each kind is
// given by the permits of its semaphore; 0: a lock.
std::string kind_fault(std::int64_t held, std::int64_t requested);

}  // namespace holdfast::seam
