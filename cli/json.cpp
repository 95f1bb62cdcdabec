#include "cli/json.hpp"

#define JSON_NO_IO 1  // no iostreams
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/utf8.hpp"

namespace holdfast::cli {
namespace {

using nlohmann::ordered_json;

ordered_json tree_of(const json_object&);

struct to_tree {
  ordered_json operator()(const std::vector<json_object>& all) const {
    auto out = ordered_json::array();
    for (const json_object& one : all) out.push_back(tree_of(one));
    return out;
  }
  template <class T>
  ordered_json operator()(const T& value) const {
    return value;
  }
};

ordered_json tree_of(const json_object& object) {
  auto out = ordered_json::object();
  for (const auto& [name, value] : object.members) out[name] = std::visit(to_tree(), value);
  return out;
}

// All of these are below U+10000: one escape is enough.
std::string escape_of(std::uint32_t code) {
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(code & 0xffff));
  return text;
}

}  // namespace

std::string json_text(const json_object& object) {
  const std::string plain =
      tree_of(object).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string out;
  for (std::string_view remaining = plain; !remaining.empty();) {
    const auto [code, size] = first_code_point(remaining);
    if (steers_a_terminal(code))
      out += escape_of(code);
    else
      out += remaining.substr(0, size);
    remaining.remove_prefix(size);
  }
  return out;
}

std::string json_text(const std::vector<json_object>& all) {
  std::string out = "[";
  for (const json_object& one : all)
    out.append(out.size() > 1 ? ",\n " : "").append(json_text(one));
  return out + "]\n";
}

}  // namespace holdfast::cli
