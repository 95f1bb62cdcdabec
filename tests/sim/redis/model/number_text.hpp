// Numbers in text, read as strictly as Redis does.
#pragma once
#include <array>
#include <optional>
#include <string_view>

namespace holdfast::sim {

std::optional<long long> whole_number(std::string_view);  // "01", "+1", "-0" and " 1" are none
std::optional<double> real_number(std::string_view);      // inf is one, nan is none

using digits_buffer = std::array<char, 40>;
std::string_view digits_of(double, digits_buffer&);  // as %.17g has it

bool same_word(std::string_view word, std::string_view lower_case);  // in any case
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace holdfast::sim
