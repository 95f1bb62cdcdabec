#include "cli/redis_credentials.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace holdfast::cli {
namespace {

// The library has found each '%' to be followed by two digits.
std::string percent_decoded(std::string_view text) {
  constexpr int hexadecimal = 16;
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, hexadecimal).ec ==
            std::errc{}) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::optional<std::string> value_of(const url& where, std::string_view option) {
  const auto found = std::ranges::find(where.options(), option, &url::option::first);
  if (found == where.options().end()) return std::nullopt;
  return found->second;
}

std::string password_in_file(const std::string& path) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw std::runtime_error("the file of the password cannot be read");
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// The password that the options NAME-file and NAME-env lead to; empty: there is none.
std::string password_outside_of_url(const url& where, const std::string& name) {
  if (const auto path = value_of(where, name + "-file")) return password_in_file(*path);
  if (const auto variable = value_of(where, name + "-env"))
    if (const char* const value = std::getenv(variable->c_str()))  // NOLINT(concurrency-mt-unsafe)
      return value;
  return {};
}

// The password of user:password@, or that of ?password=; empty: the text has none.
std::string password_in_url(std::string_view text) {
  const auto question = std::min(text.find('?'), text.size());
  std::string_view query = text.substr(std::min(question + 1, text.size()));
  const std::string_view front = text.substr(0, question);
  const auto begin = std::min(front.find("//"), front.size() - 2) + 2;
  const std::string_view authority = front.substr(begin, front.find('/', begin) - begin);
  if (const auto at = authority.rfind('@'); at != authority.npos) {
    const std::string_view user = authority.substr(0, at);
    if (const auto colon = user.find(':'); colon != user.npos && colon + 1 < user.size())
      return percent_decoded(user.substr(colon + 1));
  }
  constexpr std::string_view option = "password=";
  while (!query.empty()) {
    const std::string_view item = query.substr(0, query.find('&'));
    if (item.starts_with(option)) return percent_decoded(item.substr(option.size()));
    query.remove_prefix(std::min(item.size() + 1, query.size()));
  }
  return {};
}

}  // namespace

redis_credentials credentials_of_servers(const std::string& text, const url& where) {
  redis_credentials out{where.user(), password_in_url(text)};
  if (out.password.empty()) out.password = password_outside_of_url(where, "password");
  return out;
}

redis_credentials credentials_of_sentinels(const url& where) {
  return {value_of(where, "sentinel-user").value_or(""),
          password_outside_of_url(where, "sentinel-password")};
}

}  // namespace holdfast::cli
