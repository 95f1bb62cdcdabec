// The backends of this build: the only place that knows them all.
#include "seam/registry.hpp"

#include <algorithm>

#include "backend/file/backend.hpp"
#include "io/real_environment.hpp"
#ifdef HOLDFAST_WITH_MEMORY
#include "backend/memory/backend.hpp"
#endif
#ifdef HOLDFAST_WITH_MYSQL
#include "backend/mysql/backend.hpp"
#endif
#ifdef HOLDFAST_WITH_REDIS
#include "backend/redis/backend.hpp"
#include "backend/redis/shards/shards.hpp"
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
#include "backend/zookeeper/backend.hpp"
#endif

namespace holdfast {

namespace seam {

std::span<const scheme> schemes() noexcept {
  static constexpr scheme table[] = {
      {"file", file::open, ""},
#ifdef HOLDFAST_WITH_MEMORY
      {"memory", memory::open, "HOLDFAST_WITH_MEMORY", memory::environment_of},
#else
      {"memory", nullptr, "HOLDFAST_WITH_MEMORY"},
#endif
#ifdef HOLDFAST_WITH_REDIS
      {"redis", redis::open, "HOLDFAST_WITH_REDIS"},
      {"rediss", redis::open, "HOLDFAST_WITH_REDIS"},
      {"redis+unix", redis::open, "HOLDFAST_WITH_REDIS"},
      {"redis+sentinel", redis::open, "HOLDFAST_WITH_REDIS"},
      {"rediss+sentinel", redis::open, "HOLDFAST_WITH_REDIS"},
      {"redlock", redis::open, "HOLDFAST_WITH_REDIS"},
      {"redlocks", redis::open, "HOLDFAST_WITH_REDIS"},
      {"redis+cluster", redis::open, "HOLDFAST_WITH_REDIS"},
      {"rediss+cluster", redis::open, "HOLDFAST_WITH_REDIS"},
      {"redis+shards", redis::open_shards, "HOLDFAST_WITH_REDIS"},
      {"rediss+shards", redis::open_shards, "HOLDFAST_WITH_REDIS"},
#else
      {"redis", nullptr, "HOLDFAST_WITH_REDIS"},
      {"rediss", nullptr, "HOLDFAST_WITH_REDIS"},
      {"redis+unix", nullptr, "HOLDFAST_WITH_REDIS"},
      {"redis+sentinel", nullptr, "HOLDFAST_WITH_REDIS"},
      {"rediss+sentinel", nullptr, "HOLDFAST_WITH_REDIS"},
      {"redlock", nullptr, "HOLDFAST_WITH_REDIS"},
      {"redlocks", nullptr, "HOLDFAST_WITH_REDIS"},
      {"redis+cluster", nullptr, "HOLDFAST_WITH_REDIS"},
      {"rediss+cluster", nullptr, "HOLDFAST_WITH_REDIS"},
      {"redis+shards", nullptr, "HOLDFAST_WITH_REDIS"},
      {"rediss+shards", nullptr, "HOLDFAST_WITH_REDIS"},
#endif
#ifdef HOLDFAST_WITH_MYSQL
      {"mysql", mysql::open, "HOLDFAST_WITH_MYSQL", nullptr, mysql::schema},
#else
      {"mysql", nullptr, "HOLDFAST_WITH_MYSQL"},
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
      {"zookeeper", zookeeper::open, "HOLDFAST_WITH_ZOOKEEPER"},
      {"zookeepers", zookeeper::open, "HOLDFAST_WITH_ZOOKEEPER"},
#else
      {"zookeeper", nullptr, "HOLDFAST_WITH_ZOOKEEPER"},
      {"zookeepers", nullptr, "HOLDFAST_WITH_ZOOKEEPER"},
#endif
  };
  return table;
}

environment& environment_of(const url& where) {
  const auto found = std::ranges::find(schemes(), where.scheme(), &scheme::name);
  const bool has_own = found != schemes().end() && found->environment_of;
  return has_own ? found->environment_of(where) : base::system_environment();
}

}  // namespace seam

namespace base {

environment& system_environment() { return io::real_environment(); }

}  // namespace base
}  // namespace holdfast
