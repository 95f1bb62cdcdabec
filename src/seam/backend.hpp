// The result of opening a URL.
#pragma once
#include <memory>
#include <utility>

#include "seam/connection.hpp"
#include "seam/store_family.hpp"

namespace holdfast::seam {
using namespace base;

struct backend {
  std::unique_ptr<seam::connection> connection;
  store_family stores;  // the connection owns them
};

// Makes a backend of an object that has both roles.
template <class Both>
backend backend_of(std::unique_ptr<Both> both) {
  backend out;
  out.stores.add(*both);
  out.connection = std::move(both);
  return out;
}

}  // namespace holdfast::seam
