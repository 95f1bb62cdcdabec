#include "cli/secret_argument.hpp"

#include <algorithm>
#include <string_view>

namespace holdfast::cli {
namespace {

void blank(char* text, std::size_t from, std::size_t to) { std::fill(text + from, text + to, '*'); }

// user:password@. The URL may be a wrong one with '/', '?' and '@' in its password, so everything
// from the first colon to the last '@' goes: hiding too much costs nothing.
void blank_user(char* text, std::string_view url) {
  auto start = url.find(':');
  if (start == url.npos) return;
  start = url.find_first_not_of('/', start + 1);
  const auto at = url.rfind('@');
  if (start == url.npos || at == url.npos) return;
  const auto colon = url.find(':', start);
  if (colon < at) blank(text, colon + 1, at);
}

bool may_hold_password(std::string_view key) {
  if (key.ends_with("-file") || key.ends_with("-env")) return false;
  return key.find("pass") != key.npos || key.find('%') != key.npos;
}

void blank_options(char* text, std::string_view url) {
  auto at = url.find('?');
  while (at != url.npos) {
    const auto end = std::min(url.find('&', at + 1), url.size());
    const auto equals = url.find('=', at + 1);
    if (equals < end && may_hold_password(url.substr(at + 1, equals - at - 1)))
      blank(text, equals + 1, end);
    at = url.find('&', at + 1);
  }
}

}  // namespace

std::string take_secret_argument(char* argument) {
  std::string copy(argument);
  blank_user(argument, copy);
  blank_options(argument, copy);
  return copy;
}

}  // namespace holdfast::cli
