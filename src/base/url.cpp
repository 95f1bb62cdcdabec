#include <holdfast/url.hpp>

#include <string.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "base/fail.hpp"
#include "base/number.hpp"
#include "base/percent.hpp"
#include "base/secret.hpp"
#include "base/url_parts.hpp"

namespace holdfast::inline v0 {
namespace {

constexpr std::size_t url_bytes_max = 8192;

// An error quotes a scheme or an option's name and nothing else: an unencoded '/' or '@' in a
// password puts pieces of the password where hosts, ports and paths are expected.
[[noreturn]] void refuse(std::string why) { base::fail(errc::bad_url, "open", std::move(why)); }

std::string decoded(std::string_view text, const char* part) {
  auto out = base::percent_decode(text);
  if (!out) refuse(std::string("a '%' in the ") + part + " is not followed by two hex digits");
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(out->begin(), out->end(), control))
    refuse(std::string("the ") + part + " has a control character in it");
  return std::move(*out);
}

bool scheme_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

std::string read_scheme(std::string_view& remaining) {
  const std::size_t colon = remaining.find(':');
  const std::string_view scheme = remaining.substr(0, colon);
  if (colon == remaining.npos || scheme.empty() || !(scheme[0] >= 'a' && scheme[0] <= 'z') ||
      !std::all_of(scheme.begin(), scheme.end(), scheme_char))
    refuse("a URL starts with a scheme in small letters and a colon, for example redis://host or "
           "file:///dir");
  remaining.remove_prefix(colon + 1);
  return std::string(scheme);
}

url::endpoint read_endpoint(std::string_view text) {
  url::endpoint out;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) refuse("an IPv6 address lacks its ']'");
    out.host = decoded(text.substr(1, end - 1), "host");
    text.remove_prefix(end + 1);
    if (!text.empty() && text[0] != ':') refuse("after the ']' of an IPv6 address comes ':port'");
    if (!text.empty()) port = text.substr(1);
    if (text.size() == 1) refuse("a port is missing after its ':'");
  } else {
    const std::size_t colon = text.find(':');
    out.host = decoded(text.substr(0, colon), "host");
    if (colon != text.npos) {
      port = text.substr(colon + 1);
      if (port.empty()) refuse("a port is missing after its ':'");
    }
  }
  if (out.host.empty()) refuse("a host is missing; several are separated by one ',' each");
  if (out.host.find_first_of("@=&/?#;,") != out.host.npos)
    refuse("a host has a character in it that no host's name has; write user:password@host/path, "
           "and '?' before the first option");
  if (!port.empty()) {
    out.port = base::whole_number<int>(port).value_or(0);
    if (out.port < 1 || out.port > 65535)
      refuse("a port is not a number from 1 to 65535; in a password, write '/' as %2F, "
             "'@' as %40, '?' as %3F, '#' as %23 and ':' as %3A");
  }
  return out;
}

void read_authority(std::string_view text, url::parts& to) {
  if (const std::size_t at = text.rfind('@'); at != text.npos) {
    const std::string_view user = text.substr(0, at);
    const std::size_t colon = user.find(':');
    to.user = decoded(user.substr(0, colon), "user");
    if (colon != user.npos) {
      to.password = decoded(user.substr(colon + 1), "password");
      to.password_in_user = !to.password.empty();
    }
    text.remove_prefix(at + 1);
    if (text.empty()) refuse("a host is missing after the '@'");
  }
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    to.endpoints.push_back(read_endpoint(text.substr(0, comma)));
    if (comma == text.npos) return;
    text.remove_prefix(comma + 1);
    if (text.empty()) refuse("a host is missing after the last ','");
  }
}

// Its variable holds a password that the backend reads.
constexpr std::string_view of_sentinels = "sentinel-password-env";

void keep_option(std::string name, std::string value, url::parts& to) {
  const bool secret = name == "password" || name == "password-file" || name == "password-env";
  if (secret && !to.password.empty())
    refuse("the password is given twice; keep one of user:password@, password=, password-file= "
           "and password-env=");
  if (name == "password") {
    to.password = std::move(value);
    to.password_in_query = true;
    return;
  }
  if (name == "password-file") base::read_password_file(value, to.password);
  if (name == "password-env") {
    base::read_password_variable(value, to.password);
    to.secret_variables.push_back(value);
  }
  if (name == of_sentinels) to.secret_variables.push_back(value);
  const auto same = [&](const url::option& o) { return o.first == name; };
  if (std::any_of(to.options.begin(), to.options.end(), same))
    refuse("the option " + base::shown_option_name(name) + " is given twice");
  to.options.emplace_back(std::move(name), std::move(value));
}

void read_query(std::string_view text, url::parts& to) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find('&'));
    const std::size_t equals = item.find('=');
    if (equals == item.npos || equals == 0)
      refuse("an option is not of the form name=value, separated by '&'");
    std::string name = decoded(item.substr(0, equals), "name of an option");
    keep_option(std::move(name), decoded(item.substr(equals + 1), "value of an option"), to);
    text.remove_prefix(std::min(text.size(), item.size() + 1));
  }
}

bool is_loopback(const url::endpoint& e) noexcept {
  return e.host == "localhost" || e.host == "::1" || e.host.starts_with("127.");
}

