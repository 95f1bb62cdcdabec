// The address of a lock store: scheme://user:password@host:port,host2:port2/path?option=value
#pragma once
#include <holdfast/fwd.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// A parsed URL. No member shows a password: text() masks every password, and options() omits
// passwords. All parts are percent-decoded. Immutable; copies share their data; safe to use from
// any thread.
class url {
 public:
  struct endpoint {
    std::string host;  // without the brackets of an IPv6 address
    int port = 0;      // 0: the scheme's default
  };
  using option = std::pair<std::string, std::string>;  // its name and its value

  // Reads a URL.
  //
  // text  the URL, at most 8,192 bytes; "file:" is the default directory of this user
  // Returns the parts of the URL; with an error, a url whose parts are all empty.
  // errc::bad_url  the text is empty, a part is malformed, or a password cannot be read; the text
  //                of the lock_error names the part, without its secrets
  // Blocks only to read the file of ?password-file=. Safe to call from any thread.
  static url parse(std::string_view text);
  static url parse(std::string_view text, std::error_code&);

  // The parts of the URL, decoded; empty where it has none.
  const std::string& scheme() const noexcept;
  const std::string& user() const noexcept;
  const std::vector<endpoint>& endpoints() const noexcept;
  // With its leading slash; without an authority (`memory:NAME`) the text after the ':'.
  const std::string& path() const noexcept;
  // The query in its order, without ?password=.
  const std::vector<option>& options() const noexcept;

  // Returns the port of a server that the URL names without one; 0: the scheme has no ports, or is
  // unknown.
  int default_port() const noexcept;
  // Returns whether a client of this URL connects over TLS. The scheme decides, and with `mysql:`
  // tls=, the other options of TLS, and whether all hosts are this machine.
  bool uses_tls() const noexcept;

  // Returns this URL with one option set to a value, which replaces the value that it had.
  //
  // name   of the option, as docs/options.md lists it; open() refuses one that it does not know
  // value  the plain text, without percent-encoding
  // errc::bad_url  the name is empty, or a password cannot be read
  // Blocks only to read the file of password-file. Safe to call from any thread.
  //
  //   client::open(url::parse(text).with("layout", "redisson"))
  url with(std::string_view name, std::string_view value) const;

  // The URL for display. "***" stands for every password and for what may be one: the value of an
  // option that does not exist, what is before an '@' in a path, and the user of a Redis URL that
  // has no password.
  std::string text() const;

  // The name of the environment variable that the password was read from (?password-env=); empty
  // when there is none.
  const std::vector<std::string>& secret_variables() const noexcept;

  struct parts;  // opaque

 private:
  friend struct secret_access;  // for the transport, which authenticates with the password
  explicit url(std::shared_ptr<const parts> p) noexcept : parts_(std::move(p)) {}
  std::shared_ptr<const parts> parts_;
};

}  // namespace v0
}  // namespace holdfast
