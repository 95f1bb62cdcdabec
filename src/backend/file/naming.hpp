// The file of a lock: its name as one component of a path.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::file {

inline constexpr std::size_t file_name_bytes_max = 255;  // NAME_MAX of Linux
inline constexpr std::string_view lock_suffix = ".lock";
inline constexpr std::string_view waiters_suffix = ".waiters";
// No lock's file has these names: they have no suffix.
inline constexpr const char* probe_file = ".probe";
inline constexpr const char* floor_file = ".floor";

// The lock's name percent-encoded, so that the stem with a suffix is never ".", ".." or ".probe",
// never has a '/' in it, and no two names have the same one. When it would not fit with the longest
// suffix: the beginning of the encoded name, "%-", and the FNV-1a hash (128 bits) of the name in
// hex. "%-" stands in no encoded name, so the two kinds never meet; two hashed names may, and the
// full name in the file tells them apart.
std::string file_stem(std::string_view lock_name, std::size_t name_max = file_name_bytes_max);

// The name of the lock whose file this is; nullopt when it is no lock's, or when the name is hashed
// and only the file's content tells it.
std::optional<std::string> lock_name_of(std::string_view file_name);
bool is_hashed(std::string_view file_name) noexcept;

}  // namespace holdfast::file
