// Findings from INFO and CONFIG GET.
#include "backend/redis/diagnosis/findings.hpp"

#include <utility>

#include "backend/redis/transport/server_info.hpp"
#include "base/number.hpp"

namespace holdfast::redis {

namespace {

using grade = finding_grade;

constexpr auto number_of = base::leading_number<std::int64_t>;

std::int64_t info_number(const server_facts& f, std::string_view name) noexcept {
  return number_of(info_field(f.info.text, name));
}

finding not_known(std::string aspect, const fact& f, const server_facts& all, const char* right) {
  return {std::move(aspect), grade::warn, "not known: " + f.refusal,
          "ACL SETUSER " + all.user + " +" + right + ", or ask the server's operator"};
}

struct version {
  std::int64_t major = 0, minor = 0;
  bool operator<(const version& v) const noexcept {
    return std::pair(major, minor) < std::pair(v.major, v.minor);
  }
};

version version_of(std::string_view text) noexcept {
  const auto dot = text.find('.');
  return {number_of(text), dot == text.npos ? 0 : number_of(text.substr(dot + 1))};
}

}  // namespace

finding grade_server(const server_facts& f) {
  if (!f.info.is_known()) return not_known("server", f.info, f, "info");
  const auto redis = info_field(f.info.text, "redis_version");
  const auto valkey = info_field(f.info.text, "valkey_version");
  const auto mode = info_field(f.info.text, valkey.empty() ? "redis_mode" : "server_mode");
  const std::string name =
      valkey.empty() ? "Redis " + printable(redis) : "Valkey " + printable(valkey);
  if (redis.empty()) return {"server", grade::warn, "not known: INFO names no version", {}};
  if (mode == "sentinel")
    return {"server", grade::bad, name + " is a sentinel, which stores no locks",
            "open the master that it watches as redis+sentinel://host:port/name"};
  if (mode == "cluster" && !f.is_in_cluster)
    return {"server", grade::bad, name + " is a node of a cluster, which has some of the locks",
            "open the cluster as redis+cluster://host:port"};
  if (info_number(f, "loading") != 0)
    return {"server", grade::bad, name + " is loading its data: nothing is granted until then",
            "wait for it"};
  if (!valkey.empty()) return {"server", grade::good, name, {}};
  const version v = version_of(redis);
  if (v < version{5, 0})
    return {"server", grade::bad, name + " lacks commands that holdfast sends",
            "use Redis 6.2 or later"};
  if (v < version{6, 2})
    return {"server", grade::warn, name + " is older than the servers that holdfast is tested with",
            "use Redis 6.2 or later"};
  return {"server", grade::good, name, {}};
}

finding grade_eviction(const server_facts& f) {
  if (!f.info.is_known()) return not_known("eviction", f.info, f, "info");
  const auto policy = info_field(f.info.text, "maxmemory_policy");
  const std::int64_t limit = info_number(f, "maxmemory"), used = info_number(f, "used_memory");
  if (policy.empty())
    return {"eviction", grade::warn, "not known: INFO has no maxmemory_policy", {}};
  if (limit == 0)
    return {"eviction", grade::good, "nothing is evicted: the server has no maxmemory", {}};
  if (policy != "noeviction")
    return {"eviction", grade::bad,
            "maxmemory-policy " + printable(policy) +
                ": the server may remove the key of a lock that is held, and a second client gets "
                "the lock",
            "CONFIG SET maxmemory-policy noeviction, or use another server for locks"};
  if (used > limit / 10 * 9)
    return {"eviction", grade::warn,
            "more than nine tenths of maxmemory are used: when it is full, no lock is granted",
            "raise maxmemory, or use another server for locks"};
  return {"eviction", grade::good, "nothing is evicted: maxmemory-policy noeviction", {}};
}

namespace {

finding grade_snapshots(const server_facts& f) {
  if (!f.save.is_known()) return not_known("persistence", f.save, f, "config|get");
  if (f.save.text.empty())
    return {"persistence", grade::bad,
            "nothing is persisted: a restart of the server loses every lock, and a second client "
            "gets the lock",
            "set appendonly yes and appendfsync always, and check tokens at the resource"};
  return {"persistence", grade::warn,
          "snapshots only: a crash of the server loses all locks acquired since the last snapshot, "
          "perhaps of several minutes, and a second client gets the lock",
          "set appendonly yes, and check tokens at the resource"};
}

}  // namespace

finding grade_persistence(const server_facts& f) {
  if (!f.info.is_known()) return not_known("persistence", f.info, f, "info");
  if (info_field(f.info.text, "aof_last_write_status") == "err" ||
      (info_field(f.info.text, "rdb_last_bgsave_status") == "err" && f.save.is_known() &&
       !f.save.text.empty()))
    return {"persistence", grade::bad,
            "the server could not write to its disk: it may refuse every lock until it can",
            "free some space there; its log says more"};
  if (info_number(f, "aof_enabled") == 0) return grade_snapshots(f);
  if (!f.fsync.is_known()) return not_known("persistence", f.fsync, f, "config|get");
  if (f.fsync.text == "always")
    return {"persistence",
            grade::good,
            "appendonly yes, appendfsync always: locks outlive a restart and a power loss",
            {}};
  return {"persistence", grade::warn,
          "appendonly yes, appendfsync " + printable(f.fsync.text) +
              ": locks outlive a restart; a power failure loses the last of them (with everysec "
              "those of a second), and a second client gets the lock",
          "set appendfsync always, or check tokens at the resource"};
}

finding grade_replicas(const server_facts& f) {
  if (!f.info.is_known()) return not_known("replicas", f.info, f, "info");
  if (info_field(f.info.text, "role") == "slave")
    return {"replicas", grade::bad, "this server is a replica: it grants no lock",
            "name its master in the URL"};
  const std::int64_t connected = info_number(f, "connected_slaves");
  const std::int64_t needed = f.replicas_needed.is_known() ? number_of(f.replicas_needed.text) : 0;
  // INFO has this field only where replicas are needed.
  const auto in_sync = info_field(f.info.text, "min_slaves_good_slaves");
  if (!in_sync.empty() && number_of(in_sync) < needed)
    return {"replicas", grade::bad,
            "min-replicas-to-write is " + std::to_string(needed) + ", and " + printable(in_sync) +
                " are in sync: no lock is granted or renewed",
            "bring the replicas back, or lower min-replicas-to-write"};
  const std::string count = std::to_string(connected);
  if (connected == 0)
    return {"replicas", grade::good, "there are none, so no replica that lags can be promoted", {}};
  if (!f.replicas_needed.is_known())
    return not_known("replicas", f.replicas_needed, f, "config|get");
  if (needed == 0)
    return {
        "replicas", grade::warn,
        count + " connected, and none has to be in sync: a failover loses whatever the new master "
                "had not received, and a second client gets the lock",
        "set min-replicas-to-write 1 and min-replicas-max-lag, and check tokens at the resource"};
  return {"replicas",
          grade::good,
          count + " connected, " + std::to_string(needed) +
              " in sync for each write; a failover may still lose the last moments: check tokens "
              "at the resource",
          {}};
}

finding grade_connections(const server_facts& f) {
  if (!f.info.is_known()) return not_known("connections", f.info, f, "info");
  const std::int64_t now = info_number(f, "connected_clients"), most = info_number(f, "maxclients");
  if (most == 0) return {"connections", grade::good, std::to_string(now) + " are open", {}};
  const std::string text = std::to_string(now) + " of " + std::to_string(most) + " are open";
  if (now + now / 10 + 3 <= most) return {"connections", grade::good, text, {}};
  return {"connections", grade::warn,
          text + ": a client uses up to three, and renewals are delayed where it gets fewer",
          "raise maxclients"};
}

finding grade_layouts(const server_facts& f) {
  if (!f.keys.is_known()) return not_known("layouts", f.keys, f, "scan");
  const std::string of = f.all_keys ? "" : " among the first keys of the server";
  if (f.several_layouts.empty())
    return {"layouts", grade::good, "no name has locks of two layouts" + of, {}};
  constexpr std::size_t shown_max = 5;
  std::string names;
  for (std::size_t i = 0; i < f.several_layouts.size() && i < shown_max; ++i)
    names.append(i == 0 ? "" : ", ").append(printable(f.several_layouts[i]));
  if (f.several_layouts.size() > shown_max) names += " ...";
  return {"layouts", grade::bad,
          "names with keys of several layouts, whose locks do not exclude each other: " + names,
          "let all programs that share a lock use one layout; then delete what the other one left"};
}

std::vector<finding> grade_all(const server_facts& f) {
  std::vector<finding> out{grade_server(f), grade_eviction(f), grade_persistence(f),
                           grade_replicas(f), grade_connections(f)};
  for (finding& one : grade_rights(f)) out.push_back(std::move(one));
  out.push_back(grade_clock(f));
  out.push_back(grade_latency(f));
  out.push_back(grade_counter(f));
  out.push_back(grade_layouts(f));
  return out;
}

}  // namespace holdfast::redis
