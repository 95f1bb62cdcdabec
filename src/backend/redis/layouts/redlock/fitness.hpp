// Whether one server of a Redlock may vote. One that has lost locks or its number would grant again
// what is held, or give out tokens again. Pure.
//
// Source: "Performance, crash-recovery and fsync" in the Redis documentation of Redlock: a server
// that was restarted without its locks stays out until the longest lease has ended.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.hpp"

namespace holdfast::redis::redlock {

using base::duration;
using base::time_point;

inline constexpr duration look_again = std::chrono::seconds{2};  // at what an operator may mend

struct server_record {                 // the key that each server has beside the locks
  std::optional<std::int64_t> number;  // nothing: the record is gone
  duration gone_for{};                 // since a client first found that out
  duration max_ttl{};
  std::string begun_at;        // the run_id of the server when the record was begun
  bool is_unreadable = false;  // it is there, without a number that may be used
  std::string seen;            // changes whenever the record is lost or begun
};

struct server_state {
  std::string run_id;
  std::optional<std::chrono::seconds> uptime;  // nothing: it does not say
  bool keeps_log = false;                      // an append-only file: a restart loses no lock
  bool is_unused = false;  // since it was started, no lock of a Redlock was set or renewed there
  std::string eviction;    // why it may drop locks; empty: it keeps them
  std::string history_before;  // master_replid2; empty: it was no replica lately
  server_record record;
  time_point asked_at{}, answered_at{};

  // Its record was begun by another process. With an append-only file that may be an earlier one of
  // the same server. A server that was a replica has the record and the locks of its master.
  bool is_of_other_process() const noexcept {
    return !record.begun_at.empty() && record.begun_at != run_id;
  }
  bool was_replica() const noexcept { return is_of_other_process() && !history_before.empty(); }
  // One of both was a replica of the other: it, unless the record is of a process of neither.
  bool has_record_of(const server_state& other) const noexcept {
    return is_of_other_process() && run_id != other.run_id &&
           (record.begun_at == other.run_id || record.begun_at == other.record.begun_at);
  }
  // Its number is not to be relied on: it has none, or that of an earlier process, which may be an
  // old one without an append-only file.
  bool is_empty() const noexcept;
  duration empty_for() const noexcept;
  bool is_gone() const noexcept { return !record.number && !record.is_unreadable; }
  // Its votes for a grant that is under way are in no record any more. By then each such grant has
  // been made, and its number is at other servers, or its lease would have ended.
  bool may_begin_anew(duration max_ttl) const noexcept { return empty_for() >= max_ttl; }
};

struct fitness {
  std::string why_not;               // empty: it may vote
  duration again = duration::max();  // time to look again
  bool is_fit() const noexcept { return why_not.empty(); }
};

void read_info(std::string_view info, server_state&);
// INFO commandstats. It must have been asked for after the record, so that it covers all votes that
// the record may have lost.
void read_statistics(std::string_view info, server_state&);
fitness judge(const server_state&, duration max_ttl);

}  // namespace holdfast::redis::redlock
