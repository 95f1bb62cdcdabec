// JSON for programs that read what we print.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::cli {

// A string with its quotes. What is no UTF-8 becomes U+FFFD; what could steer a terminal is
// escaped.
std::string json_string(std::string_view text);

// {"a":1,"b":"x"}, member by member.
class json_object {
 public:
  json_object& text(std::string_view name, std::string_view value);
  json_object& number(std::string_view name, std::int64_t value);
  json_object& flag(std::string_view name, bool value);
  json_object& null(std::string_view name);
  json_object& value(std::string_view name, std::string_view json);  // an array, another object
  std::string done() const { return members_ + '}'; }

 private:
  std::string members_ = "{";
};

}  // namespace holdfast::cli
