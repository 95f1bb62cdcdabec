#include "cli/place.hpp"

#include <cstdlib>

namespace holdfast::cli {

place place_of(const std::optional<std::string>& argument) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet
  const char* const variable = std::getenv("HOLDFAST_URL");
  place out{{}, {}, "the default"};
  if (argument) {
    out.text = *argument;
    out.said_by = "--url";
  } else if (variable && *variable) {
    out.text = variable;
    out.said_by = "HOLDFAST_URL";
  }
  if (!out.text.empty()) out.parsed = url::parse(out.text);
  return out;
}

bool place::local() const noexcept { return !parsed || parsed->scheme() == "file"; }

bool place::strict() const {
  if (!parsed) return false;
  for (const auto& [key, value] : parsed->options())  // open() has found it to be a switch
    if (key == "strict") return value == "1" || value == "true" || value == "yes" || value == "on";
  return false;
}

std::span<const std::string> place::secret_variables() const {
  return parsed ? std::span(parsed->secret_variables()) : std::span<const std::string>();
}

std::string place::shown() const {
  return (parsed ? parsed->text() : std::string("file:")) + " (" + said_by + ')';
}

}  // namespace holdfast::cli
