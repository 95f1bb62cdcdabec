#include "row.hpp"

namespace bench {
namespace {

constexpr std::string_view cycle_rate = "cycles per second",
                           acquisition_rate = "acquisitions per second",
                           handoff_rate = "hand-offs to another process per second";

constexpr row known_rows[] = {
    {"memory/w1", measure::difference, "ns per cycle", memory_uncontended},
    {"memory/w3", measure::ratio, acquisition_rate, memory_w3},
    {"memory/contenders", measure::ratio, acquisition_rate, memory_many_contenders},
    {"memory/contenders-4096", measure::ratio, acquisition_rate, memory_most_contenders},
    {"memory/contenders-limit", measure::ratio, acquisition_rate, fifo_many_contenders},
    {"memory/rw-read", measure::ratio, acquisition_rate, memory_readers},
    {"memory/metrics", measure::ratio, "ns per cycle", memory_counted},
    {"memory/renewal", measure::alone, "share of one core", memory_renewal},
    {"file/w1", measure::ratio, cycle_rate, file_uncontended},
    {"file/w4", measure::ratio, handoff_rate, file_processes},
    {"run/spawn", measure::ratio, "microseconds per command", run_spawn},
#ifdef HOLDFAST_WITH_REDIS
    {"redis/w1", measure::ratio, cycle_rate, redis_confirmed},
    {"redis/w1-2c", measure::ratio, cycle_rate, redis_confirmed},
    {"redis/w1-guard", measure::ratio, cycle_rate, redis_guarded},
    {"redis/w1-guard-2c", measure::ratio, cycle_rate, redis_guarded},
    {"redis/w2", measure::ratio, cycle_rate, redis_own_locks},
    {"redis/w2-2c", measure::ratio, cycle_rate, redis_own_locks},
    {"redis/w2-async", measure::ratio, cycle_rate, redis_own_locks_async},
    {"redis/w2-async-2c", measure::ratio, cycle_rate, redis_own_locks_async},
    {"redis/w2-cpu", measure::alone, "CPU us of the client per cycle", redis_own_locks_cpu},
    {"redis/w3", measure::ratio, acquisition_rate, redis_contenders},
    {"redis/w3-2c", measure::ratio, acquisition_rate, redis_contenders},
    {"redis/contenders", measure::ratio, acquisition_rate, redis_many_contenders},
    {"redis/contenders-4096", measure::ratio, acquisition_rate, redis_most_contenders},
    {"redis/w3-server", measure::ratio, acquisition_rate, redis_contenders_by_server},
    {"redis/w3-server-2c", measure::ratio, acquisition_rate, redis_contenders_by_server},
    {"redis/w4", measure::ratio, acquisition_rate, redis_processes},
    {"redis/w4-2c", measure::ratio, acquisition_rate, redis_processes},
    {"redis/w4-single", measure::ratio, acquisition_rate, redis_processes_of_one_thread},
    {"redis/w4-turns", measure::ratio, acquisition_rate, redis_processes_in_turns},
    {"redis/w4-turns-2c", measure::ratio, acquisition_rate, redis_processes_in_turns},
    {"redis/renewal", measure::alone, "share of one core", redis_renewal},
    {"redis/rw-read", measure::ratio, cycle_rate, redis_readers},
    {"redis/rw-mixed", measure::ratio, acquisition_rate, redis_readers_and_writers},
    {"redis/linger", measure::ratio, cycle_rate, redis_lingering},
    {"redis/holders", measure::ratio, "us of the server per grant", redis_holders},
    {"redis/multi", measure::ratio, "rounds of four locks per second", redis_several},
    {"redis/study", measure::ratio, cycle_rate, redis_study},
    {"redis/redisson-w1", measure::ratio, cycle_rate, redisson_confirmed},
    {"redis/redisson-w2", measure::ratio, cycle_rate, redisson_own_locks},
    {"redis/redisson-w3", measure::ratio, acquisition_rate, redisson_contenders},
    {"redis/redisson-w4", measure::ratio, acquisition_rate, redisson_processes},
    {"redis/w1-replicas", measure::ratio, cycle_rate, redis_replicated},
    {"sentinel/failover", measure::alone, "seconds without a grant", sentinel_failover},
    {"cluster/failover", measure::alone, "seconds without a grant", cluster_failover},
    {"cluster/w2", measure::ratio, cycle_rate, cluster_own_locks},
    {"shards/w2", measure::ratio, cycle_rate, shards_own_locks},
    {"redlock/w1", measure::ratio, cycle_rate, redlock_confirmed},
    {"redlock/w4", measure::ratio, acquisition_rate, redlock_processes},
    {"redlock/w4-handoffs", measure::ratio, handoff_rate, redlock_handoffs},
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
    {"zookeeper/w1", measure::ratio, cycle_rate, zookeeper_confirmed},
    {"zookeeper/w1-disk", measure::ratio, cycle_rate, zookeeper_confirmed_on_disk},
    {"zookeeper/w1-guard", measure::ratio, cycle_rate, zookeeper_guarded},
    {"zookeeper/w1-cpu", measure::ratio, "CPU us of the client per cycle", zookeeper_cpu},
    {"zookeeper/w2", measure::ratio, cycle_rate, zookeeper_own_locks},
    {"zookeeper/w2-disk", measure::ratio, cycle_rate, zookeeper_own_locks_on_disk},
    {"zookeeper/w3", measure::ratio, acquisition_rate, zookeeper_contenders},
    {"zookeeper/w3-2c", measure::ratio, acquisition_rate, zookeeper_contenders},
    {"zookeeper/w4", measure::ratio, acquisition_rate, zookeeper_processes},
    {"zookeeper/drain", measure::ratio, "turns per second", zookeeper_drain},
    {"zookeeper/bytes", measure::ratio, "bytes received for a grant", zookeeper_bytes},
    {"zookeeper/held", measure::alone, "bytes of the client", zookeeper_held},
#endif
#ifdef HOLDFAST_WITH_MYSQL
    {"mysql/optimistic", measure::ratio, "updates per second", mysql_optimistic},
    {"mysql/optimistic-hot", measure::ratio, "updates per second", mysql_optimistic_hot},
    {"mysql/w1-named", measure::ratio, cycle_rate, mysql_named},
    {"mysql/w1-for-update", measure::ratio, cycle_rate, mysql_for_update},
    {"mysql/w1-row", measure::ratio, cycle_rate, mysql_row_confirmed},
    {"mysql/w2-row", measure::ratio, cycle_rate, mysql_own_rows},
    {"mysql/w3-row", measure::ratio, acquisition_rate, mysql_row_contenders},
    {"mysql/w4-row", measure::ratio, acquisition_rate, mysql_row_processes},
    {"mysql/held", measure::alone, "bytes of the client", mysql_held},
    {"mysql/waiters", measure::alone, "connections of the client", mysql_waiters},
#endif
};

}  // namespace

std::span<const row> rows() noexcept { return known_rows; }

const row* find_row(std::string_view name) noexcept {
  for (const row& r : known_rows)
    if (r.name == name) return &r;
  return nullptr;
}

bool built_here(std::string_view name) noexcept {
#ifndef HOLDFAST_WITH_REDIS
  for (const std::string_view folder : {"cluster/", "redis/", "redlock/", "sentinel/", "shards/"})
    if (name.starts_with(folder)) return false;
#endif
#ifndef HOLDFAST_WITH_ZOOKEEPER
  if (name.starts_with("zookeeper/")) return false;
#endif
#ifndef HOLDFAST_WITH_MYSQL
  if (name.starts_with("mysql/")) return false;
#endif
  return !name.empty();
}

}  // namespace bench
