// The parts of a parsed url.
#pragma once
#include <holdfast/url.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::inline v0 {

struct url::parts {
  std::string scheme, user, path;
  std::vector<endpoint> endpoints;
  std::vector<option> options;
  std::vector<std::string> secret_variables;
  std::string password;
  bool authority = false;          // has "//"
  bool password_in_user = false;   // user:password@
  bool password_in_query = false;  // ?password=

  parts() = default;
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;
  ~parts();  // overwrites the password
};

}  // namespace holdfast::inline v0

namespace holdfast::base {

// Two ways to give a password other than user:password@. Each throws lock_error (bad_url).
void read_password_file(const std::string& path, std::string& password);
void read_password_variable(const std::string& name, std::string& password);

// An option's name for display: blanked when it is spelled as no option is, as a piece of a
// password may be.
std::string shown_option_name(std::string_view name);
// The value of an option that exists, for display: blanked when a piece of a URL has slipped into
// it, as in ?ttl=5s?password=x.
std::string shown_option_value(std::string_view value);

}  // namespace holdfast::base
