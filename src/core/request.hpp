// What a caller asks of a lock, checked.
#pragma once
#include <holdfast/lockable.hpp>

#include "core/client_impl.hpp"

namespace holdfast::inline v0::detail {

struct request {
  core::ask how;  // its note is the caller's
  bool renews = true;

  // Reads options of which the caller knows `size` bytes. What is wrong with them for this client;
  // code {} when nothing is.
  core::failure read(const acquire_options&, std::size_t size, wait_bound, client_impl&);
};

}  // namespace holdfast::inline v0::detail
