// The settings of a redis: URL.
#pragma once
#include <string>

#include "backend/redis/transport/endpoint.hpp"
#include "claim/recipe.hpp"
#include "seam/registry.hpp"

namespace holdfast::redis {

struct settings : endpoint {
  std::string layout;    // of layouts/layouts.hpp
  bool is_fair = false;  // of layout redisson: its mutexes are RFairLocks
  std::string prefix;    // of every key of a lock
  base::duration stale_after = std::chrono::seconds{30};  // of layout getset
  claims::timing rules;
  std::string host;  // of this machine, shown by inspect()
  std::int64_t process = 0;
  base::log_sink log;
};

// Throws lock_error (bad_url, bad_option).
settings read_settings(const seam::open_args&);

}  // namespace holdfast::redis
