#include "tests/mutants/register/lua_code.hpp"

#include <cctype>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace holdfast::mutants {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::size_t end_of_string(std::string_view lua, std::size_t at) {
  const char quote = lua[at++];
  while (at < lua.size() && lua[at] != quote) at += lua[at] == '\\' ? 2 : 1;
  return std::min(at + 1, lua.size());
}

}  // namespace

std::string code_of(std::string_view lua) {
  std::string out;
  for (std::size_t at = 0; at < lua.size();) {
    const std::string_view rest = lua.substr(at);
    if (rest.starts_with("--[") || rest.starts_with("[["))
      throw std::invalid_argument("long brackets in a script: " + std::string(rest.substr(0, 20)));
    if (is_space(lua[at]) || rest.starts_with("--")) {
      if (!out.empty() && out.back() != ' ') out += ' ';
      at += is_space(lua[at]) ? 1 : std::min(rest.find('\n'), rest.size());
    } else if (lua[at] == '\'' || lua[at] == '"') {
      const std::size_t end = end_of_string(lua, at);
      out += lua.substr(at, end - at);
      at = end;
    } else {
      out += lua[at++];
    }
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

int count_of(std::string_view piece, std::string_view code) {
  int n = 0;
  for (auto at = code.find(piece); at != code.npos; at = code.find(piece, at + 1)) ++n;
  return n;
}

std::string text_of_script(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == name.npos) return {};
  std::ifstream file(HOLDFAST_LAYOUTS "/" + std::string(name.substr(0, slash)) + "/scripts/" +
                     std::string(name.substr(slash + 1)) + ".lua");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const bool has_directive = text.starts_with("-- part\n") || text.starts_with("-- include: ");
  return has_directive ? text.substr(text.find('\n') + 1) : text;
}

}  // namespace holdfast::mutants
