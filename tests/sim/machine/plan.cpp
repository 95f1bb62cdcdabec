#include "tests/sim/machine/plan.hpp"

#include <algorithm>
#include <sstream>

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

constexpr const char* trouble_names[troubles] = {"pause",
                                                 "crash",
                                                 "cut",
                                                 "stall",
                                                 "black_hole",
                                                 "refuse",
                                                 "server_pause",
                                                 "restart",
                                                 "restart_saved",
                                                 "restart_empty",
                                                 "flush_all",
                                                 "script_flush",
                                                 "clock_forward",
                                                 "clock_back",
                                                 "memory_full",
                                                 "readonly",
                                                 "loading",
                                                 "foreign",
                                                 "foreign_forever",
                                                 "broken",
                                                 "set_revoked",
                                                 "down",
                                                 "resynced",
                                                 "server_killed",
                                                 "server_stopped",
                                                 "leader_killed",
                                                 "leader_stopped",
                                                 "leader_isolated",
                                                 "link_frozen",
                                                 "link_cut",
                                                 "slow_buckets",
                                                 "other_bounds",
                                                 "followers_killed",
                                                 "sequence_high",
                                                 "holder_removed",
                                                 "disk_full",
                                                 "too_few_replicas",
                                                 "long_script",
                                                 "cluster_down",
                                                 "master_down",
                                                 "publish_revoked",
                                                 "subscribe_revoked",
                                                 "scripts_revoked",
                                                 "password_set",
                                                 "too_many_clients",
                                                 "subscribers_dropped",
                                                 "key_lost",
                                                 "process_replaced",
                                                 "process_added",
                                                 "machine_stopped",
                                                 "slow_connects",
                                                 "half_greetings",
                                                 "clock_set",
                                                 "writes_lost",
                                                 "promoted",
                                                 "failed_over",
                                                 "name_led_back",
                                                 "replication_id_changed",
                                                 "taken_back",
                                                 "slot_moved",
                                                 "sentinel_stopped",
                                                 "sentinel_killed",
                                                 "sentinel_cut_off",
                                                 "replica_emptied",
                                                 "client_cut_off"};

std::string text_of_move(const fault& f) {
  if (f.what < trouble::promoted || f.what > trouble::taken_back) return {};
  const auto ms = [](moment t) { return std::to_string(static_cast<double>(t.count()) / 1e6); };
  constexpr const char* shares[] = {"none", "some", "all"};
  return ", cuts " + std::string(shares[static_cast<int>(f.cuts)]) + ", lost " + ms(f.lost) +
         " ms, the old one stops for " + ms(f.stops) + " ms, the name follows after " +
         ms(f.name_follows) + " ms";
}

}  // namespace

const char* name_of(trouble t) noexcept { return trouble_names[static_cast<int>(t)]; }

bool plan::has(trouble t) const noexcept {
  return std::any_of(faults.begin(), faults.end(), [&](const fault& f) { return f.what == t; });
}

int plan::count(trouble t) const noexcept {
  return static_cast<int>(std::ranges::count(faults, t, &fault::what));
}

bool plan::had_outage_of(moment least, moment since, moment by) const {
  moment begun{}, end{-1};
  for (const fault& f : faults) {  // in the order in which they begin
    if (f.at > by) break;
    if (f.at > end) begun = f.at;
    // A silent connection is given up after half of an op-timeout; a failed request is repeated.
    end = std::max(end, f.at + f.lasts * 2 + op_timeout / 2);
    if (std::min(end, by) - std::max(begun, since) >= least * 98 / 100)
      return true;  // by a clock that is fast
  }
  return false;
}

std::string plan::text() const {
  std::ostringstream out;
  const auto ms = [](moment t) { return static_cast<double>(t.count()) / 1e6; };
  out << "seed " << seed << (layout.empty() ? "" : " of layout " + layout) << ": " << clients
      << " clients x " << users << " users, " << locks << " locks, " << rounds << " rounds, ttl "
      << ttl.count() << " ms, op-timeout " << op_timeout.count() << " ms, delays " << ms(delay_min)
      << ".." << ms(delay_max) << " ms, turns " << turns
      << (locks_are == kind::shared ? ", shared" : "") << (several ? ", several at once" : "")
      << (linger > 0ms ? ", linger " + std::to_string(linger.count()) + " ms" : "")
      << (permits > 0 ? ", " + std::to_string(permits) + " permits" : "")
      << (outage_timeout > 0ms
              ? ", outage-timeout " + std::to_string(outage_timeout.count()) + " ms"
              : "")
      << (tick > 0ms ? ", " + std::to_string(servers) + " servers, tick " +
                           std::to_string(tick.count()) + " ms"
                     : "")
      << (tick == 0ms && servers > 1 ? ", " + std::to_string(servers) + " servers" : "")
      << (sentinels > 0 ? ", " + std::to_string(sentinels) + " sentinels" : "")
      << (replicas > 0 ? ", replicas=" + std::to_string(replicas) : "")
      << (masters > 0 ? ", cluster of " + std::to_string(masters) + " masters" : "")
      << (attaches_to_leader ? ", attach=leader" : "")
      << (knows_one_server ? ", a server for each client" : "")
      << (parked_share > 0 ? ", parked" : "") << (serves_reads_alone ? ", readonlymode" : "")
      << (parts_wait ? ", parts wait" : "") << (fragment_share > 0 ? ", replies in parts" : "")
      << (writes > 0 ? ", " + std::to_string(writes) + " writes of each holder" : "")
      << (prunings > 0 ? ", " + std::to_string(prunings) + " prunings" : "")
      << (deadlock_share > 0 ? ", deadlocks" : "") << (has_small_limits ? ", small limits" : "")
      << (kill_forbidden ? ", CLIENT KILL forbidden" : "");
  for (const fault& f : faults)
    out << "\n  at " << ms(f.at) << " ms: " << name_of(f.what) << ", client " << f.whom << ", "
        << ms(f.lasts) << " ms" << text_of_move(f);
  return out.str();
}

}  // namespace holdfast::sim
