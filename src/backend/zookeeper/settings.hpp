// The settings of a zookeeper: or zookeepers: URL.
#pragma once
#include "backend/zookeeper/transport/transport.hpp"
#include "claim/recipe.hpp"
#include "seam/registry.hpp"

namespace holdfast::zookeeper {

struct settings : endpoint {
  claims::timing rules;
  std::string layout;
  std::vector<std::string> extra_lock_patterns;  // of kazoo's: see layouts/kazoo/codec.hpp
  duration revocation_timeout{};  // how long break_lock() waits for the holder to release by itself
};

// Throws lock_error (bad_url, bad_option).
settings read_settings(const seam::open_args&);

}  // namespace holdfast::zookeeper
