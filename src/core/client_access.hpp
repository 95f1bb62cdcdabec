// How tests and programs of this project open a client in an environment of their own.
#pragma once
#include <holdfast/client.hpp>

#include <memory>

#include "core/environment.hpp"

namespace holdfast::inline v0::detail {

struct client_access {
  // As client::open(), in `env`, which must outlive the client and every lease of it.
  static client open(const url&, const open_options&, core::environment& env);
  static core::environment& system_environment();  // src/io/: the real one
  static client_impl& impl(const client&);
};

}  // namespace holdfast::inline v0::detail
