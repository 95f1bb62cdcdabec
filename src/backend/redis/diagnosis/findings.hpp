// The facts that a diagnosis has read from a server, and their meaning for locks. Pure.
#pragma once
#include <holdfast/finding.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/required_command.hpp"
#include "backend/redis/server_time.hpp"

namespace holdfast::redis {

struct fact {
  std::string text;     // what the server answered; empty also for nil
  std::string refusal;  // why it is not known; empty: it is
  bool is_known() const noexcept { return refusal.empty(); }
};

struct clock_sample {
  duration offset{};  // how far the server's clock is ahead of this machine's
  duration trip{};    // of the request: the offset is known to half of it
};

struct server_facts {
  std::string user;                   // of the server's ACL
  fact info;                          // INFO
  fact fsync, save, replicas_needed;  // CONFIG GET appendfsync, save, min-replicas-to-write
  std::string_view counter_key;       // empty: the layout has none for all locks
  bool counts_by_lock = false;        // but one for each
  bool counts_by_slot = false;        // or one for each slot of a cluster
  bool counts_by_server = false;      // or one at each server of a Redlock
  bool is_in_cluster = false;         // the URL is that of a cluster
  std::string channels;               // that it listens to
  fact counter;                       // its value
  fact pings, times;                  // known: all were answered
  std::vector<duration> trips;        // of PINGs
  std::optional<clock_sample> clock;  // of the quickest TIME
  duration op_timeout{};
  fact transactions;              // EXEC and MULTI are allowed
  bool has_transactions = false;  // the layout sends them
  std::vector<fact> rights;       // the answer to each of `required`; empty: they were not asked
  std::vector<required_command> required;
  server_time now{};  // of the server, when the counter was read
  fact keys;          // SCAN
  bool all_keys = false;
  std::vector<std::string> several_layouts;  // "NAME (LAYOUT, LAYOUT)"
};

finding grade_server(const server_facts&);
finding grade_eviction(const server_facts&);
finding grade_persistence(const server_facts&);
finding grade_replicas(const server_facts&);
finding grade_connections(const server_facts&);
std::vector<finding> grade_rights(const server_facts&);
finding grade_clock(const server_facts&);
finding grade_latency(const server_facts&);
finding grade_counter(const server_facts&);
finding grade_layouts(const server_facts&);

std::vector<finding> grade_all(const server_facts&);  // in this order

}  // namespace holdfast::redis
