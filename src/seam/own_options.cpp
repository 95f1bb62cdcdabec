#include "seam/own_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/fail.hpp"
#include "base/url_parts.hpp"

namespace holdfast::seam {

void own_options::refuse(std::string why) const {
  fail(errc::bad_option, "open", std::move(why), {}, args_.where.text());
}

bool own_options::text(std::string_view name, std::string& to) {
  return read(name, [&](const std::string& given) { to = given; });
}

bool own_options::flag(std::string_view name, bool& to) {
  return read(name, [&](std::string_view given) { to = parse_bool(given, name); });
}

bool own_options::time(std::string_view name, duration& to) {
  return read(name, [&](std::string_view given) { to = parse_duration(given, name); });
}

double own_options::number(std::string_view name, double otherwise, double lowest, double highest) {
  read(name,
       [&](std::string_view given) { otherwise = parse_number(given, name, lowest, highest); });
  return otherwise;
}

void own_options::layout(std::string& to, const layout_choice& all) {
  bool may_be_unsafe = false;
  flag("unsafe", may_be_unsafe);
  read("layout", [&](const std::string& given) {
    if (!all.is_layout(given))
      refuse("there is no layout \"" + shown_option_value(given) + "\"; there is " + all.names());
    to = given;
  });
  if (const std::string_view danger = all.danger_of(to); !danger.empty() && !may_be_unsafe)
    refuse("layout=" + to + " is " + std::string(danger) +
           "; choose another layout, or accept this with unsafe=1");
}

void own_options::file(std::string_view name, std::string& to) {
  text(name, to);
  if (to.empty() || ::access(to.c_str(), R_OK) == 0) return;
  const int error = errno;
  refuse(std::string(name) + " names " + shown_option_value(to) + ": " +
         std::generic_category().message(error) + "; check the path and the rights");
}

void own_options::tls(tls_terms& to) {
  file("tls-ca", to.ca_file);
  file("tls-cert", to.certificate_file);
  file("tls-key", to.key_file);
  text("tls-host", to.host);
  if (to.certificate_file.empty() && !to.key_file.empty())
    refuse("tls-key is without tls-cert; name the file of its certificate too");
}

void own_options::refuse_others() const {
  const auto is_known = [&](const url::option& o) {
    return std::ranges::find(known_, o.first) != known_.end();
  };
  const auto unknown = std::ranges::find_if_not(args_.own, is_known);
  if (unknown != args_.own.end()) refuse_unknown_option(args_.where, unknown->first, known_);
}

}  // namespace holdfast::seam
