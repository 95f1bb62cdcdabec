#include "tests/sim/redis/model/replication.hpp"

namespace holdfast::sim {

void replication::begin_reign(std::string new_id) {
  second_id = std::move(id);
  second_offset = offset + 1;
  id = std::move(new_id);
}

void replication::change_id(std::string new_id) {
  id = std::move(new_id);
  second_id = no_replication_id;
  second_offset = -1;
}

bool replication::is_prefix_of(const replication& other) const noexcept {
  if (id == other.id) return offset <= other.offset;
  return id == other.second_id && offset < other.second_offset;
}

void replication::continue_as_replica_of(const replication& other) {
  if (id != other.id) begin_reign(other.id);
  offset = other.offset;
}

void replication::copy_history_of(const replication& other) {
  change_id(other.id);
  offset = other.offset;
}

std::string replication::text(bool is_replica, std::chrono::microseconds now) const {
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  std::string out = "# Replication\r\n";
  if (is_replica) {
    out += "role:slave\r\nmaster_host:" + master.ip + "\r\nmaster_port:" + number(master.port) +
           "\r\nmaster_link_status:" + (is_linked ? "up" : "down") +
           "\r\nmaster_last_io_seconds_ago:" + (is_linked ? "0" : "-1") +
           "\r\nmaster_sync_in_progress:0\r\nslave_read_repl_offset:" + number(offset) +
           "\r\nslave_repl_offset:" + number(offset);
    if (!is_linked) out += "\r\nmaster_link_down_since_seconds:0";
    out += "\r\nslave_priority:100\r\nslave_read_only:1\r\nreplica_announced:1\r\n";
  } else {
    out += "role:master\r\n";
  }
  const auto silence = heard_at.count() == 0 ? heard_at : now - heard_at;
  const auto lag = std::chrono::floor<std::chrono::seconds>(silence);
  out += "connected_slaves:" + std::to_string(replicas.size()) + "\r\n";
  for (std::size_t i = 0; i < replicas.size(); ++i)
    out += "slave" + std::to_string(i) + ":ip=" + replicas[i].ip +
           ",port=" + number(replicas[i].port) + ",state=online,offset=" + number(offset) +
           ",lag=" + number(lag.count()) + "\r\n";
  return out + "master_failover_state:" + (is_failing_over ? "waiting-for-sync" : "no-failover") +
         "\r\nmaster_replid:" + id + "\r\nmaster_replid2:" + second_id +
         "\r\nmaster_repl_offset:" + number(offset) +
         "\r\nsecond_repl_offset:" + number(second_offset) +
         "\r\nrepl_backlog_active:" + (has_backlog ? "1" : "0") +
         "\r\nrepl_backlog_size:1048576\r\nrepl_backlog_first_byte_offset:" +
         (has_backlog ? "1" : "0") + "\r\nrepl_backlog_histlen:" + (has_backlog ? "1" : "0") +
         "\r\n";
}

}  // namespace holdfast::sim
