// The only access to a URL's password: for the transport that authenticates with it.
#pragma once
#include <holdfast/url.hpp>

#include <string_view>

namespace holdfast::inline v0 {

struct secret_access {
  static std::string_view password(const url&) noexcept;  // empty: none
};

}  // namespace holdfast::inline v0
