// The file name of a lock: the lock's name as one component of a path.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::file {

inline constexpr std::size_t file_name_bytes_max = 255;  // NAME_MAX of Linux
inline constexpr std::string_view lock_suffix = ".lock";
inline constexpr std::string_view waiters_suffix = ".waiters";
// No lock's file has these names, because they have no suffix.
inline constexpr const char* probe_file = ".probe";
inline constexpr const char* floor_file = ".floor";

// The lock's name percent-encoded, so that the stem with a suffix is never ".", ".." or ".probe",
// never contains a '/', and no two names have the same stem. When it would not fit with the longest
// suffix: the beginning of the encoded name, "%-", and the FNV-1a hash (128 bits) of the name in
// hex. "%-" is in no encoded name, so the two kinds never collide; two hashed names may, and the
// full name in the file distinguishes them.
std::string file_stem(std::string_view lock_name, std::size_t name_max = file_name_bytes_max);

// The name of the lock to which this file belongs; nullopt when it belongs to none, or when the
// name is hashed and only the file's content has it.
std::optional<std::string> lock_name_of(std::string_view file_name);
bool is_hashed(std::string_view file_name) noexcept;

}  // namespace holdfast::file
