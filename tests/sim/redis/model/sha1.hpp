#pragma once
#include <string>
#include <string_view>

namespace holdfast::sim {

std::string sha1_hex(std::string_view);  // 40 lower-case digits

}  // namespace holdfast::sim
