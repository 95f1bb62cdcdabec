// Whatever is given as a URL is refused by a lock_error or understood; what is shown of it reads
// the same again and has no password in it.
#include <holdfast/error.hpp>
#include <holdfast/url.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/secret.hpp"

namespace {

constexpr std::string_view canary = "canary";

void require(bool fact) {
  if (!fact) std::abort();
}

bool has_canary(std::string_view text) { return text.find(canary) != text.npos; }

bool canary_in_the_open(const holdfast::url& u) {
  bool open = has_canary(u.scheme()) || has_canary(u.user()) || has_canary(u.path());
  for (const auto& endpoint : u.endpoints()) open = open || has_canary(endpoint.host);
  for (const auto& [key, value] : u.options()) open = open || has_canary(key) || has_canary(value);
  return open;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  // password-file= and password-env=, however they are encoded, read what this machine has.
  const auto query = text.find('?');
  if (text.find("password-") != text.npos || text.find('%', query) != text.npos) return 0;
  try {
    const auto u = holdfast::url::parse(text);
    const std::string shown = u.text();
    if (has_canary(holdfast::secret_access::password(u)) && !canary_in_the_open(u))
      require(!has_canary(shown));
    require(holdfast::url::parse(shown).text() == shown);
  } catch (const holdfast::lock_error& e) {
    require(std::string_view(e.what()).size() > 0);
  }
  return 0;
}
