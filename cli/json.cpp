#include "cli/json.hpp"

#include <cstdio>

#include "cli/utf8.hpp"

namespace holdfast::cli {
namespace {

void append_escape(std::string& to, std::uint32_t code) {
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(code & 0xffff));
  to += text;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto [code, size] = first_code_point(text);
    if (code == '"' || code == '\\')
      out.append(1, '\\').append(1, static_cast<char>(code));
    else if (code == not_utf8)
      out += "\\ufffd";
    else if (steers_a_terminal(code))  // all of them are below U+10000: one escape is enough
      append_escape(out, code);
    else
      out += text.substr(0, size);
    text.remove_prefix(size);
  }
  return out + '"';
}

json_object& json_object::text(std::string_view name, std::string_view v) {
  return value(name, json_string(v));
}

json_object& json_object::number(std::string_view name, std::int64_t v) {
  return value(name, std::to_string(v));
}

json_object& json_object::flag(std::string_view name, bool v) {
  return value(name, v ? "true" : "false");
}

json_object& json_object::null(std::string_view name) { return value(name, "null"); }

json_object& json_object::value(std::string_view name, std::string_view json) {
  if (members_.size() > 1) members_ += ',';
  members_.append(json_string(name)).append(1, ':').append(json);
  return *this;
}

}  // namespace holdfast::cli
