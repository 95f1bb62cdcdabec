#include "cli/lease_terms.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "cli/duration_text.hpp"
#include "cli/message.hpp"
#include "cli/place.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using optional_duration = std::optional<nanoseconds>;

constexpr nanoseconds ttl_least = milliseconds{100}, ttl_most = std::chrono::hours{24 * 366};

optional_duration option_of(const std::optional<url>& where, std::string_view name) {
  if (!where) return {};
  for (const auto& [key, value] : where->options())
    if (key == name) return parse_duration(value);
  return {};
}

optional_duration agreed(optional_duration argument, optional_duration of_url, const char* name) {
  if (argument && of_url && *argument != *of_url)
    throw usage_error(std::string("--") + name + " and the URL's " + name +
                      "= differ; give one of them");
  return argument ? argument : of_url;
}

}  // namespace

lease_terms terms_of(const run_arguments& arguments, const std::optional<url>& where) {
  if (arguments.ttl && (*arguments.ttl < ttl_least || *arguments.ttl > ttl_most))
    throw usage_error("--ttl is out of range; give from 100ms to 366d");
  lease_terms terms;
  terms.ttl =
      agreed(arguments.ttl, option_of(where, "ttl"), "ttl").value_or(std::chrono::seconds{30});
  terms.ttl = std::chrono::ceil<milliseconds>(terms.ttl);
  const nanoseconds usual = std::min<nanoseconds>(std::chrono::seconds{5}, terms.ttl / 5);
  terms.grace = agreed(arguments.grace, option_of(where, "grace"), "grace").value_or(usual);
  terms.grace = std::chrono::floor<milliseconds>(terms.grace);
  // The timeout of a session is known after the grant, and is checked then.
  if (!place::has_session(where) && terms.grace > terms.ttl / 3)
    throw usage_error(std::string(arguments.grace ? "--grace" : "the URL's grace=") +
                      " is above a third of the ttl (" + seconds(terms.ttl) +
                      " s); lower it or raise the ttl");
  return terms;
}

}  // namespace holdfast::cli
