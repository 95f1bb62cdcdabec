// Percent-encoding: RFC 3986, section 2.1.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::base {

// Leaves letters, digits, "-._~" and the characters of `also` as they are.
std::string percent_encode(std::string_view text, std::string_view also = {});
std::optional<std::string> percent_decode(std::string_view text);  // nullopt: a bad %XX

}  // namespace holdfast::base