// A password never goes over a network in plain text, unless the user requests that with tls=0. A
// value of tls= that is malformed is refused when the URL is opened.
bool mysql_uses_tls(const url& where) noexcept {
  constexpr std::string_view off[] = {"0", "false", "no", "off"};
  const auto& options = where.options();
  const auto given = std::ranges::find(options, "tls", &url::option::first);
  if (given != options.end()) return std::ranges::find(off, given->second) == std::end(off);
  const auto is_of_tls = [](const url::option& o) { return o.first.starts_with("tls-"); };
  const bool has_socket =
      std::ranges::find(options, "socket", &url::option::first) != options.end();
  const bool is_local = has_socket || std::ranges::all_of(where.endpoints(), is_loopback);
  return !is_local || std::ranges::any_of(options, is_of_tls);
}

}  // namespace

url::parts::~parts() { explicit_bzero(password.data(), password.size()); }

url url::parse(std::string_view text) {
  if (text.empty()) refuse("the URL is empty; write \"file:\" for the locks of this machine");
  if (text.size() > url_bytes_max) refuse("the URL is longer than 8192 bytes");
  if (text.find('#') != text.npos) refuse("a '#' is not allowed; write it as %23");
  auto p = std::make_shared<parts>();
  p->scheme = read_scheme(text);
  const std::size_t question = text.find('?');
  const std::string_view query = question == text.npos ? "" : text.substr(question + 1);
  text = text.substr(0, question);
  if (text.starts_with("//")) {
    p->authority = true;
    text.remove_prefix(2);
    const std::size_t slash = std::min(text.find('/'), text.size());
    read_authority(text.substr(0, slash), *p);
    text.remove_prefix(slash);
    if (!p->endpoints.empty() && (text.find('@') != text.npos || query.find('@') != query.npos))
      refuse("there is an '@' after the hosts; write '/' in a password as %2F, and '@' elsewhere "
             "as %40");
  }
  p->path = decoded(text, "path");
  read_query(query, *p);
  return url(std::move(p));
}

url url::parse(std::string_view text, std::error_code& ec) {
  const auto parsed = base::in_either_form(&ec, [&] { return std::optional<url>(parse(text)); });
  return parsed ? *parsed : url(std::make_shared<const parts>());
}

url url::with(std::string_view name, std::string_view value) const {
  auto p = std::make_shared<parts>();
  p->scheme = parts_->scheme;
  p->user = parts_->user;
  p->path = parts_->path;
  p->endpoints = parts_->endpoints;
  p->authority = parts_->authority;
  const bool is_secret = name == "password" || name == "password-file" || name == "password-env";
  const auto is_replaced = [&](const option& o) {
    return o.first == name ||
           (is_secret && (o.first == "password-file" || o.first == "password-env"));
  };
  for (const option& o : parts_->options)
    if (!is_replaced(o)) p->options.push_back(o);
  if (!is_secret) {
    p->password = parts_->password;
    p->password_in_user = parts_->password_in_user;
    p->password_in_query = parts_->password_in_query;
    p->secret_variables = parts_->secret_variables;
  }
  if (name.empty()) refuse("an option has no name; give one");
  // keep_option() reads the files and variables of passwords, and takes any other option as it is.
  if (is_secret) {
    keep_option(std::string(name), std::string(value), *p);
  } else {
    if (name == of_sentinels) p->secret_variables.emplace_back(value);
    p->options.emplace_back(name, value);
  }
  return url(std::move(p));
}

const std::string& url::scheme() const noexcept { return parts_->scheme; }
const std::string& url::user() const noexcept { return parts_->user; }
const std::vector<url::endpoint>& url::endpoints() const noexcept { return parts_->endpoints; }
const std::string& url::path() const noexcept { return parts_->path; }
const std::vector<url::option>& url::options() const noexcept { return parts_->options; }
const std::vector<std::string>& url::secret_variables() const noexcept {
  return parts_->secret_variables;
}

int url::default_port() const noexcept {
  constexpr int of_redis = 6379, of_sentinel = 26379, of_mysql = 3306, of_zookeeper = 2181;
  const std::string& s = scheme();
  if (s.starts_with("zookeeper")) return of_zookeeper;
  if (s == "mysql") return of_mysql;
  if (s.ends_with("+sentinel")) return of_sentinel;
  return (s.starts_with("redis") && s != "redis+unix") || s.starts_with("redlock") ? of_redis : 0;
}

bool url::uses_tls() const noexcept {
  const std::string& s = scheme();
  if (s != "mysql") return s.starts_with("rediss") || s == "redlocks" || s == "zookeepers";
  return mysql_uses_tls(*this);
}

std::string_view secret_access::password(const url& u) noexcept { return u.parts_->password; }

url secret_access::of_server(const url& u, std::string scheme, const url::endpoint& at) {
  auto p = std::make_shared<url::parts>();
  p->scheme = std::move(scheme);
  p->user = u.parts_->user;
  p->password = u.parts_->password;
  p->password_in_user = u.parts_->password_in_user;
  p->password_in_query = u.parts_->password_in_query;
  p->authority = true;
  p->endpoints = {at};
  p->path = u.parts_->path;
  return url(std::move(p));
}

}  // namespace holdfast::inline v0
