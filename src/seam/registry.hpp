// The backends of this build, by URL scheme. The table is in src/registry.cpp, the only place that
// knows them all. (A linker would drop registration by static initialisers from an archive.)
#pragma once
#include <holdfast/url.hpp>

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "seam/backend.hpp"
#include "seam/client_options.hpp"

namespace holdfast::seam {
using namespace base;

struct open_args {  // what a backend is opened with
  const url& where;
  const client_options& shared;
  const std::vector<url::option>& own;  // the query without the options in client_options
  std::string_view password;            // from open_options; empty: use the URL's
  environment& env;
  std::stop_token stop;  // stops the opening, with errc::canceled
};

struct scheme {
  std::string_view name;
  backend (*open)(const open_args&);  // throws lock_error; null: not in this build
  std::string_view build_option;      // the CMake option that builds it; empty: none does
  environment& (*environment_of)(const url&) = nullptr;  // null: system_environment()
  // The statements that create its tables; null: it has none. Throws lock_error.
  std::vector<std::string> (*schema)(const open_args&) = nullptr;
};

std::span<const scheme> schemes() noexcept;
// The environment in which client::open() opens that URL; it outlives every client.
environment& environment_of(const url&);

}  // namespace holdfast::seam
