// The backends of this build: the only place that knows them all.
#include "seam/registry.hpp"

#include "backend/file/backend.hpp"
#include "io/real_environment.hpp"
#ifdef HOLDFAST_WITH_MEMORY
#include "backend/memory/backend.hpp"
#include "backend/memory/shifted_environment.hpp"
#endif
#ifdef HOLDFAST_WITH_REDIS
#include "backend/redis/backend.hpp"
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
#include "backend/zookeeper/backend.hpp"
#endif

namespace holdfast {

namespace core {

std::span<const scheme> schemes() noexcept {
  static constexpr scheme table[] = {
      {"file", file::open, ""},
#ifdef HOLDFAST_WITH_MEMORY
      {"memory", memory::open, "HOLDFAST_WITH_MEMORY"},
#else
      {"memory", nullptr, "HOLDFAST_WITH_MEMORY"},
#endif
#ifdef HOLDFAST_WITH_REDIS
      {"redis", redis::open, "HOLDFAST_WITH_REDIS"},
      {"rediss", redis::open, "HOLDFAST_WITH_REDIS"},
      {"redis+unix", redis::open, "HOLDFAST_WITH_REDIS"},
#else
      {"redis", nullptr, "HOLDFAST_WITH_REDIS"},
      {"rediss", nullptr, "HOLDFAST_WITH_REDIS"},
      {"redis+unix", nullptr, "HOLDFAST_WITH_REDIS"},
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
      {"zookeeper", zookeeper::open, "HOLDFAST_WITH_ZOOKEEPER"},
      {"zookeepers", zookeeper::open, "HOLDFAST_WITH_ZOOKEEPER"},
#else
      {"zookeeper", nullptr, "HOLDFAST_WITH_ZOOKEEPER"},
      {"zookeepers", nullptr, "HOLDFAST_WITH_ZOOKEEPER"},
#endif
      {"redis+sentinel", nullptr, ""},
      {"redis+cluster", nullptr, ""},
      {"redis+shards", nullptr, ""},
      {"redlock", nullptr, ""},
      {"mysql", nullptr, ""},
  };
  return table;
}

environment& environment_of([[maybe_unused]] const url& where, environment& real) {
#ifdef HOLDFAST_WITH_MEMORY
  if (where.scheme() == "memory" && !where.path().empty())
    return memory::environment_of(where.path());
#endif
  return real;
}

environment& system_environment() { return io::real_environment(); }

}  // namespace core
}  // namespace holdfast
