// Where the locks are: scheme://user:password@host:port,host2:port2/path?option=value
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

// A parsed URL. It is the only type of the library that ever sees a password, and it has no
// printer that shows one: text() has every password blanked. Immutable; copies share; safe from
// any thread. All parts are percent-decoded.
class url {
 public:
  struct endpoint {
    std::string host;  // without the brackets of an IPv6 address
    int port = 0;      // 0: the scheme's default
  };
  using option = std::pair<std::string, std::string>;

  // Reads a URL.
  //
  // text  the URL, at most 8,192 bytes; "" is "file:", the directory of this machine and user
  // Returns the URL in its parts; the second form, with an error, one whose parts are all empty.
  // Errors: errc::bad_url, when a part is malformed or a password cannot be read; the text of the
  // lock_error names the part, without its secrets.
  // Blocks while it reads the file of ?password-file=, for nothing else. Safe from any thread.
  static url parse(std::string_view text);
  static url parse(std::string_view text, std::error_code&);

  const std::string& scheme() const noexcept;
  const std::string& user() const noexcept;
  const std::vector<endpoint>& endpoints() const noexcept;
  const std::string& path() const noexcept;  // with its leading slash, or what stands after the ':'
  const std::vector<option>& options() const noexcept;  // the query in its order, secrets left out

  std::string text() const;  // to show: every password is "***"

  // The names of the environment variables that the password was read from (?password-env=).
  const std::vector<std::string>& secret_variables() const noexcept;

  struct parts;  // opaque

 private:
  friend struct secret_access;  // src/base/secret.hpp: for the transport that authenticates
  explicit url(std::shared_ptr<const parts> p) noexcept : parts_(std::move(p)) {}
  std::shared_ptr<const parts> parts_;
};

}  // namespace v0
}  // namespace holdfast
