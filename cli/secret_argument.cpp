#include "cli/secret_argument.hpp"

#include <algorithm>
#include <string_view>

#include "cli/message.hpp"

namespace holdfast::cli {
namespace {

void blank(char* text, std::size_t from, std::size_t to) { std::fill(text + from, text + to, '*'); }

// user:password@. The URL may be a wrong one with '/', '?' and '@' in its password, so everything
// from the first colon to the last '@' is blanked, or a user without a colon: that word may be the
// password.
// Hiding too much costs nothing.
void blank_user(char* text, std::string_view url) {
  auto start = url.find(':');
  if (start == url.npos) return;
  start = url.find_first_not_of('/', start + 1);
  const auto at = url.rfind('@');
  if (start == url.npos || at == url.npos) return;
  const auto colon = url.find(':', start);
  if (start < at) blank(text, colon < at ? colon + 1 : start, at);
}

bool may_hold_password(std::string_view key) {
  if (key.ends_with("-file") || key.ends_with("-env")) return false;
  // Also a mistyped one: Password=, passwrd=, pw=.
  return key.find_first_of("pP%") != key.npos && key != "prefix" && key != "op-timeout";
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

// Accepts a URL without slashes too: a user may have forgotten them before user:password@.
bool starts_like_store(std::string_view word) {
  constexpr std::string_view schemes[] = {"file:",          "memory:",        "redis:",
                                          "rediss:",        "redis+unix:",    "redis+sentinel:",
                                          "redlock:",       "redlocks:",      "zookeeper:",
                                          "zookeepers:",    "mysql:",         "rediss+sentinel:",
                                          "redis+shards:",  "rediss+shards:", "redis+cluster:",
                                          "rediss+cluster:"};
  return std::ranges::any_of(schemes, [&](auto scheme) {
    return word.starts_with(scheme) &&
           (word.substr(scheme.size()).starts_with("//") || word.find('@') != word.npos);
  });
}

}  // namespace

void refuse_url(std::string_view name) {
  const auto slashes = name.find("://");
  const bool has_user = slashes != name.npos && name.find('@', slashes) != name.npos;
  if (has_user || starts_like_store(name))
    throw usage_error("a NAME is a URL; write --url before it");
}

std::string take_secret_argument(char* argument) {
  std::string copy(argument);
  blank_user(argument, copy);
  blank_options(argument, copy);
  return copy;
}

}  // namespace holdfast::cli
