#include "cli/place.hpp"

#include <cstdlib>
#include <string_view>

#include "cli/message.hpp"
#include "cli/profile.hpp"

namespace holdfast::cli {
namespace {

// A text with an '@' or an option is not quoted: it may hold a password.
void refuse_what_is_no_url(const std::string& text, const std::string& source) {
  if (text.empty() || text.find_first_of("@?") != text.npos || text.find("://") != text.npos)
    return;
  const auto colon = text.find(':');
  const auto port =
      colon == text.npos ? std::string_view() : std::string_view(text).substr(colon + 1);
  const bool is_address = !port.empty() && port.find_first_not_of("0123456789") == port.npos;
  const std::string start = source + " '" + text + "' is not a URL; ";
  if (text.starts_with('/')) throw usage_error(start + "did you mean file://" + text + "?");
  if (is_address) throw usage_error(start + "did you mean redis://" + text + "?");
  if (colon == text.npos)
    throw usage_error(start +
                      "a URL starts with a scheme, for example redis://host or file:///dir");
}

// The URL of a profile, with an error that names the line of its file.
place place_of_profile(const std::string& word) {
  const profile found = read_profile(std::string_view(word).substr(1));
  refuse_what_is_no_url(found.url, found.source + ": the profile " + word + " is");
  try {
    return {found.url, url::parse(found.url), word};
  } catch (const lock_error& e) {
    throw usage_error(found.source + ": " + text_of(e));
  }
}

}  // namespace

place place_of(const std::optional<std::string>& argument) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet
  const char* const variable = std::getenv("HOLDFAST_URL");
  place out{"file:", {}, "the default"};
  if (argument && argument->empty())
    throw usage_error("--url is empty; give file: for the locks of this machine and user");
  if (!argument && variable && !*variable)
    throw usage_error("HOLDFAST_URL is empty; unset it, or set it to file: for the locks of this "
                      "machine and user");
  if (argument) {
    out.text = *argument;
    out.said_by = "--url";
  } else if (variable) {
    out.text = variable;
    out.said_by = "HOLDFAST_URL";
  }
  if (out.text.starts_with('@')) return place_of_profile(out.text);
  refuse_what_is_no_url(out.text, out.said_by);
  out.parsed = url::parse(out.text);
  return out;
}

bool place::local() const noexcept { return !parsed || parsed->scheme() == "file"; }

bool place::has_session(const std::optional<url>& where) {
  return where && where->scheme().starts_with("zookeeper");
}

bool place::strict() const {
  if (!parsed) return false;
  for (const auto& [key, value] : parsed->options())  // open() has found it to be a switch
    if (key == "strict") return value == "1" || value == "true" || value == "yes" || value == "on";
  return false;
}

std::span<const std::string> place::secret_variables() const {
  return parsed ? std::span(parsed->secret_variables()) : std::span<const std::string>();
}

std::string place::identity() const { return parsed ? parsed->text() : std::string("file:"); }

std::string place::shown() const { return identity() + " (" + said_by + ')'; }

}  // namespace holdfast::cli
