// Universally unique identifiers: RFC 9562.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/environment.hpp"

namespace holdfast::base {

struct uuid {
  std::uint64_t high = 0, low = 0;
  explicit operator bool() const noexcept { return (high | low) != 0; }
  bool operator==(const uuid&) const noexcept = default;
};
std::string text_of(const uuid&);  // canonical: 8-4-4-4-12 hexadecimal digits in lower case
inline constexpr std::size_t uuid_length = 36;  // of that text
bool begins_with_uuid(std::string_view) noexcept;
// Makes a UUID from random bits: the version and the variant replace six of them.
uuid version_4(uuid random) noexcept;
uuid random_uuid(environment&);  // version 4

}  // namespace holdfast::base
