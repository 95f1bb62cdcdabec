#include "backend/redis/layouts/redlock/fitness.hpp"

#include <algorithm>
#include <chrono>

#include "backend/redis/layouts/redlock/codec.hpp"
#include "backend/redis/server_time.hpp"
#include "backend/redis/transport/server_identity.hpp"
#include "backend/redis/transport/server_info.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"
#include "base/number.hpp"

namespace holdfast::redis::redlock {

using base::mutant;
using base::planted;
using namespace std::chrono_literals;

namespace {

// The uptime that a server reports is up to half a second too long, and follows steps of its clock.
duration age_of(const server_state& s) noexcept {
  return s.uptime && *s.uptime > 1s ? duration(*s.uptime - 1s) : duration{};
}

duration young_for(const server_state& s, duration max_ttl) noexcept {
  return std::max<duration>(max_ttl - age_of(s), {});
}

std::string seconds_text(duration d) {
  return base::text_of(std::chrono::ceil<std::chrono::seconds>(d));
}

// The locks of this record were set while this process ran, or an append-only file brought them
// back.
bool has_all_locks(const server_state& s) noexcept {
  const bool is_older = s.record.begun_at != s.run_id;
  return s.keeps_log && (is_older || planted(mutant::new_record_believed));
}

}  // namespace

bool server_state::is_empty() const noexcept {
  const bool is_older = record.begun_at != run_id && !planted(mutant::old_record_believed);
  return !record.number || (is_older && !keeps_log);
}

duration server_state::empty_for() const noexcept {
  return record.number ? age_of(*this) : record.gone_for;
}

void read_info(std::string_view info, server_state& to) {
  to.run_id = info_field(info, "run_id");
  if (const auto seconds = base::whole_number<std::int64_t>(info_field(info, "uptime_in_seconds")))
    to.uptime = std::chrono::seconds(*seconds);
  to.keeps_log = info_field(info, "aof_enabled") == "1";
  to.eviction = eviction_warning(info);
  server_identity identity;
  read_replication(info, identity);
  to.history_before = identity.history_before;
}

// Every vote counts with HINCRBY, and every renewal sets PEXPIRE. FLUSHALL does not erase the
// statistics, and CONFIG RESETSTAT is the first command in the statistics that it begins. Before
// Redis 7.0 these do not name the subcommands of CONFIG.
void read_statistics(std::string_view info, server_state& to) {
  constexpr std::string_view of_use[] = {"cmdstat_hincrby", "cmdstat_pexpire",
                                         "cmdstat_config|resetstat", "cmdstat_config"};
  const auto is_counted = [&](std::string_view name) { return !info_field(info, name).empty(); };
  const bool has_statistics = info.find("\ncmdstat_") != info.npos;
  to.is_unused = (has_statistics && std::ranges::none_of(of_use, is_counted)) ||
                 planted(mutant::used_server_is_new);
}

server_record read_record(const value& v) {
  server_record out;
  const std::optional<std::int64_t> number = base::whole_number<std::int64_t>(v[0].text());
  constexpr std::size_t parts_of_gone = 4;
  out.seen = v[v.size() == parts_of_gone ? 3 : 2].text();
  if (!number || *number < 1 || *number > number_max) {
    out.is_unreadable = v.size() != parts_of_gone;
    if (!out.is_unreadable) out.gone_for = span_of(v[1].integer());
    return out;
  }
  out.number = number;
  out.max_ttl = span_of(base::whole_number<std::int64_t>(v[1].text()).value_or(0));
  out.begun_at = v[2].text();
  return out;
}

fitness judge(const server_state& s, duration max_ttl) {
  if (!s.eviction.empty() && !planted(mutant::evicting_server_votes))
    return {s.eviction, look_again};
  if (s.record.is_unreadable)
    return {"its record has no number; delete the key holdfast:redlock there, and it votes again "
            "after max-ttl",
            look_again};
  if (s.is_empty()) {
    const duration remaining = max_ttl - s.empty_for();
    return {(s.record.number
                 ? "it was restarted without an append-only file and may have an old record"
                 : "it has no record of earlier locks: it is new, or has lost its data") +
                (remaining > duration{} ? "; it may vote in " + seconds_text(remaining)
                                        : std::string()),
            std::clamp<duration>(remaining, 500ms, look_again)};
  }
  if (s.record.max_ttl != max_ttl)
    return {"its record is for max-ttl=" + base::text_of(s.record.max_ttl) +
                ", and this client has max-ttl=" + base::text_of(max_ttl) +
                "; give all clients the same",
            look_again};
  const duration young = has_all_locks(s) ? duration{} : young_for(s, max_ttl);
  if (young <= duration{} || planted(mutant::restarted_server_votes)) return {};
  return {"it was started not long ago and may have lost locks; it votes again in " +
              seconds_text(young),
          std::max<duration>(young, 500ms)};
}

}  // namespace holdfast::redis::redlock
