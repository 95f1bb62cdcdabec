// JSON for programs that read what we print, written by nlohmann-json. Its headers stay in one
// translation unit: they take seconds to compile.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::cli {

struct json_object;

// A null pointer is null.
using json_value =
    std::variant<std::nullptr_t, bool, std::int64_t, std::string, std::vector<json_object>>;

struct json_object {
  std::vector<std::pair<const char*, json_value>> members;  // printed in this order
};

// {"a":1,"b":"x"} on one line. Bytes that are not UTF-8 become U+FFFD; characters that could steer
// a terminal are escaped.
std::string json_text(const json_object&);
std::string json_text(
    const std::vector<json_object>&);  // an array, one object a line, with its end

}  // namespace holdfast::cli
