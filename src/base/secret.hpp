// The only access to a URL's password: for the transport that authenticates with it, and for a
// URL of one of its servers.
#pragma once
#include <holdfast/url.hpp>

#include <string_view>

namespace holdfast::inline v0 {

struct secret_access {
  static std::string_view password(const url&) noexcept;  // empty: none
  // The same URL, user and password included, for one server, without the options.
  static url of_server(const url&, std::string scheme, const url::endpoint&);
};

}  // namespace holdfast::inline v0
