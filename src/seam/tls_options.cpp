#include "seam/tls_options.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/fail.hpp"
#include "base/url_parts.hpp"

namespace holdfast::core {

namespace {

void require_file(const opening& o, std::string_view option, const std::string& path) {
  if (path.empty() || ::access(path.c_str(), R_OK) == 0) return;
  const int error = errno;
  fail(errc::bad_option, "open",
       std::string(option) + " names " + shown_option_value(path) + ": " +
           std::generic_category().message(error) + "; check the path and the rights",
       {}, o.where.text());
}

}  // namespace

bool read_tls_option(tls_terms& out, const url::option& option) {
  const auto& [name, value] = option;
  if (name == "tls-ca") {
    out.ca_file = value;
  } else if (name == "tls-cert") {
    out.certificate_file = value;
  } else if (name == "tls-key") {
    out.key_file = value;
  } else if (name == "tls-host") {
    out.host = value;
  } else {
    return false;
  }
  return true;
}

void check_tls_files(const opening& o, const tls_terms& t) {
  require_file(o, "tls-ca", t.ca_file);
  require_file(o, "tls-cert", t.certificate_file);
  require_file(o, "tls-key", t.key_file);
  if (t.certificate_file.empty() && !t.key_file.empty())
    fail(errc::bad_option, "open",
         "tls-key is without tls-cert; name the file of its certificate too", {}, o.where.text());
}

}  // namespace holdfast::core
