// Lets tests and programs of this project open a client in their own environment.
#pragma once
#include <holdfast/client.hpp>

#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "seam/registry.hpp"

namespace holdfast::inline v0::detail {

struct client_access {
  // As client::open(), in `env`, which must outlive the client and all its leases. `schemes`: the
  // backends that the URL may name.
  static client open(const url&, const open_options&, base::environment& env, std::stop_token = {},
                     std::span<const seam::scheme> schemes = seam::schemes());
  static client_impl& impl(const client&);
  static std::shared_ptr<client_impl> shared(const client& c) { return c.impl_; }
};

// Throw lock_error unless the client is open and the name is valid for its backend.
client_impl& require_open(client_impl*, std::string_view operation);
client_impl& require_named(client_impl*, std::string_view operation, std::string_view name);
void sort_by_name(std::vector<holder>&);

}  // namespace holdfast::inline v0::detail
