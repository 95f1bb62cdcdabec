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
  using opener = decltype(scheme::open);
#ifdef HOLDFAST_WITH_REDIS
  constexpr opener open_redis = redis::open, open_redis_shards = redis::open_shards;
#else
  constexpr opener open_redis = nullptr, open_redis_shards = nullptr;
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
  constexpr opener open_zookeeper = zookeeper::open;
#else
  constexpr opener open_zookeeper = nullptr;
#endif
  static constexpr scheme table[] = {
      {"file", file::open, ""},
#ifdef HOLDFAST_WITH_MEMORY
      {"memory", memory::open, "HOLDFAST_WITH_MEMORY", memory::environment_of},
#else
      {"memory", nullptr, "HOLDFAST_WITH_MEMORY"},
#endif
      {"redis", open_redis, "HOLDFAST_WITH_REDIS"},
      {"rediss", open_redis, "HOLDFAST_WITH_REDIS"},
      {"redis+unix", open_redis, "HOLDFAST_WITH_REDIS"},
      {"redis+sentinel", open_redis, "HOLDFAST_WITH_REDIS"},
      {"rediss+sentinel", open_redis, "HOLDFAST_WITH_REDIS"},
      {"redlock", open_redis, "HOLDFAST_WITH_REDIS"},
      {"redlocks", open_redis, "HOLDFAST_WITH_REDIS"},
      {"redis+cluster", open_redis, "HOLDFAST_WITH_REDIS"},
      {"rediss+cluster", open_redis, "HOLDFAST_WITH_REDIS"},
      {"redis+shards", open_redis_shards, "HOLDFAST_WITH_REDIS"},
      {"rediss+shards", open_redis_shards, "HOLDFAST_WITH_REDIS"},
#ifdef HOLDFAST_WITH_MYSQL
      {"mysql", mysql::open, "HOLDFAST_WITH_MYSQL", nullptr, mysql::schema},
#else
      {"mysql", nullptr, "HOLDFAST_WITH_MYSQL"},
#endif
      {"zookeeper", open_zookeeper, "HOLDFAST_WITH_ZOOKEEPER"},
      {"zookeepers", open_zookeeper, "HOLDFAST_WITH_ZOOKEEPER"},
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
